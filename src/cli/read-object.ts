import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { readJson } from '../shared/numbers/exact-json.ts'
import { UsageError } from './read-words.ts'

/** A flag that is a JSON object; empty without it. Throws UsageError. */
export function readObject(flag: string, text: string | undefined): JsonObject {
  if (text === undefined) return {}
  const read = readJson(text)
  if ('problem' in read) throw new UsageError(`--${flag} ${read.problem}: ${text}.`)
  if (isJsonObject(read.value)) return read.value
  throw new UsageError(`--${flag} must be a JSON object; got ${text}.`)
}
