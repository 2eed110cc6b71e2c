import type { Machine } from '../machine.ts'
import type { Measured, Timing, Void } from '../measure.ts'
import { atLeast, measuredCells } from '../report.ts'
import { CONNECTIONS } from '../rows.ts'

const HEADING = '## With another load generator'
const heads = [
  'Work',
  'Quoin',
  'hand-written',
  'ratio (least–most)',
  'goal',
  'Quoin p50/p99',
  'hand-written p50/p99',
]

/** The section of the report. */
export function wrkSection(
  outcomes: readonly (Measured | Void)[],
  version: string,
  { rounds, seconds }: Timing,
  { date, commit }: Pick<Machine, 'date' | 'commit'>,
): string {
  const table = [heads, heads.map(() => '---'), ...outcomes.map(cells)]
  return `${HEADING}

Rows of the first table with [wrk](https://github.com/wg/wrk) ${version} instead of the load generator of this repository: one thread on the
same core, ${CONNECTIONS} connections, the same requests from a file. \`npm run bench -- --load wrk\` measures this alone.

${table.map((line) => `| ${line.join(' | ')} |`).join('\n')}

Medians of ${rounds} rounds of ${Math.ceil(seconds)} s, in turns. wrk counts the updates between the lists as replies too, on both sides. Measured on
${date}, commit ${commit}.
`
}

/** Where it is not installed, and the report has no figures of it. */
export const withoutWrk = `${HEADING}

Not measured: wrk is not installed on this machine (Debian: \`apt install wrk\`). \`npm run bench -- --load wrk\` measures this.
`

export function hasWrkSection(report: string): boolean {
  return report.includes(`${HEADING}\n`)
}

function cells(outcome: Measured | Void): readonly string[] {
  if (!('reason' in outcome)) return measuredCells(outcome)
  const { title, goal } = outcome.row
  return [title, 'void', 'void', outcome.reason, atLeast(goal), '', '']
}
