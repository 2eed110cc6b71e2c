/** The rows of a table as a list of objects, for blocks that need all at once. */

import { plainCell } from '../../shared/csv-cell.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { CsvProblem } from './csv-rows.ts'
import type { SheetRow } from './xlsx-rows.ts'

/** They would reach into the prototype of whatever object they are put in. */
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype'])

/** The names of the first row. Throws CsvProblem for those that no object can have, and for two of one name. */
export function columnNames(cells: readonly string[], asFields: boolean): readonly string[] {
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
    .replace(/^_+|(?<!_)_+$/g, '')
}

/** A row as an object, without its empty cells. `line`: for messages. */
export function namedRow(
  columns: readonly string[],
  cells: readonly (string | number | boolean)[],
  line: number,
): JsonObject {
  if (cells.slice(columns.length).some((cell) => String(cell).trim() !== ''))
    throw new CsvProblem(`has more cells in line ${line} than names in the first line`)
  const row: Record<string, JsonValue> = {}
  for (const [index, name] of columns.entries()) {
    const cell = cells[index] ?? ''
    const value = typeof cell === 'string' ? plainCell(cell.trim()) : cell
    if (value !== '') row[name] = value
  }
  return row
}

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
