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
    'Reads a CSV file, as spreadsheets save it, that was sent with a form of the page, or a text of that kind. Each row becomes an object with the names in the first line.',
  in: {
    file: {
      type: 'file',
      help: 'The file, as the form of the page gives it: the value of an input of the type file.',
    },
    text: { type: 'value', help: 'Instead of a file: the text itself.' },
    separator: {
      type: 'value',
      default: 'auto',
      choices: ['auto', 'comma', 'semicolon', 'tab'],
      help: 'What stands between two cells. Auto: whichever the first line has most of.',
    },
    as_fields: {
      type: 'condition',
      default: true,
      help: 'Whether the names become names of fields, in small letters with _ between words: "Customer since" is customer_since.',
    },
    limit: {
      type: 'number',
      default: 5_000,
      min: 1,
      max: 50_000,
      integer: true,
      help: 'Most rows. A file with more is refused as a whole.',
    },
  },
  out: {
    rows: {
      type: 'array',
      help: 'An object for each row, with texts. Empty cells are left out, so that a default of the field counts.',
    },
    columns: { type: 'array', help: 'The names in the first line, in order.' },
    count: { type: 'number', help: 'How many rows there are.' },
  },
  settings: {},
  async run({ file, text, separator, as_fields, limit }, { request, signal }) {
    const pin = file === undefined ? 'text' : 'file'
    const pieces = file === undefined ? [text ?? ''] : decoded(sentFile(file, request?.visit))
    try {
      let columns: readonly string[] | undefined
      const rows: JsonObject[] = []
      for await (const { line, cells } of csvRows(pieces, named[separator])) {
        signal.throwIfAborted()
        if (columns === undefined) {
          columns = namesIn(cells, as_fields)
          continue
        }
        if (rows.length === limit) throw new CsvProblem(`has more than ${limit} rows`)
        rows.push(rowOf(columns, cells, line))
      }
      return { rows, columns: columns ?? [], count: rows.length }
    } catch (error) {
      // Not a fault of the blueprint: whoever sent it is to read it.
      if (error instanceof CsvProblem) throw new QuoinError('INVALID_BODY', `The ${pin} ${error.message}.`)
      throw error
    }
  },
})

function sentFile({ guid }: JsonObject, visit: PageVisit | undefined): AsyncIterable<Uint8Array> {
  const bytes = typeof guid === 'string' ? visit?.readFile?.(guid) : undefined
  if (bytes === undefined) throw new PinError('file', 'is no file that was sent with a form of this page')
  return bytes
}

async function* decoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let length = 0
  const decode = (piece?: Uint8Array) => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined })
    } catch {
      throw new CsvProblem('is no text in UTF-8: save it as "CSV UTF-8"')
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
    if (FORBIDDEN.has(name)) throw new CsvProblem(`has a column that cannot be called ${name}`)
    if (names.indexOf(name) < index) throw new CsvProblem(`has two columns that are called ${name}`)
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
