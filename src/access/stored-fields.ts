/** Typed looks into documents of this room's own storages. A field that is not there reads as empty. */
import type { JsonObject, JsonValue } from '../shared/json.ts'
import { isJsonObject } from '../shared/json.ts'

export function guidOf(document: JsonObject): string {
  const meta = document._meta
  const guid = isJsonObject(meta) ? meta.guid : undefined
  if (typeof guid !== 'string') throw new TypeError('A stored document has a _meta.guid.')
  return guid
}

export function updateHashOf(document: JsonObject): string {
  const meta = document._meta
  const hash = isJsonObject(meta) ? meta.update_hash : undefined
  if (typeof hash !== 'string') throw new TypeError('A stored document has a _meta.update_hash.')
  return hash
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
