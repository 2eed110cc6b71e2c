/**
 * Rows of a text with separated values (RFC 4180), as spreadsheets write them: quotes, doubled quotes, line ends of any kind,
 * a byte order mark, and a comma, semicolon or tab as separator, whichever the first line has most of. Reads piece by piece
 * and holds one row at a time.
 */

export interface CsvRow {
  /** The line it begins in, from 1, as an editor shows it. */
  readonly line: number
  readonly cells: readonly string[]
}

/** What is wrong with the text. The message finishes the sentence "The file …". */
export class CsvProblem extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CsvProblem'
  }
}

const MOST_CELLS = 500
const MOST_CHARACTERS = 1_000_000
const separators = [',', ';', '\t'] as const

interface Reader {
  separator: string | undefined
  /** The character before was a carriage return: a line feed that follows belongs to it. */
  afterReturn: boolean
  cells: string[]
  cell: string
  /** plain: outside of quotes; quoted: inside; closed: behind a quote that may be the end or half of a doubled one. */
  state: 'plain' | 'quoted' | 'closed'
  line: number
  begun: number
  length: number
}

/** Throws CsvProblem. Rows without anything in them are left out. `separator`: found out if not given. */
export async function* csvRows(
  pieces: AsyncIterable<string> | Iterable<string>,
  separator?: string,
): AsyncGenerator<CsvRow, void> {
  const reader: Reader = {
    separator,
    afterReturn: false,
    cells: [],
    cell: '',
    state: 'plain',
    line: 1,
    begun: 1,
    length: 0,
  }
  // Until its first line is whole, which says what separates.
  let head: string | undefined = ''
  for await (const piece of pieces) {
    if (head === undefined) {
      yield* read(reader, piece)
      continue
    }
    head += piece
    if (!/[\r\n]/.test(head) && head.length < MOST_CHARACTERS) continue
    yield* read(reader, begin(reader, head))
    head = undefined
  }
  if (head !== undefined) yield* read(reader, begin(reader, head))
  if (reader.state === 'quoted')
    throw new CsvProblem(`has a quote in line ${reader.begun} that is never closed`)
  const last = endRow(reader)
  if (last) yield last
}

function begin(reader: Reader, head: string): string {
  const text = head.startsWith('\ufeff') ? head.slice(1) : head
  reader.separator ??= separatorIn(text.split(/[\r\n]/, 1)[0] ?? '')
  return text
}

/** Outside of quotes. */
function separatorIn(line: string): string {
  const open = line.replace(/"[^"]*"/g, '')
  const counts = separators.map((one) => open.split(one).length)
  return separators[counts.indexOf(Math.max(...counts))] ?? ','
}

function* read(reader: Reader, text: string): Generator<CsvRow, void> {
  for (const character of text) {
    const follows = reader.afterReturn && character === '\n'
    reader.afterReturn = character === '\r'
    if (follows) {
      if (reader.state === 'quoted') add(reader, character)
      continue
    }
    const isEnd = character === '\n' || character === '\r'
    if (isEnd) reader.line += 1
    if (reader.state === 'quoted') {
      if (character === '"') reader.state = 'closed'
      else add(reader, character)
    } else if (reader.state === 'closed' && character === '"') {
      add(reader, '"')
      reader.state = 'quoted'
    } else if (character === reader.separator) {
      endCell(reader)
    } else if (isEnd) {
      const row = endRow(reader)
      reader.begun = reader.line
      if (row) yield row
    } else if (reader.state === 'closed') {
      throw new CsvProblem(`has text behind a closing quote in line ${reader.line}`)
    } else if (character === '"' && reader.cell === '') {
      reader.state = 'quoted'
    } else add(reader, character)
  }
}

function add(reader: Reader, character: string): void {
  reader.cell += character
  reader.length += 1
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
