import { StoredJson } from '../../../storage/stored-json.ts'

/** What a pin gave, as an expression takes it: JSON. A date is its text, an instant. */
export function plainValue(value: unknown): unknown {
  if (typeof value !== 'object') return value
  if (value instanceof StoredJson) return value.value
  return value instanceof Date ? value.toISOString() : value
}
