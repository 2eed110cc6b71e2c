/** Body and replies of an operation. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { type Operation, type OperationPin, operationStyles } from '../../shared/operations/operation.ts'
import type { ApiDocument } from './api-document.ts'
import { bounded, mediaOf, type PinNames, valuePin, writableFields } from './operation-pins.ts'
import { pinTypeOf, replyShape, type Schema, schemaOf, typeText } from './schema-text.ts'

type Body = NonNullable<Operation['body']>
type Gives = NonNullable<Operation['gives']>

/** More pins than a person can look through; other fields go by one more pin. */
const MOST_FIELDS = 150
const MOST_FAILURES = 40
const JSON_TYPE = /^(?:application|text)\/(?:[a-z0-9.-]+\+)?json$|^\*\/\*$/
const TEXT_TYPE = /^text\/|xml$|^application\/(?:x-ndjson|x-yaml|yaml|graphql)$/

function formOf(type: string): Body['as'] {
  if (JSON_TYPE.test(type)) return 'json'
  if (type === 'application/x-www-form-urlencoded') return 'form'
  if (type.startsWith('multipart/')) return 'multipart'
  return TEXT_TYPE.test(type) ? 'text' : 'base64'
}

const preferred: readonly Body['as'][] = ['json', 'form', 'multipart', 'text', 'base64']

/** Of several media types the one that blocks write best; the others are named. */
export function bodyOf(
  document: ApiDocument,
  request: JsonValue | undefined,
  names: PinNames,
  say: (what: string) => void,
): { readonly pins: readonly OperationPin[]; readonly body?: Body } {
  const about = document.object(request)
  const all = mediaOf(about)
  const media = preferred.flatMap((form) => all.filter(({ type }) => formOf(type) === form))[0]
  if (!about || !media) return { pins: [] }
  for (const other of all) if (other !== media) say(`a body as ${other.type}: it is sent as ${media.type}`)
  const as = formOf(media.type)
  const type = media.type === '*/*' ? 'application/json' : media.type
  const whole = schemaOf(document, media.schema)
  const isRequired = about.required === true
  const fields = writableFields(document, whole)
  const hasFields =
    as !== 'text' && as !== 'base64' && fields.length > 0 && pinTypeOf(document, whole) === 'object'
  if (!hasFields) {
    const budget = { left: 500, depth: 2, named: new Set<string>(), open: [] }
    const shape =
      as === 'base64' ? 'its bytes as Base64' : bounded(typeText(document, media.schema, budget), 500)
    const words = bounded(`${textIn(about.description)} As ${type}: ${shape}`, 900)
    const holds = as === 'text' || as === 'base64' ? 'value' : pinTypeOf(document, whole)
    const pin = names.take('body', 'whole')
    return { pins: [], body: { type, as, pin, holds, help: words, ...(isRequired && { required: true }) } }
  }
  const pins = fields.slice(0, MOST_FIELDS).map(
    ([name, property]): OperationPin => ({
      ...valuePin(document, property, { name, place: 'body', about: {}, names }),
      ...(isRequired && whole.required.has(name) && { required: true }),
      ...encodingOf(media.encoding[name]),
    }),
  )
  return { pins, body: { type, as, ...othersOf(fields.length, whole, names) } }
}

function othersOf(count: number, { others, choices }: Schema, names: PinNames): Partial<Body> {
  if (others === false && count <= MOST_FIELDS && choices.length === 0) return {}
  const more = count > MOST_FIELDS ? ` ${count - MOST_FIELDS} of them have no pin.` : ''
  return {
    pin: names.take('others', 'body'),
    holds: 'object',
    help: `Further fields of the body, and those that are to be null.${more}`,
  }
}

function encodingOf(encoding: JsonValue | undefined): Partial<OperationPin> {
  if (!isJsonObject(encoding)) return {}
  const style = operationStyles.find((one) => one === encoding.style && one !== 'form')
  const isJson = typeof encoding.contentType === 'string' && JSON_TYPE.test(encoding.contentType)
  return {
    ...(style && { style }),
    ...(typeof encoding.explode === 'boolean' && { explode: encoding.explode }),
    ...(isJson && { json: true as const }),
  }
}

export function successOf(
  document: ApiDocument,
  replies: JsonValue | undefined,
): { readonly status: string; readonly gives?: Gives } | undefined {
  if (!isJsonObject(replies)) return undefined
  const statuses = Object.keys(replies)
  const good = statuses.filter((one) => /^2(?:\d\d|xx)$/i.test(one)).sort()
  const withBody = good.find((one) => mediaOf(document.object(replies[one])).length > 0)
  const status = withBody ?? good[0] ?? statuses.find((one) => one === 'default')
  if (status === undefined) return undefined
  const all = mediaOf(document.object(replies[status]))
  const media = all.find(({ type }) => JSON_TYPE.test(type)) ?? all[0]
  if (!media) return { status }
  const isJson = JSON_TYPE.test(media.type)
  const whole = schemaOf(document, media.schema)
  const isBytes = whole.isFile || (!isJson && formOf(media.type) === 'base64')
  const budget = { left: 800, depth: 1, named: new Set<string>(), open: [] }
  const shape = isBytes ? 'its bytes as Base64' : bounded(typeText(document, media.schema, budget), 800)
  return {
    status,
    gives: {
      type: isBytes ? 'value' : isJson ? pinTypeOf(document, whole) : 'any',
      accept: media.type,
      help: `As ${media.type}: ${shape}`,
      ...(isBytes && { bytes: true as const }),
      ...(!isBytes && isJson && shapeOfReplies(document, replies)),
    },
  }
}

/** The pin is one for all replies, also those that fail: behind the way of a status code a flow reads what went wrong. */
function shapeOfReplies(document: ApiDocument, replies: JsonObject): Pick<Gives, 'shape'> {
  const all = Object.values(replies).flatMap((reply) => mediaOf(document.object(reply)))
  if (all.some(({ type }) => !JSON_TYPE.test(type))) return {}
  const shape = replyShape(
    document,
    all.map(({ schema }) => schema),
  )
  return shape === 'any' ? {} : { shape }
}

/** Headers of all replies: those of a failure, such as `retry-after`, are as useful. */
export function headersOf(document: ApiDocument, replies: JsonObject): NonNullable<Operation['headers']> {
  const found = new Map<string, string>()
  for (const reply of Object.values(replies)) {
    const headers = document.object(reply)?.headers
    for (const [name, header] of Object.entries(isJsonObject(headers) ? headers : {})) {
      const lower = name.toLowerCase()
      if (lower !== 'content-type' && !found.has(lower) && /^[\w-]{1,100}$/.test(name))
        found.set(lower, bounded(textIn(document.object(header)?.description), 300))
    }
  }
  const names = new Set<string>()
  return [...found].flatMap(([name, help]) => {
    const pin = `header_${name.replace(/\W+/g, '_')}` as const
    if (names.has(pin)) return []
    names.add(pin)
    return [{ pin, name, ...(help !== '' && { help }) }]
  })
}

export function failuresOf(
  document: ApiDocument,
  replies: JsonObject,
  success: string | undefined,
): NonNullable<Operation['failures']> {
  return Object.entries(replies)
    .filter(([status]) => status !== success && /^(?:[1345](?:\d\d|xx)|default)$/i.test(status))
    .slice(0, MOST_FAILURES)
    .map(([status, reply]) => {
      const help = bounded(textIn(document.object(reply)?.description), 200)
      return { status, ...(help !== '' && { help }) }
    })
}

function textIn(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
