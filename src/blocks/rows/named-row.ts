import { plainCell } from '../../shared/csv-cell.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { CsvProblem } from './csv-rows.ts'

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
