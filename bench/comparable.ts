/** What of a reply must be equal on both sides, as text; what differs from run to run is replaced by its form. */
import { isGuid } from '../src/shared/guid.ts'
import { isJsonObject, type JsonValue } from '../src/shared/json.ts'

/** Filling both candidates takes minutes on a busy machine. */
const NOW_SECONDS = 900

/** Not the work: the day; and whether a connection goes on after a request that was refused (none of those is timed). */
const NOT_COMPARED = new Set(['date', 'content-length'])
const OF_THE_CONNECTION = new Set(['connection', 'keep-alive'])

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/**
 * Status, headers and body. A guid, a time of just now, an update hash and a tag over them become words; a guid that is
 * none, or a time of last year, stays and shows. With `wording` false the sentence of an error does not matter.
 */
export function comparable({ status, headers, text }: Answer, wording = true): string {
  const body = bodyOf(text, wording)
  const own = body.includes('<guid>') ? '<tag>' : undefined
  const lines = [...headers]
    .filter(([name]) => !NOT_COMPARED.has(name) && (status < 400 || !OF_THE_CONNECTION.has(name)))
    .map(([name, value]) => `${name}: ${headerForm(name, value, own)}`)
  return [status, ...lines.toSorted(), '', body].join('\n')
}

/** Status and body, whatever the order of keys: PostgreSQL's `jsonb` has one of its own. */
export function comparableValues({ status, text }: Answer): string {
  return `${status}\n\n${JSON.stringify(inOneOrder(JSON.parse(bodyOf(text, true))))}`
}

function inOneOrder(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(inOneOrder)
  if (!isJsonObject(value)) return value
  const sorted = Object.keys(value).toSorted()
  return Object.fromEntries(sorted.map((key) => [key, inOneOrder(value[key] ?? null)]))
}

function headerForm(name: string, value: string, own: string | undefined): string {
  if (name === 'x-request-id') return '<id>'
  return name === 'etag' ? tagForm(value, own) : value
}

function tagForm(tag: string, form: string | undefined): string {
  return form !== undefined && /^"[A-Za-z0-9_-]{27}"$/.test(tag) ? form : tag
}

function bodyOf(text: string, wording: boolean): string {
  if (text === '') return ''
  const value: JsonValue = JSON.parse(text)
  const error = isJsonObject(value) ? value.error : undefined
  if (!wording && typeof error === 'string') return '{"error":"<a sentence>"}'
  return JSON.stringify(value, (key, inner: JsonValue) => (key === '_meta' ? metaForm(inner) : inner))
}

/** The order of keys stays, as it is part of the bytes. */
function metaForm(meta: JsonValue): JsonValue {
  if (!isJsonObject(meta)) return meta
  return Object.fromEntries(Object.entries(meta).map(([key, value]) => [key, formOf(key, value)]))
}

function formOf(key: string, value: JsonValue): JsonValue {
  switch (key) {
    case 'guid':
      return typeof value === 'string' && isGuid(value) ? '<guid>' : value
    case 'update_hash':
      return typeof value === 'string' && /^[0-9a-f]{32}$/.test(value) ? '<hash>' : value
    case 'created':
    case 'updated':
      return isNow(value, 1000) ? '<now, s>' : value
    case 'cms':
    case 'ums':
      return isNow(value, 1) ? '<now, ms>' : value
    default:
      return value
  }
}

function isNow(value: JsonValue, milliseconds: number): boolean {
  if (typeof value !== 'number' || !Number.isInteger(value)) return false
  const age = Date.now() - value * milliseconds
  return age > -1000 && age < NOW_SECONDS * 1000
}
