/** Typed looks into stored documents. A field that is not there, or holds something else, reads as empty. */
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'

export function guidOf(document: JsonObject): string {
  return textInMeta(document, 'guid')
}

export function updateHashOf(document: JsonObject): string {
  return textInMeta(document, 'update_hash')
}

/** What every stored document has: without it, the document was not read from a storage, and that is a fault of ours. */
function textInMeta({ _meta: meta }: JsonObject, field: string): string {
  const value = isJsonObject(meta) ? meta[field] : undefined
  if (typeof value !== 'string') throw new TypeError(`A stored document has a _meta.${field}.`)
  return value
}

export function textIn(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

export function numberIn(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0
}

export function textsIn(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
}

export function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
