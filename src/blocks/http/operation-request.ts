/** The request of an operation: its values written as its document says. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { Operation, OperationPin } from '../../shared/operations/operation.ts'
import { PinError } from '../block.ts'

/** What the block sends. */
export interface WrittenRequest {
  /** Below the address of the server, with its query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonValue | undefined
  /** As `requestBody` takes it. */
  readonly bodyAs: string
}

type Values = Readonly<Record<string, unknown>>

/** Throws PinError for a value that its place cannot hold. */
export function writtenRequest({ path, pins, body, gives }: Operation, values: Values): WrittenRequest {
  const query: string[] = []
  const cookies: string[] = []
  const headers: Record<string, string> = { ...(gives && { accept: gives.accept }) }
  const fields: [string, JsonValue][] = []
  let address = path.replace(/^\//, '')
  for (const one of pins) {
    const value = inputOf(one, values)
    if (value === undefined) continue
    const name = one.name ?? one.pin
    if (one.in === 'path') address = address.replaceAll(`{${name}}`, () => inPath(one, name, value))
    else if (one.in === 'query') query.push(...inQuery(one, name, value, encodeURIComponent))
    else if (one.in === 'header') headers[name.toLowerCase()] = simple(one, value, String)
    else if (one.in === 'cookie') cookies.push(...inQuery(one, name, value, encodeURIComponent))
    else fields.push(...inBody(one, name, value, body?.as))
  }
  if (cookies.length > 0) headers.cookie = cookies.join('; ')
  const sent = bodyValue(body, fields, values)
  if (sent !== undefined && body && body.as !== 'form' && body.as !== 'multipart')
    headers['content-type'] = body.type
  const search = query.length > 0 ? `${address.includes('?') ? '&' : '?'}${query.join('&')}` : ''
  return { url: `${address}${search}`, headers, body: sent, bodyAs: body?.as ?? 'auto' }
}

function inputOf({ pin }: OperationPin, values: Values): JsonValue | undefined {
  const value = Object.hasOwn(values, pin) ? values[pin] : undefined
  if (value === undefined || value === null) return undefined
  return asJson(value)
}

/** Pins of the types that an operation has give JSON, and dates. */
function asJson(value: unknown): JsonValue | undefined {
  return value instanceof Date ? value.toISOString() : JSON.parse(JSON.stringify(value))
}

function bodyValue(body: Operation['body'], fields: readonly [string, JsonValue][], values: Values) {
  if (!body) return undefined
  const whole =
    body.pin === undefined || !Object.hasOwn(values, body.pin) ? undefined : asJson(values[body.pin] ?? null)
  const isWhole = body.pin === 'body' || fields.length === 0
  if (isWhole && fields.length === 0) return whole ?? undefined
  return { ...(isJsonObject(whole) ? whole : {}), ...Object.fromEntries(fields) }
}

function inPath(one: OperationPin, name: string, value: JsonValue): string {
  const { style = 'simple', explode = false } = one
  const pairs = pairsOf(value, one)
  const text =
    style === 'label'
      ? `.${pairs.map(([key, item]) => pairText(key, item, explode)).join(explode ? '.' : ',')}`
      : style === 'matrix'
        ? matrix(name, pairs, explode)
        : simple(one, value, encodeURIComponent)
  if (text === '' || /^\.{1,2}$/.test(text))
    throw new PinError(one.pin, 'must not be empty, . or ..: it is a part of the path')
  return text
}

function matrix(name: string, pairs: readonly Pair[], explode: boolean): string {
  if (!explode) return `;${name}=${pairs.map(([key, item]) => pairText(key, item, false)).join(',')}`
  return pairs
    .map(
      ([key, item]) => `;${key === undefined ? name : encodeURIComponent(key)}=${encodeURIComponent(item)}`,
    )
    .join('')
}

type Pair = readonly [key: string | undefined, item: string]

/** Items of a list without names, fields of an object with theirs, and one without a name of anything else. */
function pairsOf(value: JsonValue, one: OperationPin): readonly Pair[] {
  if (one.json) return [[undefined, JSON.stringify(value)]]
  if (Array.isArray(value)) return value.map((item) => [undefined, scalar(item, one)])
  if (isJsonObject(value)) return Object.entries(value).map(([key, item]) => [key, scalar(item, one)])
  return [[undefined, scalar(value, one)]]
}

function pairText(key: string | undefined, item: string, explode: boolean): string {
  const text = encodeURIComponent(item)
  return key === undefined ? text : `${encodeURIComponent(key)}${explode ? '=' : ','}${text}`
}

function simple(one: OperationPin, value: JsonValue, write: (text: string) => string): string {
  const { explode = false } = one
  return pairsOf(value, one)
    .map(([key, item]) =>
      key === undefined ? write(item) : `${write(key)}${explode ? '=' : ','}${write(item)}`,
    )
    .join(',')
}

function inQuery(
  one: OperationPin,
  name: string,
  value: JsonValue,
  write: (text: string) => string,
): readonly string[] {
  const { style = 'form', explode = style === 'form' || style === 'deepObject' } = one
  const key = write(name)
  if (style === 'deepObject' && !one.json)
    return deep(name, value, one).map(([path, item]) => `${write(path)}=${write(item)}`)
  const pairs = pairsOf(value, one)
  if (explode)
    return pairs.map(([field, item]) => `${field === undefined ? key : write(field)}=${write(item)}`)
  const between = style === 'spaceDelimited' ? '%20' : style === 'pipeDelimited' ? '|' : ','
  const items = pairs.flatMap(([field, item]) => (field === undefined ? [item] : [field, item]))
  return items.length === 0 ? [] : [`${key}=${items.map(write).join(between)}`]
}

/** `filter[price][from]=1`, as forms of PHP and Rails are read. */
function deep(name: string, value: JsonValue, one: OperationPin): readonly (readonly [string, string])[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => deep(`${name}[${at}]`, item, one))
  if (isJsonObject(value))
    return Object.entries(value).flatMap(([key, item]) => deep(`${name}[${key}]`, item, one))
  return value === null ? [] : [[name, scalar(value, one)]]
}

/** Fields of a form are texts and lists of these; JSON and parts take values as they are. */
function inBody(
  one: OperationPin,
  name: string,
  value: JsonValue,
  as: string | undefined,
): [string, JsonValue][] {
  if (one.json) return [[name, JSON.stringify(value)]]
  if (as === 'multipart') return [[name, partOf(value)]]
  if (as !== 'form') return [[name, value]]
  if (one.style === 'deepObject') return deep(name, value, one).map(([path, item]) => [path, item])
  if (Array.isArray(value)) {
    const items = value.map((item) => (typeof item === 'object' ? JSON.stringify(item) : item))
    return [[name, one.explode === false ? items.join(',') : items]]
  }
  return [[name, isJsonObject(value) ? JSON.stringify(value) : value]]
}

/** Files stay objects; other objects are parts of JSON. */
function partOf(value: JsonValue): JsonValue {
  const part = (item: JsonValue) =>
    typeof item === 'object' && item !== null && !isFile(item) ? JSON.stringify(item) : item
  return Array.isArray(value) ? value.map(part) : part(value)
}

function isFile(value: JsonValue): value is JsonObject {
  return isJsonObject(value) && typeof value.file_name === 'string'
}

function scalar(value: JsonValue, { pin, name = pin }: OperationPin): string {
  if (typeof value === 'object' && value !== null)
    throw new PinError(pin, `must hold texts, numbers and conditions only: ${name} is not sent as JSON`)
  return String(value ?? '')
}
