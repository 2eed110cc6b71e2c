import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { readIsoDate } from '../../shared/dates/dates.ts'
import { isEmptyValue } from '../../shared/field-rule.ts'
import { isEmail, isGuidText, isUrl } from '../../shared/fields/value-forms.ts'
import { guidSource } from '../../shared/guid.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { checkFunctions, numberMethods } from '../language/declared/checks.ts'
import type { fieldChangeFunctions } from '../language/declared/field-changes.ts'
import type { listMethods } from '../language/declared/list-methods.ts'
import type { randomAndHashFunctions } from '../language/declared/random-and-hashes.ts'
import type { textMethods } from '../language/declared/text-methods.ts'
import {
  ArgumentError,
  type FunctionBody,
  type FunctionContext,
  type MethodDeclaration,
} from '../language/function-declaration.ts'
import { hashName } from '../language/literals/literals.ts'
import type { BodiesOf, MethodBodiesOf } from './body-of.ts'
import { checkLength, spendOn, spendOnFields, spendOnText } from './bounded.ts'
import { conversionBodies } from './conversion.ts'
import { dateBodies } from './dates.ts'
import { eachBodies, flattened, joinedLists, listBodies } from './lists.ts'
import { numberBodies, numberFromText } from './numbers.ts'
import { objectBodies } from './objects.ts'
import {
  equalTo,
  holdsText,
  joinedText,
  repeatedText,
  replaceEach,
  replaceFirst,
  splitText,
  textBodies,
} from './text.ts'
import { lastPlace, textSearch } from './text-search.ts'

export type FieldChange =
  | { readonly op: 'increment'; readonly amount: number }
  | { readonly op: 'append'; readonly value: JsonValue }
  | { readonly op: 'remove' }

/** By the object that stands for the change in the value of an expression: no JSON that a client sends can be one. */
const changes = new WeakMap<object, FieldChange>()

const fieldChangeBodies: BodiesOf<typeof fieldChangeFunctions> = {
  increment: (_, amount) => marked({ op: 'increment', amount }),
  append: (_, value) => marked({ op: 'append', value: value ?? null }),
  unset: () => marked({ op: 'remove' }),
}

function marked(change: FieldChange): JsonObject {
  const mark = { change: change.op }
  changes.set(mark, change)
  return mark
}

/** The change that a value of an expression stands for, if it does. */
export function fieldChangeOf(value: JsonValue): FieldChange | undefined {
  return typeof value === 'object' && value !== null ? changes.get(value) : undefined
}

/** What each function of `declared/functions.ts` does, by name. */
export function functionBodies(): ReadonlyMap<string, FunctionBody> {
  const bodies = {
    ...textBodies,
    ...numberBodies,
    ...dateBodies,
    ...listBodies,
    ...objectBodies,
    ...conversionBodies,
    ...checkBodies,
    ...fieldChangeBodies,
    ...randomAndHashBodies,
  }
  return new Map<string, FunctionBody>(Object.entries(bodies))
}

/** What each method does, by name. */
export function methodBodies(on: MethodDeclaration['on']): ReadonlyMap<string, FunctionBody> {
  const bodies = { text: textMethodBodies, list: listMethodBodies, number: numberMethodBodies }
  return new Map<string, FunctionBody>(Object.entries(bodies[on]))
}

const checkBodies: BodiesOf<typeof checkFunctions> = {
  isEmpty: (context, value) => {
    // Its fields are counted, which takes as long as listing them.
    if (isJsonObject(value)) spendOnFields(context, value)
    return isEmptyValue(value)
  },
  isNumber: (_, value) =>
    typeof value === 'string' ? numberFromText(value) !== undefined : typeof value === 'number',
  isDate: (_, value) => typeof value === 'string' && readIsoDate(value) !== undefined,
  isEmail: (_, value) => isEmail(value),
  isUrl: (_, value) => isUrl(value),
  isGuid: (_, value) => isGuidText(value),
}

const textMethodBodies: MethodBodiesOf<'text', typeof textMethods> = {
  trim: (_, text) => text.trim(),
  trimStart: (_, text) => text.trimStart(),
  trimEnd: (_, text) => text.trimEnd(),
  toUpperCase: textBodies.upper,
  toLowerCase: textBodies.lower,
  slice: (_, text, from, to) => text.slice(from, to),
  split: splitText,
  includes: holdsText,
  startsWith: textBodies.startsWith,
  endsWith: textBodies.endsWith,
  indexOf: (context, text, part, from = 0) => textSearch(context, text, part)(from),
  lastIndexOf: (context, text, part) => {
    spendOnText(context, text, 20)
    return lastPlace(context, text, part)
  },
  replace: replaceFirst,
  replaceAll: replaceEach,
  padStart: textBodies.padStart,
  padEnd: textBodies.padEnd,
  repeat: (_, text, times) => repeatedText(text, times),
  at: (_, text, index) => text.at(index),
  concat: (_, text, ...texts) => {
    checkLength(
      'texts',
      texts.reduce((length, one) => length + one.length, text.length),
    )
    return text.concat(...texts)
  },
  toString: (_, text) => text,
}

const listMethodBodies: MethodBodiesOf<'list', typeof listMethods> = {
  ...eachBodies,
  slice: (context, list, from, to) => {
    spendOn(context, 'list', list)
    return list.slice(from, to)
  },
  concat: (context, list, ...lists) => joinedLists(context, [list, ...lists]),
  join: joinedText,
  includes: (context, list, value = null) => {
    spendOn(context, 'list', list)
    return list.some(equalTo(context, 'list', value))
  },
  indexOf: (context, list, value = null) => {
    spendOn(context, 'list', list)
    return list.findIndex(equalTo(context, 'list', value))
  },
  findIndex: (context, list, test) => {
    spendOn(context, 'list', list)
    return list.findIndex((item, i) => test(item, i))
  },
  findLast: (context, list, test) => {
    spendOn(context, 'list', list)
    return list.findLast((item, i) => test(item, i))
  },
  reduce: listBodies.reduce,
  flat: (context, list) => {
    spendOn(context, 'list', list)
    return flattened(context, list)
  },
  flatMap: (context, list, values) => flattened(context, eachBodies.map(context, list, values)),
  toReversed: listBodies.reverse,
}

/** As JavaScript has it. */
const MOST_DIGITS = 100

const numberMethodBodies: MethodBodiesOf<'number', typeof numberMethods> = {
  toFixed: (_, value, digits = 0) => {
    if (digits < 0 || digits > MOST_DIGITS)
      throw new ArgumentError('digits', `must be from 0 to ${MOST_DIGITS}`)
    return value.toFixed(digits)
  },
  toString: (_, value) => String(value),
}

const TOKEN_BYTES = 32

const randomAndHashBodies: BodiesOf<typeof randomAndHashFunctions> = {
  uuid: (context) => guidsOf(context)(),
  randomToken: (context) =>
    context.random(TOKEN_BYTES).toBase64({ alphabet: 'base64url', omitPadding: true }),
  randomNumber: (context, from, to) => randomFrom(context, from, to),
  hash: (context, algorithm, text) => {
    spendOnText(context, text, 30)
    return createHash(hashName(algorithm)).update(text).digest('hex')
  },
  hmac: (context, algorithm, key, text) => {
    for (const one of [key, text]) spendOnText(context, one, 30)
    return createHmac(hashName(algorithm), key).update(text).digest('hex')
  },
  equalInConstantTime: (context, a, b) => {
    if (b === undefined) return false
    for (const text of [a, b]) spendOnText(context, text, 15)
    return timingSafeEqual(digest(a), digest(b))
  },
}

/** One source for all of a run: two of one millisecond are in the order in which they were made. */
const guidSources = new WeakMap<FunctionContext, () => string>()

function guidsOf(context: FunctionContext): () => string {
  const known = guidSources.get(context)
  if (known) return known
  const source = guidSource(
    () => context.now(),
    (bytes) => bytes.set(context.random(bytes.length)),
  )
  guidSources.set(context, source)
  return source
}

/** Of equal length, which the comparison asks for. */
function digest(text: string): Uint8Array {
  return createHash('sha256').update(text).digest()
}

/** Bits of a double that are exact. */
const BITS = 2 ** 53
/** Less than every second try is refused: so many in a row mean that the bytes are not random. */
const MOST_TRIES = 128

/** Without a bias: numbers beyond the last whole multiple of the span are drawn again. */
function randomFrom(context: FunctionContext, from: number, to: number): number {
  const span = to - from + 1
  if (span < 1) throw new ArgumentError('to', 'must not be smaller than from')
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || span > BITS)
    throw new ArgumentError('to', 'is too far from from: at most 2^53 numbers')
  const limit = BITS - (BITS % span)
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const drawn = draw(context.random(7))
    if (drawn < limit) return from + (drawn % span)
  }
  throw new Error('The source of random bytes is broken.')
}

function draw(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte, i) => (i === 0 ? byte & 31 : sum * 256 + byte), 0)
}
