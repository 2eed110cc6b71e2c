import { isUtf8 } from 'node:buffer'
import { atOnce, runCooperatively, type Steps } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import { type JsonObject, jsonProblem } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'

/** Names that would change the prototype of objects. */
export const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Fields of a form, counted in its bytes before it is parsed: a megabyte of short names took 0.7 to 1.7 s, and anyone may send
 * one to any address. So many take 30 ms.
 */
export const MOST_FORM_FIELDS = 10_000

const [AND = 0, EQUALS = 0, PLUS = 0, PERCENT = 0, SPACE = 0] = Buffer.from('&=+% ')

const BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** Bytes of a form that is parsed in one turn of the event loop, which takes up to 15 ms. */
const LARGE_FORM = 1_048_576
/** Bytes of one step. */
const PIECE = 65_536

/** A form as browsers send it: every value is text, a name that comes twice has a list. A large one is parsed in turns. */
export function readFormBody(bytes: Buffer): MaybePromise<JsonObject | undefined> {
  return formRead(bytes, utf8Text)
}

function formRead(bytes: Buffer, decode: Decode): MaybePromise<JsonObject | undefined> {
  const steps = formInSteps(bytes, decode)
  return bytes.length > LARGE_FORM ? runCooperatively(steps) : atOnce(steps)
}

/** `decode`: of another character set. */
function* formInSteps(input: Buffer, decode: Decode): Steps<JsonObject | undefined> {
  const bytes = input.subarray(0, BOM.length).equals(BOM) ? input.subarray(BOM.length) : input
  if (bytes.length === 0) return undefined
  if (fieldsIn(bytes) > MOST_FORM_FIELDS)
    throw new QuoinError('INVALID_BODY', `The form has more than ${MOST_FORM_FIELDS} fields: send fewer.`)
  const fields = new Map<string, string | string[]>()
  for (let at = 0; at <= bytes.length; ) {
    const next = bytes.indexOf(AND, at)
    const end = next < 0 ? bytes.length : next
    if (end > at) yield* addPair(fields, bytes.subarray(at, end), decode)
    at = end + 1
  }
  const bad = [...FORBIDDEN].find((name) => fields.has(name))
  if (bad) throw new QuoinError('INVALID_BODY', `The form has a field named ${bad}.`)
  const form: JsonObject = Object.fromEntries(fields)
  const problem = jsonProblem(form)
  if (problem !== undefined) throw new QuoinError('INVALID_BODY', `The form ${problem}.`)
  return form
}

type Decode = (bytes: Buffer) => string

/** Node would turn what is not UTF-8 into U+FFFD. */
function utf8Text(bytes: Buffer): string {
  if (!isUtf8(bytes))
    throw new QuoinError(
      'INVALID_BODY',
      'The form is not UTF-8. Send it in UTF-8, or name its character set: application/x-www-form-urlencoded; charset=windows-1252.',
    )
  return bytes.toString('utf8')
}

/** A form of the character set that its content type names; undefined for one that is not known. */
export function formReader(charset: string): typeof readFormBody | undefined {
  if (/^utf-?8$/i.test(charset)) return readFormBody
  try {
    const decoder = new TextDecoder(charset)
    if (decoder.encoding.startsWith('utf-16')) return undefined
    return (bytes) => formRead(bytes, (part) => decoder.decode(part))
  } catch {
    return undefined
  }
}

function* addPair(fields: Map<string, string | string[]>, pair: Buffer, decode: Decode): Steps<void> {
  const equals = pair.indexOf(EQUALS)
  const name = decode(yield* unescaped(equals < 0 ? pair : pair.subarray(0, equals)))
  const value = equals < 0 ? '' : decode(yield* unescaped(pair.subarray(equals + 1)))
  yield
  const before = fields.get(name)
  if (before === undefined) fields.set(name, value)
  else if (typeof before === 'string') fields.set(name, [before, value])
  else before.push(value)
}

/**
 * As Node's parser decodes, which needs 0.35 s for 1 MB of plus signs in 10,000 fields and 8 s for 16 MB, and 20 µs for each field that is not
 * valid: this one goes over the bytes once.
 */
function* unescaped(part: Buffer): Steps<Buffer> {
  if (!part.includes(PLUS) && !part.includes(PERCENT)) return part
  const bytes = Buffer.allocUnsafe(part.length)
  let [length, next] = [0, PIECE]
  for (let at = 0; at < part.length; at++) {
    if (at > next) {
      next = at + PIECE
      yield
    }
    const byte = part[at] ?? 0
    const [high, low] = byte === PERCENT ? [hexDigit(part[at + 1]), hexDigit(part[at + 2])] : [-1, -1]
    if (high >= 0 && low >= 0) {
      bytes[length++] = high * 16 + low
      at += 2
    } else bytes[length++] = byte === PLUS ? SPACE : byte
  }
  return bytes.subarray(0, length)
}

/** -1 for what is none. */
function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** Stops at the first one too many. */
function fieldsIn(bytes: Buffer): number {
  let fields = 1
  for (let at = bytes.indexOf(AND); at >= 0 && fields <= MOST_FORM_FIELDS; at = bytes.indexOf(AND, at + 1))
    fields += 1
  return fields
}
