import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { defineFlow, PinError } from '../block.ts'
import type { PageVisit } from '../page-visit.ts'
import { CsvProblem, csvRows } from './csv-rows.ts'

const MOST_BYTES = 32 * 1024 * 1024
const named: Readonly<Record<string, string>> = { comma: ',', semicolon: ';', tab: '\t' }
/** They would reach into the prototype of whatever object they are put in. */
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype'])

export default defineFlow({
  identifier: 'function_file_rows',
  title: 'Rows of a file',
  summary:
    'Reads a CSV file that was submitted with a form of the page, or CSV text. Each row becomes an object with the names of the first line.',
  in: {
    file: {
      type: 'file',
      help: 'The file: the value of an input of type file.',
    },
    text: { type: 'value', help: 'CSV text instead of a file.' },
    separator: {
      type: 'value',
      default: 'auto',
      choices: ['auto', 'comma', 'semicolon', 'tab'],
      help: 'Separator of cells. Auto: the most frequent one in the first line.',
    },
    as_fields: {
      type: 'condition',
      default: true,
      help: 'Whether names are converted to field names, in lower case with _ between words: "Customer since" becomes customer_since.',
    },
    limit: {
      type: 'number',
      default: 5_000,
      min: 1,
      max: 50_000,
      integer: true,
      help: 'Maximum number of rows. A file with more is refused.',
    },
  },
  out: {
    rows: {
      type: 'array',
      help: 'An object for each row, with text values. Empty cells are omitted, so that the defaults of fields apply.',
    },
    columns: { type: 'array', help: 'The names in the first line, in order.' },
    count: { type: 'number', help: 'Number of rows.' },
    lines: {
      type: 'array',
      help: 'The line of the text that each row begins in, from 1, for error messages.',
    },
  },
  settings: {},
  async run({ file, text, separator, as_fields, limit }, { request, signal }) {
    const pin = file === undefined ? 'text' : 'file'
    const pieces = file === undefined ? [text ?? ''] : decoded(sentFile(file, request?.visit))
    try {
      let columns: readonly string[] | undefined
      const rows: JsonObject[] = []
      const lines: number[] = []
      for await (const { line, cells } of csvRows(pieces, named[separator])) {
        signal.throwIfAborted()
        if (columns === undefined) {
          columns = namesIn(cells, as_fields)
          continue
        }
        if (rows.length === limit) throw new CsvProblem(`has more than ${limit} rows`)
        rows.push(rowOf(columns, cells, line))
        lines.push(line)
      }
      return { rows, columns: columns ?? [], count: rows.length, lines }
    } catch (error) {
      // Not a fault of the blueprint: the client that sent the file gets the message.
      if (error instanceof CsvProblem) throw new QuoinError('INVALID_BODY', `The ${pin} ${error.message}.`)
      throw error
    }
  },
})

function sentFile({ guid }: JsonObject, visit: PageVisit | undefined): AsyncIterable<Uint8Array> {
  const bytes = typeof guid === 'string' ? visit?.readFile?.(guid) : undefined
  if (bytes === undefined) throw new PinError('file', 'is not a file submitted with a form of this page')
  return bytes
}

async function* decoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let length = 0
  const decode = (piece?: Uint8Array) => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined })
    } catch {
      throw new CsvProblem('is not UTF-8 text: save it as "CSV UTF-8"')
    }
  }
  for await (const piece of bytes) {
    length += piece.length
    if (length > MOST_BYTES) throw new CsvProblem('is larger than 32 MB')
    yield decode(piece)
  }
  yield decode()
}

function namesIn(cells: readonly string[], asFields: boolean): readonly string[] {
  const names = cells.map((cell) => (asFields ? fieldName(cell) : cell.trim()))
  while (names.at(-1) === '') names.pop()
  for (const [index, name] of names.entries()) {
    if (name === '') throw new CsvProblem(`has no name for its column ${index + 1} in the first line`)
    if (FORBIDDEN.has(name)) throw new CsvProblem(`has a column with the invalid name ${name}`)
    if (names.indexOf(name) < index) throw new CsvProblem(`has two columns named ${name}`)
  }
  return names
}

function fieldName(cell: string): string {
  return cell
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_.]+/gu, '_')
    .replace(/^_+|_+$/g, '')
}

function rowOf(columns: readonly string[], cells: readonly string[], line: number): JsonObject {
  if (cells.slice(columns.length).some((cell) => cell.trim() !== ''))
    throw new CsvProblem(`has more cells in line ${line} than names in the first line`)
  const row: Record<string, JsonValue> = {}
  for (const [index, name] of columns.entries()) {
    const value = unmarked(cells[index]?.trim() ?? '')
    if (value !== '') row[name] = value
  }
  return row
}

/** Without the mark that the CSV of a table has in front of what a spreadsheet would take for a formula. */
function unmarked(cell: string): string {
  return /^'[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell
}
