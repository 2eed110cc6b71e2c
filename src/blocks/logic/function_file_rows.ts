import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { defineFlow, PinError } from '../block.ts'
import type { PageVisit } from '../page-visit.ts'
import { CsvProblem, csvRows } from '../rows/csv-rows.ts'
import { csvSeparators, decodedText } from '../rows/csv-text-of.ts'
import { columnNames, namedRow } from '../rows/named-row.ts'

const MOST_BYTES = 32 * 1024 * 1024

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
    const pieces = file === undefined ? [text ?? ''] : decodedText(sentFile(file, request?.visit), MOST_BYTES)
    try {
      let columns: readonly string[] | undefined
      const rows: JsonObject[] = []
      const lines: number[] = []
      for await (const { line, cells } of csvRows(pieces, csvSeparators[separator])) {
        signal.throwIfAborted()
        if (columns === undefined) {
          columns = columnNames(cells, as_fields)
          continue
        }
        if (rows.length === limit) throw new CsvProblem(`has more than ${limit} rows`)
        rows.push(namedRow(columns, cells, line))
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
