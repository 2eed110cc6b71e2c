import { parse } from 'secure-json-parse'
import { type JsonObject, type JsonValue, jsonProblem } from '../../shared/json.ts'
import {
  keepsDigits,
  longNumberIn,
  longNumberProblem,
  longNumbersAsTexts,
} from '../../shared/numbers/exact-json.ts'
import type { conversionFunctions } from '../language/declared/conversion.ts'
import { ArgumentError, type FunctionContext } from '../language/function-declaration.ts'
import type { BodiesOf } from './body-of.ts'
import { boundedJson, boundedText, checkLength, spendOnNew, spendOnText } from './bounded.ts'
import { numberFromText } from './numbers.ts'
import { objectOf } from './objects.ts'

/** Keys of an object that are few: V8 keeps such objects of one form together, and reading them costs no more than their text. */
const FEW = 1_000

const [QUOTE, BACKSLASH, COLON, OPEN, CLOSE] = ['"', '\\', ':', '{', '}'].map((one) => one.charCodeAt(0))

/**
 * How many keys of a JSON text are in objects of more than 1,000 keys: each takes 1 to 2 µs to read, which is more than can be told by
 * the length of the text. Of what is no JSON anything. A million characters take 5 to 17 ms, the longest where each is a
 * quote behind a backslash; with the 30 that jsonParse pays for so many that is still a turn.
 */
export function wideKeysIn(text: string): number {
  const keys: number[] = []
  let wide = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) at = endOfText(text, at)
    else if (character === OPEN) keys.push(0)
    else if (character === COLON) keys[keys.length - 1] = (keys.at(-1) ?? 0) + 1
    else if (character === CLOSE) {
      const count = keys.pop() ?? 0
      if (count > FEW) wide += count
    }
  }
  return wide
}

/** Where the text in quotes that begins here ends. */
function endOfText(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at > 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return at
  }
  return text.length
}

function urlEncoded(text: string): string {
  if (!text.isWellFormed()) throw new ArgumentError('text', 'holds half of a surrogate pair')
  return boundedText('text', encodeURIComponent(text))
}

function urlDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    throw new ArgumentError('text', 'must be a part of a web address: % and two hexadecimal digits')
  }
}

/** The parts of a web address, without user and password. */
function parsedUrl(context: FunctionContext, text: string) {
  spendOnText(context, text, 50)
  const url = URL.parse(text)
  if (url === null) throw new ArgumentError('text', 'must be a complete web address')
  return {
    protocol: url.protocol.slice(0, -1),
    host: url.hostname,
    port: url.port === '' ? null : Number(url.port),
    path: url.pathname,
    query: queryFields(context, url.searchParams),
    fragment: url.hash.slice(1),
  }
}

function queryFields(context: FunctionContext, query: URLSearchParams): JsonObject {
  spendOnNew(context, 'text', query.size)
  const byName = Map.groupBy(query, ([name]) => name)
  return objectOf(
    'text',
    [...byName].map(([name, pairs]) => {
      const values = pairs.map(([, value]) => value)
      return [name, values.length === 1 ? (values[0] ?? '') : values]
    }),
  )
}

const WORK_OF_PAIR = 15
const WORK_OF_CHARACTER = 0.5

function queryText(context: FunctionContext, object: JsonObject): string {
  const pairs = Object.entries(object).map(([name, value]): [string, readonly JsonValue[]] => [
    name,
    Array.isArray(value) ? value : [value],
  ])
  spendOnNew(
    context,
    'object',
    pairs.reduce((sum, [, values]) => sum + values.length, 0),
  )
  context.spend(0, pairs.length * WORK_OF_PAIR)
  const query = new URLSearchParams()
  let characters = 0
  for (const [name, values] of pairs)
    for (const value of values) {
      if (value === null || value === undefined) continue
      if (typeof value === 'object')
        throw new ArgumentError('object', 'must hold texts, numbers, conditions and lists of them only')
      characters += name.length + String(value).length
      checkLength('object', characters)
      context.spend(0, WORK_OF_PAIR + (name.length + String(value).length) * WORK_OF_CHARACTER)
      query.append(name, String(value))
    }
  return boundedText('object', query.toString())
}

export const conversionBodies: BodiesOf<typeof conversionFunctions> = {
  text: (context, value) =>
    typeof value === 'object'
      ? boundedJson(context, 'value', value)
      : typeof value === 'string'
        ? value
        : String(value),
  number: (_, value) => {
    if (typeof value !== 'string') return Number(value)
    if (value.trim() === '') return undefined
    const number = numberFromText(value)
    if (number === undefined) throw new ArgumentError('value', `must be a number; got ${shown(value)}`)
    if (!keepsDigits(value))
      throw new ArgumentError('value', `has more digits than a number keeps; got ${shown(value)}`)
    return number
  },
  condition: (_, value) => conditionOf(value),
  jsonParse: (context, text, longNumbers = 'refuse') => {
    if (longNumbers !== 'refuse' && longNumbers !== 'text')
      throw new ArgumentError('longNumbers', "must be 'refuse' or 'text'")
    spendOnText(context, text, 200)
    if (text.length > LONG_JSON) context.spend(0, wideKeysIn(text) * WORK_OF_WIDE_KEY)
    return parsedJson(text, longNumbers)
  },
  jsonText: (context, value = null, indent = 0) => {
    if (indent < 0 || indent > 10) throw new ArgumentError('indent', 'must be from 0 to 10')
    return boundedJson(context, 'value', value, indent)
  },
  base64: (_, text) => boundedText('text', utf8(text).toBase64()),
  fromBase64: (_, text) => {
    const alphabet = /[-_]/.test(text) ? 'base64url' : 'base64'
    return decoded('text', 'base64', () => Uint8Array.fromBase64(text, { alphabet }))
  },
  hex: (context, text) => {
    spendOnText(context, text, 20)
    return boundedText('text', utf8(text).toHex())
  },
  fromHex: (context, text) => {
    spendOnText(context, text, 10)
    return decoded('text', 'hexadecimal digits', () => Uint8Array.fromHex(text))
  },
  urlEncode: (context, text) => {
    spendOnText(context, text, 50)
    return urlEncoded(text)
  },
  urlDecode: (context, text) => {
    spendOnText(context, text, 50)
    return urlDecoded(text)
  },
  parseUrl: (context, text) => parsedUrl(context, text),
  queryText: (context, object) => queryText(context, object),
}

/** Characters of a text that may hold more keys than its length pays for. */
const LONG_JSON = 20_000
/** 70,000 keys of one object took 90 to 130 ms. */
const WORK_OF_WIDE_KEY = 12

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function decoded(parameter: string, name: string, bytes: () => Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes())
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof TypeError)) throw error
    throw new ArgumentError(parameter, `must be ${name} of a text in UTF-8`)
  }
}

function shown(text: string): string {
  return JSON.stringify(text.length > 50 ? `${text.slice(0, 50)}…` : text)
}

function conditionOf(value: string | number | boolean): boolean | undefined {
  const word = String(value).trim().toLowerCase()
  if (word === '') return undefined
  if (['true', '1', 'yes', 'on'].includes(word)) return true
  if (['false', '0', 'no', 'off'].includes(word)) return false
  throw new ArgumentError('value', `must be true or false; got ${shown(String(value))}`)
}

/** As bodies of requests are read: no key that changes a prototype, not too deep, nothing that cannot be stored. */
function parsedJson(text: string, longNumbers: 'refuse' | 'text'): JsonValue {
  let value: JsonValue
  const read = (json: string) => parse(json, { protoAction: 'error', constructorAction: 'error' })
  try {
    value = read(text)
    if (longNumbers === 'text') value = read(longNumbersAsTexts(text))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new ArgumentError('text', 'must be JSON without keys that change the prototype of objects')
  }
  const long = longNumbers === 'text' ? undefined : longNumberIn(text)
  const problem = long
    ? `${longNumberProblem(long)}, or read it with jsonParse(text, 'text')`
    : jsonProblem(value)
  if (problem !== undefined) throw new ArgumentError('text', problem)
  return value
}
