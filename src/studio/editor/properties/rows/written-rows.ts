/** Between the list that a blueprint holds and the rows that are edited. What no part is for stays as it is. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../shared/json.ts'
import type { RowParts } from '../../../../shared/rows/row-part.ts'

/** A longer list is edited as JSON: each row is a form of its own. */
export const MOST_ROWS = 200

/** Key of the part that says what a row is about, and whether it may be written alone. */
export function mainPart(parts: RowParts): { readonly key: string; readonly alone: boolean } {
  const [[key, { kind }] = ['', { kind: 'text' }]] = Object.entries(parts)
  return { key, alone: kind === 'name' || kind === 'field' }
}

/** Undefined for what rows cannot show: no list, a list that is too long, or with something other than objects. */
export function readRows(value: JsonValue | undefined, parts: RowParts): readonly JsonObject[] | undefined {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || value.length > MOST_ROWS) return undefined
  const { key, alone } = mainPart(parts)
  const rows: JsonObject[] = []
  for (const one of value) {
    if (isJsonObject(one)) rows.push(one)
    else if (alone && typeof one === 'string') rows.push({ [key]: one })
    else return undefined
  }
  return rows
}

/** Undefined for no rows. A row of nothing but its main part is written as text where that is allowed. */
export function writeRows(rows: readonly JsonObject[], parts: RowParts): JsonValue | undefined {
  if (rows.length === 0) return undefined
  const { key, alone } = mainPart(parts)
  return rows.map((row) => {
    const main = row[key]
    return alone && typeof main === 'string' && Object.keys(row).length === 1 ? main : row
  })
}

/** A row with a part set, or without it: undefined, an empty text and false are left out. */
export function withPart(row: JsonObject, key: string, value: JsonValue | undefined): JsonObject {
  const { [key]: _before, ...rest } = row
  if (value === undefined || value === '' || value === false) return rest
  // A part that was there keeps its place, so that a change shows as one.
  return key in row
    ? Object.fromEntries(Object.entries(row).map(([name, old]) => [name, name === key ? value : old]))
    : { ...row, [key]: value }
}

/** The rows with one of them moved up (-1) or down (1); as they were at an end. */
export function movedRow(rows: readonly JsonObject[], at: number, by: -1 | 1): readonly JsonObject[] {
  const [one, other] = [rows[at], rows[at + by]]
  if (!one || !other) return rows
  return rows.with(at, other).with(at + by, one)
}
