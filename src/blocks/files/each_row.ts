import { Readable } from 'node:stream'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { isFileStoreUnavailable } from '../../storage/file-store-unavailable.ts'
import { assetNamed, assetRecord } from '../asset-record.ts'
import { defineFlow } from '../block.ts'
import type { RunFiles } from '../block-services.ts'
import { type Attempts, attemptPins, attemptsIn, mayTryAgain } from '../outside-attempts.ts'
import { CsvProblem, csvRows } from '../rows/csv-rows.ts'
import { columnNames, namedRow } from '../rows/csv-table.ts'
import { csvSeparators, decodedText } from '../rows/table-text.ts'
import { ZIP } from '../rows/xlsx-parts.ts'
import { type SheetRow, xlsxRows } from '../rows/xlsx-rows.ts'

/** As large as an asset may be. */
const MOST_BYTES = 500 * 1024 * 1024

export default defineFlow({
  identifier: 'each_row',
  title: 'For each row',
  words: 'For each row of {file}',
  summary:
    'Reads a table of any size from a CSV or XLSX file (an asset) and runs the flow at each once for each row, one after the other. Each row is an object with the names of the first line. A failure names the row and ends the loop.',
  effects: { calls: 'external' },
  deployScopes: ['assets_view'],
  body: 'each',
  in: {
    file: {
      type: 'any',
      required: true,
      help: 'The file: its guid, its name (the newest of that name), or the value of a field of the type file.',
    },
    separator: {
      type: 'value',
      default: 'auto',
      choices: ['auto', 'comma', 'semicolon', 'tab'],
      help: 'Separator of the cells of CSV. Auto: the most frequent one in the first line.',
    },
    as_fields: {
      type: 'condition',
      default: true,
      help: 'Whether names are converted to field names, in lower case with _ between words: "Customer since" becomes customer_since.',
    },
    ...attemptPins,
  },
  out: {
    each: {
      type: 'flow',
      help: 'Runs for each row. A "Return" in it ends the loop and the flow. The time limit of the run bounds the loop.',
    },
    item: {
      type: 'object',
      help: 'The current row, for the flow at each. Values of CSV are texts; XLSX also gives numbers and conditions. Empty cells are omitted.',
    },
    line: { type: 'number', help: 'Line of the file that the row begins in, from 1, for the flow at each.' },
    count: { type: 'number', help: 'Number of rows, after all.' },
  },
  settings: {},
  async run(inputs, context) {
    const { file, separator, as_fields } = inputs
    const { session, signal } = context
    const { files } = context.services
    const record = await assetRecord('file', assetNamed('file', file), session)
    const attempts = attemptsIn(inputs, context)
    const bytes = openBytes(attempts, files, record)
    let columns: readonly string[] | undefined
    let count = 0
    try {
      const rows = await rowsIn(bytes, Number(record.size), csvSeparators[separator])
      for await (const { line, cells } of inBatches(rows, () => context.commit())) {
        signal.throwIfAborted()
        if (columns === undefined) {
          columns = columnNames(cells.map(String), as_fields)
          continue
        }
        if (!(await context.runBody('each', count, { item: namedRow(columns, cells, line), line })))
          return { next: null }
        count += 1
      }
    } catch (error) {
      // Not a fault of the blueprint: the client that sent the file gets the message.
      if (error instanceof CsvProblem) throw new QuoinError('INVALID_BODY', `The file ${error.message}.`)
      throw error
    }
    return { count }
  },
})

/** Rows that are read before the flow runs for the first of them, and characters of their texts. */
const BATCH = 1_000
const BATCH_CHARACTERS = 1024 * 1024

/** `commit`: what the flow wrote for a batch is not left open while the file is waited for, which may be in a slow bucket. */
async function* inBatches(
  rows: AsyncIterable<SheetRow>,
  commit: () => MaybePromise<void>,
): AsyncGenerator<SheetRow> {
  let [batch, characters]: [SheetRow[], number] = [[], 0]
  for await (const row of rows) {
    batch.push(row)
    for (const cell of row.cells) characters += typeof cell === 'string' ? cell.length : 0
    if (batch.length < BATCH && characters < BATCH_CHARACTERS) continue
    yield* batch
    await commit()
    batch = []
    characters = 0
  }
  yield* batch
}

type Bytes = (start: number, end: number) => AsyncIterable<Buffer>

function openBytes(attempts: Attempts, files: RunFiles, record: JsonObject): Bytes {
  const read: Bytes = (start, end) => files.read(record, { start, end })
  return (start, end) => readWithAttempts(attempts, { start, end }, read)
}

async function rowsIn(
  bytes: Bytes,
  size: number,
  separator: string | undefined,
): Promise<AsyncIterable<SheetRow>> {
  const head = size < ZIP.length ? [] : await Array.fromAsync(bytes(0, ZIP.length - 1))
  if (Buffer.concat(head).equals(ZIP))
    return xlsxRows({ size, read: (start, end) => Readable.from(bytes(start, end), { objectMode: false }) })
  return csvRows(decodedText(bytes(0, size - 1), MOST_BYTES), separator)
}

/**
 * The bytes of a file from `start` to `end`, both included. Where the store fails in between, the next attempt continues after the last
 * byte that came, so no byte is given twice. The attempts count for the whole file.
 */
async function* readWithAttempts(
  attempts: Attempts,
  { start, end }: { readonly start: number; readonly end: number },
  read: (start: number, end: number) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  let next = start
  for (let done = 1; next <= end; done += 1) {
    try {
      for await (const piece of read(next, end)) {
        next += piece.length
        yield piece
      }
      return
    } catch (error) {
      if (!isFileStoreUnavailable(error) || !(await mayTryAgain(attempts, done))) throw error
    }
  }
}
