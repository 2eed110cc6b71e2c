import type { JsonValue } from '../../shared/json.ts'

/** A value as a cell of a table has it: lists of texts with semicolons between, objects as JSON. */
export function cellValue(value: JsonValue | undefined): string | number {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string' || typeof value === 'number') return value
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join('; ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
