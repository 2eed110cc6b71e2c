import { MEASURED, type NodesRow } from './nodes.ts'

const titles: Readonly<Record<string, string>> = {
  constant: 'constant',
  read: 'read one',
  'list-after-write': 'list 20 after writes',
  create: 'create, durable',
}

const heads = ['On', ...MEASURED.map((id) => titles[id] ?? id)]

function cells({ cluster, rates, cpu }: NodesRow): readonly string[] {
  return [
    cluster === 'embedded' ? 'embedded engine' : `PostgreSQL, ${cluster}`,
    ...MEASURED.map((id) => {
      const rate = Math.round(rates.get(id) ?? Number.NaN).toLocaleString('en-US')
      return `${rate} /s, ${Math.round(cpu.get(id) ?? Number.NaN)} µs`
    }),
  ]
}

/** For the terminal. */
export function nodesLines(rows: readonly NodesRow[]): string {
  return [heads, ...rows.map(cells)].map((line) => line.join(' | ')).join('\n')
}

/** The section of the report. */
export function nodesSection(
  rows: readonly NodesRow[],
  { date, commit }: { readonly date: string; readonly commit: string },
): string {
  const lines = [heads, heads.map(() => '---'), ...rows.map(cells)].map((line) => `| ${line.join(' | ')} |`)
  return `## Many nodes

Replies a second of all nodes together, and the nodes' processor time for one reply. \`npm run bench -- --only nodes\` measures
this alone.

${lines.join('\n')}

The nodes, PostgreSQL and the load generator share this machine's two cores: the table shows what a request costs on
PostgreSQL instead of the embedded engine and that nodes do not slow each other down, not how far a cluster scales.
PostgreSQL writes to disk at each commit. Medians of 3 rounds of 2 s, 32 requests in flight at all times. Measured on ${date},
commit ${commit}.
`
}
