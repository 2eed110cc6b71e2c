import { csvCell } from '../../shared/csv-cell.ts'
import { type FieldPath, fieldNameProblem, parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { othersTurn } from '../../shared/others-turn.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { PinError } from '../block.ts'
import { cellValue } from '../rows/cell-value.ts'

const MOST_ROWS = 10_000
const MOST_COLUMNS = 200
/** Rows that are written in one turn of the event loop. */
const ROWS_A_TURN = 500
/** Spreadsheets take the text for UTF-8 then. */
const BYTE_ORDER_MARK = '\ufeff'

/** A list of objects as CSV (RFC 4180), a header first. Throws PinError for `value` and `columns`. */
export function csvText(
  given: JsonValue | StoredJson,
  columns: readonly JsonValue[] | undefined,
): MaybePromise<string> {
  const rows = rowsOf(given instanceof StoredJson ? given.value : given)
  const names = columns === undefined || columns.length === 0 ? namesIn(rows) : columns.map(columnName)
  if (names.length > MOST_COLUMNS) throw new PinError('columns', `must be at most ${MOST_COLUMNS}`)
  const header = `${BYTE_ORDER_MARK}${names.map(csvCell).join(',')}\r\n`
  // A field of the objects is read as it is called; only a name that the builder gave leads into objects.
  const paths = names.map((name): FieldPath => (columns?.length ? parseFieldPath(name) : [name]))
  if (rows.length <= ROWS_A_TURN) return header + linesOf(rows, paths)
  return inTurns(header, rows, paths)
}

async function inTurns(
  header: string,
  rows: readonly JsonObject[],
  paths: readonly FieldPath[],
): Promise<string> {
  let text = header
  for (let at = 0; at < rows.length; at += ROWS_A_TURN) {
    text += linesOf(rows.slice(at, at + ROWS_A_TURN), paths)
    await othersTurn()
  }
  return text
}

function linesOf(rows: readonly JsonObject[], paths: readonly FieldPath[]): string {
  return rows
    .map((row) => `${paths.map((path) => csvCell(cellValue(valueAt(row, path)))).join(',')}\r\n`)
    .join('')
}

function rowsOf(value: JsonValue): readonly JsonObject[] {
  const rows = value === null ? [] : value
  if (!Array.isArray(rows)) throw new PinError('value', 'must be a list of objects')
  if (rows.length > MOST_ROWS) throw new PinError('value', 'must hold at most 10,000 rows')
  return rows.map((row, at) => {
    if (!isJsonObject(row)) throw new PinError('value', `must be a list of objects; item ${at} is none`)
    return row
  })
}

/** All fields, in the order in which they are found. */
function namesIn(rows: readonly JsonObject[]): string[] {
  const names = new Set<string>()
  for (const row of rows) for (const name in row) if (name !== '_meta') names.add(name)
  return [...names]
}

function columnName(name: JsonValue): string {
  const problem = typeof name === 'string' ? fieldNameProblem(name) : 'is no text'
  if (typeof name !== 'string' || problem !== undefined)
    throw new PinError('columns', `must be names of fields; ${JSON.stringify(name)} ${problem}`)
  return name
}
