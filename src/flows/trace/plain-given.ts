/** What a trigger without a request gave, as JSON that can be given again: dates keep that they are dates. */
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { type Secrets, showValue } from '../values/shown-value.ts'

const MOST_BYTES = 64 * 1024

/** null if it is too long to be kept. */
export function plainGiven(given: Readonly<Record<string, unknown>>, secrets: Secrets): JsonValue {
  const marked = Object.fromEntries(
    Object.entries(given).map(([pin, value]) => [pin, value instanceof Date ? { $date: value } : value]),
  )
  const { text, whole } = showValue(marked, secrets, MOST_BYTES)
  return whole ? JSON.parse(text) : null
}

/** undefined if nothing was kept. */
export function readGiven(plain: JsonValue | undefined): Readonly<Record<string, unknown>> | undefined {
  if (!isJsonObject(plain)) return undefined
  return Object.fromEntries(
    Object.entries(plain).map(([pin, value]) => [
      pin,
      isJsonObject(value) && typeof value.$date === 'string' ? new Date(value.$date) : value,
    ]),
  )
}
