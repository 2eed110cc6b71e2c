import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { type OperationPin, operationPlaces, operationStyles } from '../../shared/operations/operation.ts'
import type { ApiDocument } from './api-document.ts'
import { pinTypeOf, type Schema, schemaOf, typeText } from './schema-text.ts'

/** In-pins that each block of an operation has. */
const TAKEN = ['flow', 'connection', 'server', 'headers', 'timeout', 'max_size', 'attempts', 'back_off']
const MOST_HELP = 400
const MOST_TYPE = 500
const MOST_CHOICES = 500
/** The client writes these by what is sent. */
const WRITTEN = new Set(['accept', 'content-type', 'authorization'])

/** Ids of pins: names of expressions, each once. */
export class PinNames {
  readonly #taken = new Set(TAKEN)

  /** The name itself where it can be, else the name with its place. */
  take(name: string, place: string): string {
    const plain = name.replace(/[^A-Za-z0-9_]+/g, '_').slice(0, 50)
    const word = /^[A-Za-z]/.test(plain) ? plain : `p${plain}`
    for (let count = 0; ; count += 1) {
      const id = count === 0 ? word : count === 1 ? `${word}_${place}` : `${word}_${place}_${count}`
      if (this.#taken.has(id)) continue
      this.#taken.add(id)
      return id
    }
  }
}

export function bounded(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}

/** undefined for a parameter that is none, or that no request can hold. */
export function parameterPin(
  document: ApiDocument,
  parameter: JsonObject,
  names: PinNames,
  say: (what: string) => void,
): OperationPin | undefined {
  const { name, style, explode } = parameter
  const place = operationPlaces.find((one) => one === parameter.in && one !== 'body')
  if (typeof name !== 'string' || name === '' || !place) {
    say(`a parameter in ${JSON.stringify(parameter.in ?? null).slice(0, 40)}`)
    return undefined
  }
  if (place === 'header' && WRITTEN.has(name.toLowerCase())) return undefined
  if (name.length > 200) {
    say('a parameter with a name of over 200 characters')
    return undefined
  }
  const [media] = mediaOf(parameter)
  const known = operationStyles.find((one) => one === style)
  return {
    ...valuePin(document, parameter.schema ?? media?.schema, { name, place, about: parameter, names }),
    ...((parameter.required === true || place === 'path') && { required: true }),
    ...(known && known !== (place === 'query' || place === 'cookie' ? 'form' : 'simple') && { style: known }),
    ...(typeof explode === 'boolean' && { explode }),
    ...(media !== undefined && { json: true }),
  }
}

interface Named {
  readonly name: string
  readonly place: OperationPin['in']
  /** What describes it beside its schema. */
  readonly about: JsonObject
  readonly names: PinNames
}

export function valuePin(
  document: ApiDocument,
  schema: JsonValue | undefined,
  { name, place, about, names }: Named,
): OperationPin {
  const whole = schemaOf(document, schema)
  const general = pinTypeOf(document, whole)
  const type = general === 'value' && (place === 'header' || place === 'path') ? 'line' : general
  const pin = names.take(name, place)
  const { minimum, maximum } = whole.own
  const isText = type === 'value' || type === 'line'
  const choices =
    isText && isWhole(document, whole) ? whole.values?.filter((one) => typeof one === 'string') : undefined
  const help = helpOf(document, schema, whole, { type, about, isChoice: choices !== undefined })
  return {
    pin,
    ...(pin !== name && { name }),
    in: place,
    type,
    ...(help !== '' && { help }),
    ...(choices && choices.length > 0 && choices.length <= MOST_CHOICES && { choices }),
    ...(type === 'number' && typeof minimum === 'number' && { min: minimum }),
    ...(type === 'number' && typeof maximum === 'number' && { max: maximum }),
    ...(whole.types[0] === 'integer' && type === 'number' && { integer: true as const }),
  }
}

/** Its values are those of its own list, and not those of an alternative too. */
function isWhole(document: ApiDocument, { values, choices }: Schema): boolean {
  return values !== undefined && choices.every((one) => schemaOf(document, one).values !== undefined)
}

interface About {
  readonly type: string
  readonly about: JsonObject
  readonly isChoice: boolean
}

function helpOf(
  document: ApiDocument,
  schema: JsonValue | undefined,
  { own, values, isFile, choices }: Schema,
  { type, about, isChoice }: About,
): string {
  const words = [about.description, own.description].find(
    (one) => typeof one === 'string' && one.trim() !== '',
  )
  const isPlain = ['value', 'line', 'condition', 'date'].includes(type) && choices.length === 0
  const budget = { left: MOST_TYPE, depth: 2, named: new Set<string>(), open: [] }
  const isShown = !isPlain && (type !== 'number' || values !== undefined)
  return [
    (about.deprecated === true || own.deprecated === true) && 'Deprecated.',
    typeof words === 'string' && bounded(words, MOST_HELP),
    isFile && 'A file: { file_name, type, text } or with base64; alone, its bytes as Base64.',
    (isShown || (values !== undefined && !isChoice)) &&
      !isFile &&
      `Type: ${bounded(typeText(document, schema, budget), MOST_TYPE)}`,
    own.default !== undefined && `Empty: ${bounded(JSON.stringify(own.default), 100)}.`,
  ]
    .filter((one) => one !== false && one !== '')
    .join(' ')
}

/** The fields of an object that a request may hold. */
export function writableFields(
  document: ApiDocument,
  { properties }: Schema,
): readonly (readonly [string, JsonValue])[] {
  return [...properties].filter(([, property]) => {
    const found = document.object(property)
    return !(isJsonObject(found) && found.readOnly === true)
  })
}

interface Media {
  /** In lower case, without parameters. */
  readonly type: string
  readonly schema: JsonValue | undefined
  readonly encoding: JsonObject
}

export function mediaOf(part: JsonObject | undefined): readonly Media[] {
  const content = isJsonObject(part?.content) ? part.content : {}
  return Object.entries(content).flatMap(([name, media]) => {
    if (!isJsonObject(media)) return []
    const type = (name.split(';')[0] ?? '').trim().toLowerCase()
    return [{ type, schema: media.schema, encoding: isJsonObject(media.encoding) ? media.encoding : {} }]
  })
}
