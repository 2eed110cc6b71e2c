import { type JsonValue, jsonProblem } from '../../../shared/json.ts'
import { plainValue } from '../expressions/expression-getter.ts'
import type { SavedValue } from './stored-frame.ts'

/** Undefined for what JSON cannot hold, such as a request. */
export function savedValue(value: unknown): SavedValue | undefined {
  if (value instanceof Date) return { date: value.toISOString() }
  const plain = plainValue(value)
  return isJson(plain) ? { json: plain } : undefined
}

export function restoredValue(saved: SavedValue): unknown {
  return 'date' in saved ? new Date(saved.date) : saved.json
}

/** Each value that can be saved; the others are left out. */
export function savedValues(values: Readonly<Record<string, unknown>>): Record<string, SavedValue> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const saved = value === undefined ? undefined : savedValue(value)
      return saved ? [[name, saved]] : []
    }),
  )
}

export function restoredValues(saved: Readonly<Record<string, SavedValue>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(saved).map(([name, value]) => [name, restoredValue(value)]))
}

function isJson(value: unknown): value is JsonValue {
  return jsonProblem(value) === undefined
}
