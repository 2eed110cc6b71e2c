/** Parts of an OpenAPI document that others refer to. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../shared/json.ts'
import { textIn, textsIn } from '../../../storage/document-fields.ts'

/** References that lead to others, and parts of parts: a circle has no end. */
const MOST_STEPS = 20
const MOST_PARTS = 50

/** What a reference of the same document leads to; null where it leads nowhere, or around. */
export function resolved(document: JsonObject, value: JsonValue): JsonValue {
  let found = value
  for (let step = 0; step < MOST_STEPS; step++) {
    if (!isJsonObject(found) || typeof found.$ref !== 'string') return found
    found = partAt(document, found.$ref)
  }
  return null
}

function partAt(document: JsonObject, pointer: string): JsonValue {
  if (!pointer.startsWith('#/')) return null
  let found: JsonValue = document
  for (const part of pointer.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isJsonObject(found) || !Object.hasOwn(found, name)) return null
    found = found[name] ?? null
  }
  return found
}

/** A schema with what `allOf` adds to it. */
export function mergedSchema(document: JsonObject, schema: JsonValue): JsonObject {
  const merged: Record<string, JsonValue> = {}
  const open: JsonValue[] = [schema]
  for (let count = 0; open.length > 0 && count < MOST_PARTS; count++) {
    const part = resolved(document, open.shift() ?? null)
    if (!isJsonObject(part)) continue
    const { allOf, properties, required, ...rest } = part
    for (const [name, value] of Object.entries(rest)) if (!Object.hasOwn(merged, name)) merged[name] = value
    if (isJsonObject(properties)) merged.properties = { ...objectOf(merged.properties), ...properties }
    if (required !== undefined) merged.required = [...textsIn(merged.required), ...textsIn(required)]
    if (Array.isArray(allOf)) open.push(...allOf.slice(0, MOST_PARTS))
  }
  return textIn(merged.type) === '' && merged.properties !== undefined
    ? { ...merged, type: 'object' }
    : merged
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}
