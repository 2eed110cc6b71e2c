/**
 * What an out-pin gave, turned into what an in-pin promises its block.
 *
 * The converter of a wire is chosen once, when the blueprint is compiled; a wire that needs none gets {@link identity},
 * which the compiler leaves out. Empty is `undefined`: a missing value, null (except on `any` pins, where null is a
 * value), and the empty text where text makes no sense or where a default stands ready.
 */

import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { SECRET_NAME } from '../../shared/names/stored-names.ts'
import { keepsDigits, readJson } from '../../shared/numbers/exact-json.ts'
import type { PinType } from '../../shared/pin-type.ts'
import { isOneLine, ONE_LINE } from '../../shared/texts/one-line.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { LineError, PinError } from '../block.ts'
import type { InPin } from '../pin.ts'
import { sortKeyOf } from './query-pins.ts'
import { readDate } from './scalar-values.ts'

/** Given by {@link converterFor} for a wire on which nothing has to be done. */
export function identity(value: unknown): unknown {
  return value
}

/**
 * For one wire, or a literal (`from` = 'any'): turns what the out-pin gave into what the in-pin promises the block.
 * The converter gives undefined for empty and throws PinError(pinId, 'must be …') for what does not fit.
 */
export function converterFor(pinId: string, pin: InPin, from: PinType): (value: unknown) => unknown {
  if (passesAsIs(pin, from)) return identity
  const read = readers[pin.type]
  const fits = constraint(pin)
  const keepsNull = pin.type === 'any'
  const emptyText = textIsEmpty.has(pin.type) || pin.default !== undefined
  const raw = pin.raw === true
  const isLine = pin.type === 'line'
  return (input) => {
    const value = !raw && input instanceof StoredJson ? input.value : input
    if (value === undefined || (value === null && !keepsNull) || (value === '' && emptyText)) return undefined
    const converted = read(value)
    if (isLine && typeof converted === 'string' && !isOneLine(converted)) throw new LineError(pinId, ONE_LINE)
    if (converted === refused || !fits(converted)) throw new PinError(pinId, expectation(pin))
    return converted
  }
}

/**
 * For the whole pin after conversion: the default for an empty one, a list without gaps for one that takes several
 * wires. Throws PinError(pinId, 'is empty') when a required pin got nothing.
 */
export function finishPin(pinId: string, pin: InPin, value: unknown): unknown {
  return finisherFor(pinId, pin)(value)
}

/** {@link finishPin} for many values of one pin. */
export function finisherFor(pinId: string, pin: InPin): (value: unknown) => unknown {
  const { several, required, default: standard } = pin
  if (several)
    return (value) => {
      const items = Array.isArray(value) ? value.filter((item) => item !== undefined) : []
      if (required && items.length === 0) throw new PinError(pinId, 'is empty')
      return items
    }
  if (standard !== undefined) {
    const fallback = defaultOf(pinId, pin)
    return (value) => (value === undefined ? fallback() : value)
  }
  return (value) => {
    if (value === undefined && required) throw new PinError(pinId, 'is empty')
    return value
  }
}

function defaultOf(pinId: string, pin: InPin): () => unknown {
  // Without `default` in sight, so that a default of '' is not taken for empty again.
  const { default: value, ...plain } = pin
  if (typeOfDefault[typeof value] === pin.type) return () => value
  // Created each time: a block could change a value that is not a scalar.
  const convert = converterFor(pinId, plain, 'any')
  return () => convert(value)
}

const typeOfDefault: Readonly<Record<string, PinType>> = {
  string: 'value',
  number: 'number',
  boolean: 'condition',
}

/** Types whose out-pins may give JSON that is not parsed yet. */
const maybeStored: ReadonlySet<PinType> = new Set(['document', 'documents', 'object', 'array', 'any'])
/** Types whose out-pins give JSON already as `any` wants it. */
const plainJson: ReadonlySet<PinType> = new Set([
  'value',
  'line',
  'number',
  'condition',
  'user',
  'file',
  'function',
])
const textIsEmpty: ReadonlySet<PinType> = new Set(['number', 'condition', 'date', 'object', 'array'])

function passesAsIs(pin: InPin, from: PinType): boolean {
  const constrained =
    pin.min !== undefined || pin.max !== undefined || pin.integer || pin.choices !== undefined
  if (constrained) return false
  // The empty text becomes the default.
  if (pin.default !== undefined && (from === 'value' || from === 'line' || from === 'any')) return false
  if (pin.type === 'any') return plainJson.has(from) || (pin.raw === true && maybeStored.has(from))
  if (pin.type !== from) return false
  return pin.raw === true || !maybeStored.has(pin.type)
}

const refused = Symbol('refused')

/** Each gets a value that is there: not undefined, not null (but for `any`), and parsed unless the pin is raw. */
const readers: Readonly<Record<PinType, (value: unknown) => unknown>> = {
  value: readText,
  line: readText,
  number: readNumber,
  condition: readCondition,
  object: readObject,
  array: readArray,
  date: (value) => readDate(value) ?? refused,
  document: onlyObject,
  documents: (value) => (isList(value) ? value : refused),
  file: onlyObject,
  user: onlyObject,
  any: (value) => (value instanceof Date ? value.toISOString() : value),
  function: onlyText,
  storage: onlyText,
  // Of a literal, which is all that such a pin takes.
  secret: recordName,
  http_connection: recordName,
  // Of a literal: between pins sort keys pass as they are.
  sort: (value) => sortKeyOf(value) ?? refused,
  // These exist only inside a run and come only from pins of their own type.
  query: identity,
  mutations: identity,
  connection: identity,
  state: identity,
  flow: identity,
}

const musts: Readonly<Partial<Record<PinType, string>>> = {
  value: 'must be text',
  line: 'must be text',
  condition: 'must be true or false',
  object: 'must be an object',
  array: 'must be a list',
  date: 'must be a date, such as 2026-01-31 or 2026-01-31T09:00:00Z',
  document: 'must be a document',
  documents: 'must be a list of documents',
  file: 'must be a file',
  user: 'must be a user',
  function: 'must be the name of a function',
  storage: 'must be the name of a storage',
  secret: 'must be the name of a secret',
  http_connection: 'must be the name of a connection',
  sort: 'must be names of fields, such as due or country, amount desc',
}

/** Finishes the sentence "<pin> …". */
function expectation(pin: InPin): string {
  if (pin.choices) return `must be one of ${pin.choices.join(', ')}`
  if (pin.type !== 'number') return musts[pin.type] ?? 'must be of another kind'
  const kind = pin.integer ? 'must be a whole number' : 'must be a number'
  const { min, max } = pin
  if (min !== undefined && max !== undefined) return `${kind} from ${grouped(min)} to ${grouped(max)}`
  if (min !== undefined) return `${kind} of at least ${grouped(min)}`
  return max === undefined ? kind : `${kind} of at most ${grouped(max)}`
}

/** Made once: a compiler refuses many samples, and each format takes 20 µs to make. */
const figures = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 })

function grouped(number: number): string {
  return figures.format(number)
}

function constraint(pin: InPin): (value: unknown) => boolean {
  const { choices, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, integer } = pin
  if (choices)
    return (value) => typeof value === 'string' && [...choices, ...(pin.otherChoices ?? [])].includes(value)
  if (pin.type !== 'number') return () => true
  return (value) =>
    typeof value === 'number' && value >= min && value <= max && (!integer || Number.isSafeInteger(value))
}

function readText(value: unknown): unknown {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return value instanceof Date ? value.toISOString() : refused
}

/** Written so that no text makes it go back and forth: each digit is looked at twice at most. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

function readNumber(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : refused
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value instanceof Date) return Math.floor(value.getTime() / 1000)
  if (typeof value !== 'string') return refused
  const text = value.trim()
  const number = DECIMAL.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) && keepsDigits(text) ? number : refused
}

const conditions: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['0', false],
  ['no', false],
  ['off', false],
])

function readCondition(value: unknown): unknown {
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return value !== 0
  if (typeof value !== 'string') return refused
  return conditions.get(value.trim().toLowerCase()) ?? refused
}

function readObject(value: unknown): unknown {
  if (typeof value !== 'string') return onlyObject(value)
  // 8 MB of what is no object take 60 ms to be refused otherwise.
  return value.trimStart().startsWith('{') ? parsed(value) : refused
}

function readArray(value: unknown): unknown {
  if (isList(value)) return value
  if (typeof value === 'string' && value.trimStart().startsWith('[')) return parsed(value)
  if (value instanceof Date) return [value.toISOString()]
  return [value instanceof StoredJson ? value.value : value]
}

/** Text of a request becomes JSON here without having gone through the checks of a body, so they are made now. */
function parsed(text: string): JsonValue | typeof refused {
  const read = readJson(text)
  return 'value' in read ? read.value : refused
}

function onlyText(value: unknown): unknown {
  return typeof value === 'string' ? value : refused
}

const isRecordName = new RegExp(SECRET_NAME)

function recordName(value: unknown): unknown {
  return typeof value === 'string' && isRecordName.test(value) ? value : refused
}

function onlyObject(value: unknown): unknown {
  if (value instanceof StoredJson) return value.text.startsWith('{') ? value : refused
  return isJsonObject(value) && !(value instanceof Date) ? value : refused
}

function isList(value: unknown): boolean {
  return value instanceof StoredJson ? value.text.startsWith('[') : Array.isArray(value)
}
