import { Readable } from 'node:stream'
import type { JsonObject } from '../../shared/json.ts'
import { defineFlow, PinError } from '../block.ts'
import { CsvProblem, csvRows } from '../rows/csv-rows.ts'
import { csvTable } from '../rows/csv-table.ts'
import { csvSeparators, decodedText } from '../rows/table-text.ts'
import { type FileBytes, ZIP } from '../rows/xlsx-parts.ts'
import { type SheetRow, xlsxRows } from '../rows/xlsx-rows.ts'
import type { PageVisit } from '../run-request.ts'

const MOST_BYTES = 32 * 1024 * 1024

export default defineFlow({
  identifier: 'function_file_rows',
  title: 'Rows of a file',
  summary:
    'Reads a CSV or XLSX file that was submitted with a form of the page, or CSV text. Each row becomes an object with the names of the first line.',
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
      help: 'An object for each row. Values of CSV are texts; XLSX also gives numbers and conditions. Empty cells are omitted, so that the defaults of fields apply.',
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
    const table =
      file === undefined
        ? csvRows([text ?? ''], csvSeparators[separator])
        : rowsOfFile(sentFile(file, request?.visit), csvSeparators[separator])
    const { rows, columns, lines } = await csvTable(table, { asFields: as_fields, limit, pin, signal })
    return { rows, columns, count: rows.length, lines }
  },
})

function sentFile({ guid }: JsonObject, visit: PageVisit | undefined): AsyncIterable<Uint8Array> {
  const bytes = typeof guid === 'string' ? visit?.readFile?.(guid) : undefined
  if (bytes === undefined) throw new PinError('file', 'is not a file submitted with a form of this page')
  return bytes
}

/** A workbook is read from its end, so that its bytes are held: at most {@link MOST_BYTES}. */
async function* rowsOfFile(
  bytes: AsyncIterable<Uint8Array>,
  separator: string | undefined,
): AsyncGenerator<SheetRow, void> {
  const pieces = bytes[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < ZIP.length) {
    const { done, value } = await pieces.next()
    if (done) break
    head = Buffer.concat([head, value])
  }
  const whole = async function* () {
    yield head
    yield* { [Symbol.asyncIterator]: () => pieces }
  }
  if (head.subarray(0, ZIP.length).equals(ZIP)) yield* xlsxRows(await heldBytes(whole()))
  else yield* csvRows(decodedText(whole(), MOST_BYTES), separator)
}

async function heldBytes(pieces: AsyncIterable<Uint8Array>): Promise<FileBytes> {
  const held: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size > MOST_BYTES) throw new CsvProblem(`is larger than ${MOST_BYTES / 1024 / 1024} MB`)
    held.push(piece)
  }
  const bytes = Buffer.concat(held)
  return { size, read: (start, end) => Readable.from([bytes.subarray(start, end + 1)]) }
}
