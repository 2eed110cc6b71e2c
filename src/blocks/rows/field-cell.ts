/** A value of a field as a cell of a table, so that an import into the same field reads the value again. */
import { isMarked, markedText, plainCell } from '../../shared/csv-cell.ts'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import { MOST_TEXT_ITEMS, valueOfText } from '../../shared/fields/value-of-text.ts'
import { isGuid } from '../../shared/guid.ts'
import { isJsonObject, type JsonObject, type JsonValue, sameJson } from '../../shared/json.ts'
import { cellValue } from './table-text.ts'
import { dayCell, instantCell } from './xlsx-dates.ts'
import type { Cell, DateCell } from './xlsx-file.ts'

type CellRule = Pick<FieldRule, 'type' | 'limits'>

export interface CellForm {
  /** A workbook: dates are dates there, and no text is a formula. */
  readonly isSheet: boolean
  /** A text of spaces or none, and a list without items, is kept apart from nothing: a mark or brackets in the cell. */
  readonly keepsBlanks: boolean
}

/** Without a rule the form of a value says what it is. */
export function fieldCell(
  value: JsonValue | undefined,
  rule: CellRule | undefined,
  form: CellForm,
): Cell | DateCell {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value !== 'string') return listCell(value, rule, form)
  if (form.isSheet) {
    const isDay = rule === undefined || rule.type === 'day' || rule.type === 'date'
    const date = isDay ? dayCell(value) : rule.type === 'instant' ? instantCell(value) : undefined
    if (date) return date
  }
  return rule === undefined ? value : textCell(value, form)
}

/** The mark of CSV against formulas is not written here: `csvCell` knows it. */
function textCell(text: string, { isSheet, keepsBlanks }: CellForm): string {
  const marked = keepsBlanks || text.trim() !== '' ? markedText(text) : text
  // No cell of a workbook is a formula, so that only what would be read as another text needs the mark.
  return isSheet && marked === text && plainCell(text) !== text ? `'${text}` : marked
}

/** What a cell of a workbook holds: a longer text is not read to see whether it says the same. */
const LONGEST_CELL = 32_767

/** Items between semicolons where they are read as they were, else JSON. */
function listCell(
  value: JsonObject | readonly JsonValue[],
  rule: CellRule | undefined,
  { keepsBlanks }: CellForm,
): string {
  if (rule !== undefined && Array.isArray(value)) {
    if (value.length === 0 && !keepsBlanks) return ''
    if (value.length > MOST_TEXT_ITEMS) return JSON.stringify(value)
  }
  const plain = String(cellValue(value))
  if (rule === undefined) return plain
  if (plain.length > LONGEST_CELL) return JSON.stringify(value)
  const read = valueOfText(rule, plain)
  const isSame =
    'value' in read && sameJson(read.value, value) && plainCell(plain) === plain && !isMarked(plain)
  return isSame ? plain : JSON.stringify(value)
}

/** Longer ones are cut in the cell of a workbook. */
const LONGEST_NAME = 1_000

/**
 * The unique name of the document that a field refers to, if it was read (`_expand`) and an import finds the document by it; else the
 * guid. `name`: its field.
 */
export function nameOrGuid(row: JsonObject, field: string, name: string): JsonValue | undefined {
  const guid = valueAt(row, parseFieldPath(field))
  const target = isJsonObject(row._expand) ? row._expand[field] : undefined
  const text = isJsonObject(target) ? valueAt(target, parseFieldPath(name)) : undefined
  const isName = typeof text === 'string' && text !== '' && text.trim() === text && !isGuid(text)
  return isName && text.length <= LONGEST_NAME ? text : guid
}
