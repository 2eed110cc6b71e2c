import type { JsonValue } from '../../shared/json.ts'

/** A value as a cell of a table has it: lists of plain texts with semicolons between, other lists and objects as JSON. */
export function cellValue(value: JsonValue | undefined): string | number {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string' || typeof value === 'number') return value
  if (Array.isArray(value) && value.length > 0 && value.every(isPlain))
    return value.length === 1 && value.join('').includes(',') ? JSON.stringify(value) : value.join('; ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A text that is read as the same one again. */
function isPlain(item: JsonValue): item is string {
  return typeof item === 'string' && item !== '' && item.trim() === item && !/[;[]|^[=+\-@']/.test(item)
}
