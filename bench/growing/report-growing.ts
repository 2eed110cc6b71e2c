import type { DocumentsPoint, measureGrowing, NodesPoint } from './growing.ts'
import { straightLine } from './straight-line.ts'

type Growing = Awaited<ReturnType<typeof measureGrowing>>

interface Line {
  readonly title: string
  readonly points: readonly (readonly [number, number])[]
  readonly shown: (value: number) => string
}

/** Of docs/growing.md. */
const GROWING_HEADING = '## What 10, 100 and 1,000 nodes and 200 million documents cost'

const MORE_NODES = [10, 100, 1_000]
const MORE_DOCUMENTS = [1_000_000, 20_000_000, 200_000_000]

const number = (value: number, digits = 0) =>
  value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits })
const cores = (microseconds: number) => `${number(microseconds / 1e6, microseconds < 1e5 ? 3 : 1)} cores`
const milliseconds = (value: number) => `${number(value, 1)} ms`
const bytes = (value: number) => (value < 1e9 ? `${number(value / 1e6)} MB` : `${number(value / 1e9, 1)} GB`)

function nodeLines(points: readonly NodesPoint[]): Line[] {
  const of = (value: (point: NodesPoint) => number) =>
    points.map((point) => [point.nodes, value(point)] as const)
  return [
    { title: 'PostgreSQL while nothing is asked', points: of(({ idle }) => idle), shown: cores },
    { title: 'connections', points: of(({ connections }) => connections), shown: (value) => number(value) },
    { title: 'a deploy, until it is answered', points: of((point) => point.deploy), shown: milliseconds },
    {
      title: 'a deploy, processor time of PostgreSQL',
      points: of((point) => point.deployDatabase / 1_000),
      shown: milliseconds,
    },
  ]
}

function documentLines(points: readonly DocumentsPoint[]): Line[] {
  const of = (value: (point: DocumentsPoint) => number) =>
    points.map((point) => [point.documents, value(point)] as const)
  return [{ title: 'table and indexes', points: of((point) => point.bytes), shown: bytes }]
}

function table(unit: string, lines: readonly Line[], more: readonly number[]): string {
  const sizes = lines[0]?.points.map(([size]) => size) ?? []
  const [low, middle, high] = sizes
  const head = [
    '',
    ...sizes.map((size) => `${number(size)} ${size === 1 ? unit.slice(0, -1) : unit}`),
    `line from ${number(low ?? 0)} to ${number(high ?? 0)}, off at ${number(middle ?? 0)}`,
    ...more.map((size) => `${number(size)} by the line`),
  ]
  const rows = lines.map(({ title, points, shown }) => {
    const { at, off } = straightLine(points)
    const found = points.map(([, value]) => shown(value))
    return [title, ...found, `${number(off * 100)} %`, ...more.map((size) => shown(at(size)))]
  })
  return tableOf([head, ...rows])
}

/** The tables of docs/growing.md: what the lines say, with the words and figures of the report. */
export function growingTables({ nodes, documents }: Growing): string {
  return [
    shortTable('nodes', nodeLines(nodes), MORE_NODES),
    shortTable('documents', documentLines(documents), MORE_DOCUMENTS),
  ].join('\n\n')
}

function shortTable(unit: string, lines: readonly Line[], more: readonly number[]): string {
  const head = ['', ...more.map((size) => `${number(size)} ${unit}`), 'the line is off by']
  const rows = lines.map(({ title, points, shown }) => {
    const { at, off } = straightLine(points)
    return [title, ...more.map((size) => shown(at(size))), `${number(off * 100)} %`]
  })
  return tableOf([head, ...rows])
}

function tableOf([head = [], ...rows]: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** The page with these tables in place of those of its section about them. */
export function withGrowingTables(page: string, tables: string): string {
  const start = page.indexOf(`\n${GROWING_HEADING}\n`)
  const end = page.indexOf('\n## ', start + 1)
  const section = page.slice(start, end)
  const first = section.indexOf('\n|') + 1
  const last = section.indexOf('\n', section.lastIndexOf('\n|') + 1)
  if (start < 0 || end < 0 || first === 0)
    throw new Error('docs/growing.md has no tables of what nodes and documents cost.')
  return page.slice(0, start) + section.slice(0, first) + tables + section.slice(last) + page.slice(end)
}

/** The section of the report. */
export function growingSection(
  { nodes, documents }: Growing,
  { date, commit }: { readonly date: string; readonly commit: string },
): string {
  const per = documents
    .map(
      (point) =>
        `${number(point.documents)}: ${number(point.read)} µs for a read by guid, ${number(point.create)} µs for a create`,
    )
    .join('; ')
  return `## What nodes and documents cost PostgreSQL

Figures of 1, 3 and 6 nodes and of three sizes of a storage, and what a straight line through the first and the last says of more. The
size between checks the line. \`npm run bench -- --only growing\` measures this alone; [growing.md](growing.md) says what follows.

${table('nodes', nodeLines(nodes), MORE_NODES)}

${table('documents', documentLines(documents), MORE_DOCUMENTS)}

Processor time of PostgreSQL for one request, with so many documents: ${per}.

Nodes, PostgreSQL and the load share this machine's two cores, so how long a deploy takes grows with the nodes more than it would where
each has its own. Tasks of about 480 bytes with one index by status. Measured on ${date}, commit ${commit}.
`
}
