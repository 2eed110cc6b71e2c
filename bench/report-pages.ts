import type { Latencies } from './latencies.ts'
import { DOCUMENTS, type MeasuredPages } from './pages/pages.ts'

const HEADING = '## Pages'
/** Bytes of style and script together, compressed. */
const MOST_BYTES = 30 * 1024
const heads = ['Page', 'first byte p50/p99', 'whole page p50/p99', 'page']

/** The section of the report. */
export function pagesSection(
  { times, words, weight, browser }: MeasuredPages,
  { date, commit }: { readonly date: string; readonly commit: string },
): string {
  const lines = times.map(({ title, firstByte, whole, bytes }) => [
    title,
    shares(firstByte),
    shares(whole),
    kilobytes(bytes),
  ])
  const { files, compressed, gzip, plain } = weight
  const met = compressed < MOST_BYTES ? 'met' : '**missed**'
  return `${HEADING}

A page with a table of 50 rows over ${DOCUMENTS.toLocaleString('en-US')} documents with 30 words each, drawn on the server: from the request to the head
of the reply, and to its end. \`npm run bench -- --only pages\` measures this alone.

${table([heads, ...lines])}

One request at a time, each after a write to the same storage, so that no reply and no total is cached.
Each page has the exact total of rows. Frequent words are in half of the documents and more, rare ones in a
handful. The words of the columns are kept in memory: the first search after a start took
${Math.round(words.first)} ms, and ${(words.ready / 1000).toFixed(1)} s later all of them were read; the server kept answering meanwhile.

**Over the wire**, style and script together (${files} files): ${kilobytes(compressed)} with brotli, ${kilobytes(gzip)} with gzip (${kilobytes(plain)} as they are
written); goal: under ${kilobytes(MOST_BYTES)}, ${met}.

${typeof browser === 'string' ? `**Until usable**: not measured. ${browser}` : inBrowser(browser)}

Measured on ${date}, commit ${commit}.
`
}

function inBrowser({ version, first, again, sorted }: Exclude<MeasuredPages['browser'], string>): string {
  const cells = ({ firstByte, painted, parsed, live }: typeof first) =>
    [firstByte, painted, parsed, live].map((time) => `${Math.round(time)} ms`)
  return `**Until usable**, in Chromium ${version} on the cores of the load generator: milliseconds from the beginning of the
navigation, sorted by an indexed field.

${table([
  ['Visit', 'first byte', 'first paint', 'page parsed', 'table live'],
  ['first, nothing cached', ...cells(first)],
  ['again', ...cells(again)],
])}

Links and forms work as soon as they are seen; live means that a click changes the table only. Sorting by a click on a
column's head then takes ${Math.round(sorted)} ms until the rows are in their new order. Medians of 7 visits.`
}

function shares(latencies: Latencies): string {
  return `${latencies.within(0.5).toFixed(1)} / ${latencies.within(0.99).toFixed(1)} ms`
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`
}

function table(lines: readonly (readonly string[])[]): string {
  const [head = [], ...rest] = lines
  return [head, head.map(() => '---'), ...rest].map((line) => `| ${line.join(' | ')} |`).join('\n')
}
