import type { JsonValue } from '../../shared/json.ts'

/** A value as a cell of a table has it: lists of texts with semicolons between, objects as JSON. */
export function cellValue(value: JsonValue | undefined): string | number {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string' || typeof value === 'number') return value
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join('; ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The same for a table that Quoin reads again: a list is JSON where its parts would be read as others, such as numbers or texts with a semicolon. */
export function readableCell(value: JsonValue | undefined): string | number {
  if (!Array.isArray(value)) return cellValue(value)
  const isPlain =
    value.length > 0 && value.every(isPlainItem) && (value.length > 1 || !value.join('').includes(','))
  return isPlain ? value.join('; ') : JSON.stringify(value)
}

function isPlainItem(item: JsonValue): boolean {
  return typeof item === 'string' && item !== '' && item.trim() === item && !/[;[]|^[=+\-@']/.test(item)
}
