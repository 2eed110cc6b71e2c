import type { Machine } from './machine.ts'
import type { PostgresRow } from './postgres.ts'
import { spread } from './report.ts'

const heads = ['PostgreSQL', 'Work', 'Quoin', 'hand-written', 'ratio (least–most)', 'goal', 'CPU a reply']

/** The section of the report. */
export function postgresSection(
  measured: readonly PostgresRow[],
  { date, commit, loadBefore }: Pick<Machine, 'date' | 'commit' | 'loadBefore'>,
): string {
  const table = [heads, heads.map(() => '---'), ...measured.map(cells)]
  return `## PostgreSQL

Quoin against the same endpoints written by hand with Fastify and node-postgres, on the same PostgreSQL with 10 connections each.
\`npm run bench -- --only postgres\` measures this alone.

${table.map((line) => `| ${line.join(' | ')} |`).join('\n')}

Near: on the same machine, where PostgreSQL runs on any core. 2 ms away: through a proxy that takes 1 ms in each direction.
The hand-written candidate sends one prepared statement for each request, an increment included, and keeps its token in memory.
Quoin sends a create in one round trip, and an increment in two, which it shares with others: it reads the document, then writes it if it is still the same.
The first two rows repeat the same requests with nothing written between them: the hand-written candidate has no cache. Before the
measurement both must give the same documents for the lists.
The control would be 1 but for chance: as far as it is off, the other ratios may be off too.
Uncached lists take 1.7 to 2.2 times the processor time of the hand-written candidate, and the goal of 1.3 is missed. The parts of a list of 20, in µs of Node's
processor time, in turns at a load average of 17 (medians of 5, 2026-11-29): the hand-written statement through node-postgres 72, Quoin's statement through the same
client 69, a search of Quoin's storage 127. Of the difference, 23 compile the statement; session, pool and pipeline are the rest. HTTP, flow and entity tag come on top,
as on the embedded engine. A profile names no own function with more than 2 %, and the texts of documents are not parsed on the way. Two changes were measured and not made.
Statements kept by the shape of a search save at most 23 µs. Without the exact form for values of unexpected types, which each statement carries, a list takes 133 in
place of 146 µs of PostgreSQL, and some 10 less of Node. Each is under 5 % of a list, which this benchmark cannot tell from chance.

Each reply is sent after the commit, which PostgreSQL writes to disk. The load average before the start was
${loadBefore.toFixed(1)}: above 2 the figures say little and the ratios something. Measured on ${date}, commit ${commit}.
`
}

function cells({ place, isControl, outcome }: PostgresRow): string[] {
  if ('reason' in outcome) return [place, outcome.row.title, 'void', outcome.reason, '', '', '']
  const { row, ours, theirs, ratio, cpuRatio } = outcome
  const rate = (value: number) => `${Math.round(value).toLocaleString('en-US')} /s`
  const goal = `≥ ${row.goal} ${ratio.median >= row.goal ? 'met' : 'missed'}`
  return [
    place,
    row.title,
    rate(ours.rate),
    rate(theirs.rate),
    spread(ratio),
    isControl ? '' : goal,
    `${Math.round(ours.cpu)} : ${Math.round(theirs.cpu)} µs = ${cpuRatio.median.toFixed(2)}`,
  ]
}
