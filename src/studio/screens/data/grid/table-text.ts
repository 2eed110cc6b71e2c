/** Blocks of cells as spreadsheets put them on the clipboard: tabs between cells, quotes around cells with tabs or line ends. */

export function writeTable(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.map(quoted).join('\t')).join('\n')
}

function quoted(cell: string): string {
  return /[\t\r\n]/.test(cell) || cell.startsWith('"') ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** Reads what {@link writeTable} wrote, or a spreadsheet. A line end behind the last row begins no other one. */
export function readTable(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    const { cell, end } = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at)
    row.push(cell)
    const sign = text[end]
    at = sign === '\r' && text[end + 1] === '\n' ? end + 2 : end + 1
    if (sign === '\t' && at < text.length) continue
    if (sign === '\t') row.push('')
    rows.push(row)
    row = []
  }
  return rows
}

interface Cell {
  readonly cell: string
  /** Where the sign is that ends it. */
  readonly end: number
}

function plainCell(text: string, at: number): Cell {
  const length = text.slice(at).search(/[\t\r\n]/)
  const end = length < 0 ? text.length : at + length
  return { cell: text.slice(at, end), end }
}

/** A quote that nothing closes is text. */
function quotedCell(text: string, at: number): Cell {
  const [whole, inner = ''] = /^"((?:[^"]|"")*)"(?=[\t\r\n]|$)/.exec(text.slice(at)) ?? []
  if (whole === undefined) return plainCell(text, at)
  return { cell: inner.replaceAll('""', '"'), end: at + whole.length }
}
