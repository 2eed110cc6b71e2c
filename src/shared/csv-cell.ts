/** Behind apostrophes too, so that one that was there before is not taken for the mark. */
const NEEDS_MARK = /^'*[=+\-@\t\r]/
const MARKED = /^'+(?:[=+\-@\t\r]|\s*$)/

/**
 * What a cell of a table of texts says: without the mark of {@link csvCell}, and `="00123"`, which programs write so that Excel
 * keeps the zeros, as 00123.
 */
export function plainCell(cell: string): string {
  const [, formula] = /^="((?:[^"]|"")*)"$/.exec(cell) ?? []
  if (formula !== undefined) return formula.replaceAll('""', '"')
  return isMarked(cell) ? cell.slice(1) : cell
}

/** Whether a cell has a mark in front: it is text then, even if nothing or only spaces follow. */
export function isMarked(cell: string): boolean {
  return MARKED.test(cell)
}

/** A text for a table that Quoin reads again: one of spaces, or none, gets the mark, as an empty cell is nothing. */
export function markedText(text: string): string {
  return /^'*\s*$/.test(text) ? `'${text}` : text
}

/**
 * RFC 4180. Text that a spreadsheet would take for a formula gets a mark in front that makes it text: the author of
 * the document and the reader of the file may be different users.
 */
export function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const text = NEEDS_MARK.test(value) && !/^[+-]?\d+(?:\.\d+)?$/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
