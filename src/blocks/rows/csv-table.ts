/** A CSV text or file as a list of objects, for blocks that need all rows at once. */
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { CsvProblem, csvRows } from './csv-rows.ts'
import { columnNames, namedRow } from './named-row.ts'

export interface CsvTable {
  /** By the names of the first line. Empty cells are left out. */
  readonly rows: readonly JsonObject[]
  readonly columns: readonly string[]
  /** The line that each row begins in, from 1. */
  readonly lines: readonly number[]
}

interface Reading {
  /** Found out from the first line if not given. */
  readonly separator?: string | undefined
  /** Whether names become field names. */
  readonly asFields: boolean
  /** Most rows. */
  readonly limit: number
  /** The in-pin, for messages. */
  readonly pin: string
  readonly signal: AbortSignal
}

/** Throws INVALID_BODY for what is no CSV, and for too many rows: not a fault of the blueprint, the client that sent it gets the message. */
export async function csvTable(
  pieces: Iterable<string> | AsyncIterable<string>,
  { separator, asFields, limit, pin, signal }: Reading,
): Promise<CsvTable> {
  try {
    let columns: readonly string[] | undefined
    const rows: JsonObject[] = []
    const lines: number[] = []
    for await (const { line, cells } of csvRows(pieces, separator)) {
      signal.throwIfAborted()
      if (columns === undefined) {
        columns = columnNames(cells, asFields)
        continue
      }
      if (rows.length === limit) throw new CsvProblem(`has more than ${limit} rows`)
      rows.push(namedRow(columns, cells, line))
      lines.push(line)
    }
    return { rows, columns: columns ?? [], lines }
  } catch (error) {
    if (error instanceof CsvProblem) throw new QuoinError('INVALID_BODY', `The ${pin} ${error.message}.`)
    throw error
  }
}
