import { parse } from 'secure-json-parse'
import { type JsonValue, jsonProblem } from '../../shared/json.ts'
import {
  keepsDigits,
  longNumberIn,
  longNumberProblem,
  longNumbersAsTexts,
} from '../../shared/numbers/exact-json.ts'
import type { conversionFunctions } from '../language/declared/conversion.ts'
import { ArgumentError } from '../language/function-declaration.ts'
import type { BodiesOf } from './body-of.ts'
import { boundedJson, boundedText, spendOnText } from './bounded.ts'
import { numberFromText } from './read-number.ts'
import { parsedUrl, queryText, urlDecoded, urlEncoded } from './url-text.ts'
import { wideKeysIn } from './wide-keys.ts'

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
