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
