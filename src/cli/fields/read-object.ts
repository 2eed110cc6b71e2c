import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { UsageError } from '../read-words.ts'

/** A flag that is a JSON object; empty without it. Throws UsageError. */
export function readObject(flag: string, text: string | undefined): JsonObject {
  if (text === undefined) return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new UsageError(`--${flag} must be a JSON object, for example {"required":true}.`)
  }
  if (!isJsonObject(value))
    throw new UsageError(`--${flag} must be a JSON object, for example {"required":true}.`)
  return value
}
