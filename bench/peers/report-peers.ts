import type { Work } from './peer.ts'

/** Replies a second of those that can do it, by name. */
export type PeerRates = ReadonlyMap<Work, ReadonlyMap<string, number>>

const titles: Readonly<Record<Work, string>> = {
  constant: 'reply with a constant object',
  read: 'read one document',
  list: 'list 20 of 10,000, filtered and sorted, after a write',
  create: 'create, 32 at once, durable',
}

export function peersSection(
  rates: PeerRates,
  products: readonly string[],
  { date, commit }: { readonly date: string; readonly commit: string },
): string {
  const names = [...new Set([...rates.values()].flatMap((row) => [...row.keys()]))]
  const heads = ['Work', ...names]
  const rows = [...rates].map(([work, row]) => [titles[work], ...names.map((name) => cell(row, name))])
  const lines = [heads, heads.map(() => '---'), ...rows].map((line) => `| ${line.join(' | ')} |`)
  return `## Compared with alternatives

Replies a second, in turns on the same core under the same load; in brackets how many times as fast Quoin on the
embedded engine is. \`npm run bench:peers\` installs the alternatives into a temporary folder and measures this.

${lines.join('\n')}

- Compared with ${products.join(' and ')}, with default settings, in production mode.
- *Node-RED*: http in, function, http response; it has no document storage.
- *Parse Server*: its REST API on PostgreSQL, over a class of tasks with the index that the lists need. Its create is
  public, while Quoin looks up a token and validates. PostgreSQL writes to disk at each commit for both and runs on any free
  core, so both use more than their own core.
- Directus and Strapi were not measured: of the three, Parse Server installs without a build.

Measured on ${date}, commit ${commit}.
`
}

function cell(row: ReadonlyMap<string, number>, name: string): string {
  const rate = row.get(name)
  if (rate === undefined) return ''
  const times = (row.get('Quoin') ?? Number.NaN) / rate
  return `${Math.round(rate).toLocaleString('en-US')} /s${name === 'Quoin' ? '' : ` (${times.toFixed(1)} ×)`}`
}
