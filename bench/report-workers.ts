import { rows } from './rows.ts'
import type { WorkersRow } from './workers.ts'

const heads = ['Work', '1 process', '2 processes', 'ratio']

/** The section of the report. */
export function workersSection(
  measured: readonly WorkersRow[],
  { date, commit }: { readonly date: string; readonly commit: string },
): string {
  const [one, two] = measured
  const cell = (side: WorkersRow | undefined, id: string) =>
    `${Math.round(side?.rates.get(id) ?? Number.NaN).toLocaleString('en-US')} /s, ${Math.round(side?.cpu.get(id) ?? Number.NaN)} µs`
  const lines = rows.map(({ id, title }) => {
    const ratio = (two?.rates.get(id) ?? Number.NaN) / (one?.rates.get(id) ?? Number.NaN)
    return [title, cell(one, id), cell(two, id), ratio.toFixed(2)]
  })
  const table = [heads, heads.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`)
  return `## Processes

\`QUOIN_WORKERS=2\` against one process on the embedded engine: replies a second, and the processor time of all processes
for one reply. \`npm run bench -- --only workers\` measures this alone.

${table.join('\n')}

The load shares this machine's cores with the servers, so on two of them a second process cannot double the rate.
Measured on ${date}, commit ${commit}.
`
}
