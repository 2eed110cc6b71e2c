/** The rows of a table as a list of objects, for blocks that need all at once. */
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { CsvProblem } from './csv-rows.ts'
import { columnNames, namedRow } from './named-row.ts'
import type { SheetRow } from './xlsx-rows.ts'

export interface CsvTable {
  /** By the names of the first line. Empty cells are left out. */
  readonly rows: readonly JsonObject[]
  readonly columns: readonly string[]
  /** The line that each row begins in, from 1. */
  readonly lines: readonly number[]
}

interface Reading {
  /** Whether names become field names. */
  readonly asFields: boolean
  /** Most rows. */
  readonly limit: number
  /** The in-pin, for messages. */
  readonly pin: string
  readonly signal: AbortSignal
}

/** Throws INVALID_BODY for what is no table, and for too many rows: not a fault of the blueprint, the client that sent it gets the message. */
export async function csvTable(
  table: AsyncIterable<SheetRow>,
  { asFields, limit, pin, signal }: Reading,
): Promise<CsvTable> {
  try {
    let columns: readonly string[] | undefined
    const rows: JsonObject[] = []
    const lines: number[] = []
    for await (const { line, cells } of table) {
      signal.throwIfAborted()
      if (columns === undefined) {
        columns = columnNames(cells.map(String), asFields)
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
