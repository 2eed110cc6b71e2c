/**
 * Rows of a text with separated values (RFC 4180), as spreadsheets write them: quotes, doubled quotes, line ends of any kind,
 * a byte order mark, and a comma, semicolon or tab as separator, whichever the first row has most of. A quote within a cell
 * that does not begin with one is text. Reads in pieces and holds the rows of one; between them other work gets its turn.
 */
import { yieldToEventLoop } from '../../shared/cooperative.ts'

export interface CsvRow {
  /** The line it begins in, from 1, as an editor shows it. */
  readonly line: number
  readonly cells: readonly string[]
}

/** What is wrong with the text. The message finishes the sentence "The file …". */
export class CsvProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CsvProblem'
  }
}

/** Both included, from 1. */
export interface LineRange {
  readonly from: number
  readonly to: number
}

const MOST_CELLS = 500
const MOST_CHARACTERS = 1_000_000
/** Characters that are read in one turn of the event loop: 1 ms, and 3 ms where all of them are quotes. */
const PIECE = 16_384
const separators = [',', ';', '\t'] as const

interface Reader {
  readonly separator: string
  /** Finds the end of a cell that has no quotes. */
  readonly ends: RegExp
  /** The piece before ended with a carriage return: a line feed that follows belongs to it. */
  afterReturn: boolean
  cells: string[]
  cell: string
  /** plain: outside of quotes; quoted: inside; closed: behind a quote that may be the end or half of a doubled one. */
  state: 'plain' | 'quoted' | 'closed'
  line: number
  begun: number
  length: number
}

/**
 * Throws CsvProblem. Rows without anything in them are left out. `separator`: found out if not given, from line `from` to line
 * `to`; the first line `sep=;`, which Excel understands, says it too. `found`: is told which one it is. `isBeginning`: of a text, whose
 * last row may not be whole and is left out.
 */
export async function* csvRows(
  pieces: AsyncIterable<string> | Iterable<string>,
  separator?: string,
  found?: (separator: string) => void,
  { from, to, isBeginning }: LineRange & { readonly isBeginning?: boolean | undefined } = { from: 1, to: 1 },
): AsyncGenerator<CsvRow, void> {
  let reader: Reader | undefined
  // Until its first row is complete, which says what separates.
  let head = ''
  // Looked at when it is twice as long: at each piece, a row of a megabyte was read sixteen times.
  let next = 0
  for await (const piece of pieces) {
    let text = piece
    if (!reader) {
      head += piece
      if (head.length < next) continue
      next = Math.min(2 * head.length, MOST_CHARACTERS)
      if (!hasLines(head, to) && head.length < MOST_CHARACTERS) continue
      reader = readerFor(head, separator, { from, to })
      found?.(reader.separator)
      text = withoutHint(head)
    }
    for (let at = 0; at < text.length; at += PIECE) {
      if (at > 0) await yieldToEventLoop()
      yield* read(reader, text.slice(at, at + PIECE))
    }
  }
  if (!reader) {
    reader = readerFor(head, separator, { from, to })
    found?.(reader.separator)
    yield* read(reader, withoutHint(head))
  }
  if (isBeginning) return
  if (reader.state === 'quoted')
    throw new CsvProblem(`has a quote in line ${reader.begun} that is never closed`)
  const last = endRow(reader)
  if (last) yield last
}

function withoutMark(head: string): string {
  return head.startsWith('\ufeff') ? head.slice(1) : head
}

const HINT = /^"?sep=([,;|\t:])"?(?:\r\n|\r|\n|$)/i

/** Without the hint of the separator: its line counts, as an editor shows it. */
function withoutHint(head: string): string {
  const text = withoutMark(head)
  const hint = HINT.exec(text)
  return hint ? `\n${text.slice(hint[0].length)}` : text
}

/** The beginning of the text without what is in quotes, to its end if the last of them is not closed. */
function unquoted(text: string): string {
  return withoutMark(text.slice(0, MOST_CHARACTERS)).replace(/(^|[,;\t\r\n])"(?:[^"]|"")*(?:"|$)/g, '$1')
}

const LINE_END = /\r\n|\r|\n/

function hasLines(head: string, count: number): boolean {
  return unquoted(head).split(LINE_END, count + 1).length > count
}

function readerFor(head: string, input: string | undefined, { from, to }: LineRange): Reader {
  const hint = HINT.exec(withoutMark(head))?.[1]
  const separator =
    input ??
    hint ??
    separatorIn(
      unquoted(head)
        .split(LINE_END, to)
        .slice(from - 1)
        .filter((line) => line.trim() !== ''),
    )
  return {
    separator,
    ends: new RegExp(`[${separator}\r\n]`, 'g'),
    afterReturn: false,
    cells: [],
    cell: '',
    state: 'plain',
    line: 1,
    begun: 1,
    length: 0,
  }
}

/** The one that half of the lines have most of. */
function separatorIn(lines: readonly string[]): string {
  const counts = separators.map((one) => {
    const each = lines.map((line) => line.split(one).length).toSorted((a, b) => a - b)
    return each[Math.floor(each.length / 2)] ?? 1
  })
  return separators[counts.indexOf(Math.max(...counts))] ?? ','
}

/** Not a generator: those run unoptimized until they end, ten times slower on a text of one piece. */
function read(reader: Reader, text: string): CsvRow[] {
  const rows: CsvRow[] = []
  let at = 0
  if (reader.afterReturn && text.startsWith('\n')) {
    if (reader.state === 'quoted') add(reader, '\n')
    at = 1
  }
  if (text !== '') reader.afterReturn = text.endsWith('\r')
  while (at < text.length)
    at = reader.state === 'quoted' ? readQuoted(reader, text, at) : readPlain(reader, text, at, rows)
  return rows
}

/** Up to the next quote. Gives where to go on. */
function readQuoted(reader: Reader, text: string, at: number): number {
  const quote = text.indexOf('"', at)
  const part = text.slice(at, quote < 0 ? text.length : quote)
  if (part !== '') {
    add(reader, part)
    for (const _end of part.matchAll(/\r\n|\r|\n/g)) reader.line += 1
  }
  if (quote < 0) return text.length
  reader.state = 'closed'
  return quote + 1
}

/** A quote, or up to the end of the cell. Gives where to go on. */
function readPlain(reader: Reader, text: string, at: number, rows: CsvRow[]): number {
  if (text[at] === '"' && (reader.state === 'closed' || reader.cell === '')) {
    if (reader.state === 'closed') add(reader, '"')
    reader.state = 'quoted'
    return at + 1
  }
  reader.ends.lastIndex = at
  const found = reader.ends.exec(text)
  const end = found?.index ?? text.length
  if (end > at) {
    if (reader.state === 'closed')
      throw new CsvProblem(`has text behind a closing quote in line ${reader.line}`)
    add(reader, text.slice(at, end))
  }
  if (!found) return end
  if (found[0] === reader.separator) {
    endCell(reader)
    return end + 1
  }
  const row = endRow(reader)
  if (row) rows.push(row)
  reader.line += 1
  reader.begun = reader.line
  return found[0] === '\r' && text[end + 1] === '\n' ? end + 2 : end + 1
}

function add(reader: Reader, part: string): void {
  reader.cell += part
  reader.length += part.length
  if (reader.length > MOST_CHARACTERS)
    throw new CsvProblem(`has a row of more than a million characters, which begins in line ${reader.begun}`)
}

function endCell(reader: Reader): void {
  reader.cells.push(reader.cell)
  reader.cell = ''
  reader.state = 'plain'
  if (reader.cells.length > MOST_CELLS)
    throw new CsvProblem(`has more than ${MOST_CELLS} columns in line ${reader.begun}`)
}

function endRow(reader: Reader): CsvRow | undefined {
  endCell(reader)
  const { cells, begun } = reader
  reader.cells = []
  reader.length = 0
  return cells.every((cell) => cell.trim() === '') ? undefined : { line: begun, cells }
}
