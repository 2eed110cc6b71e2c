/**
 * Large JSON text, parsed or looked through piece by piece: 10,000 blocks are 8 MB, which take 60 to 90 ms to parse at once. Finding
 * where pieces end costs a third on top, and a third of parsing where nothing else is wanted.
 */
import type { Steps } from './cooperative.ts'
import { isJsonObject, type JsonValue } from './json.ts'

/** Characters of one step: half a millisecond. */
const PIECE = 65_536
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c

/** A piece of a text, from one character to before another one. */
interface Span {
  readonly from: number
  readonly to: number
}

interface JsonMember {
  readonly key: string
  readonly value: Span
}

/** Levels that are gone down. What is nested deeper is parsed at once: no document is. */
const DEEPEST = 100

/**
 * Sees each piece when it is parsed: a list or object of some members of the one at this depth, or one of them. The name of one that was parsed
 * by itself is seen with null.
 */
type Look = (piece: JsonValue, depth: number) => void

/** Thrown for lists and objects below more others than asked for: what is nested deeper than 100 is parsed in one turn, 8 MiB in 0.5 s. */
export class TooDeep extends Error {}

/** Thrown for an object of more names than asked for: it is made in one step, 100,000 of them in 40 ms. */
export class TooManyNames extends Error {}

interface Reading {
  readonly look?: Look
  readonly mostNames?: number
  readonly mostDepth?: number
}

/** What `JSON.parse` gives, and the error that it throws, of any text and in pieces. */
export function* jsonInSteps(text: string, reading: Reading = {}): Steps<JsonValue> {
  if (text.length <= PIECE) return parsedPiece(text, 0, reading)
  const { value, end } = yield* valueFrom(text, yield* pastBlanks(text, 0), 0, reading)
  if ((yield* pastBlanks(text, end)) < text.length) throw noJson(end)
  return value
}

/** The texts of the items of a list that is JSON text. */
export function* jsonItems(text: string): Generator<string, void> {
  const within = inside(trimmed(text, { from: 0, to: text.length }))
  let { from } = within
  for (const comma of commasIn(text, within)) {
    yield text.slice(from, comma)
    from = comma + 1
  }
  const last = text.slice(from, within.to)
  if (last.trim() !== '') yield last
}

/** The members of an object that is JSON text: their names, and where their values are. */
export function* jsonMembers(text: string): Generator<JsonMember, void> {
  const within = inside(trimmed(text, { from: 0, to: text.length }))
  let { from } = within
  for (const comma of commasIn(text, within)) {
    yield memberIn(text, { from, to: comma })
    from = comma + 1
  }
  if (text.slice(from, within.to).trim() !== '') yield memberIn(text, { from, to: within.to })
}

/** How many items the list has that is there in a text. 0 if it is no list. */
export function* itemsInSteps(text: string, { from, to }: Span): Steps<number> {
  if (text[from] !== '[' || text.slice(from + 1, to - 1).trim() === '') return 0
  let items = 1
  let looked = from
  for (const comma of commasIn(text, { from: from + 1, to: to - 1 })) {
    items += 1
    if (comma - looked < PIECE) continue
    looked = comma
    yield
  }
  return items
}

interface Found {
  readonly value: JsonValue
  /** Behind it. */
  readonly end: number
}

function* valueFrom(text: string, from: number, depth: number, reading: Reading): Steps<Found> {
  const isList = text[from] === '['
  if (text[from] === '"') return yield* stringFrom(text, from, depth, reading)
  if (!isList && text[from] !== '{') {
    const end = yield* endOfScalar(text, from)
    return { value: parsedPiece(text.slice(from, end), depth, reading), end }
  }
  if (depth >= (reading.mostDepth ?? Number.POSITIVE_INFINITY)) throw new TooDeep()
  if (depth >= DEEPEST) {
    const end = endOfMember(text, from, text.length) ?? text.length
    return { value: parsedPiece(text.slice(from, end), depth, reading), end }
  }
  const members = openMembers(text, isList, depth, reading)
  // Where the next member begins, and the first one that is not parsed yet.
  let at = from + 1
  let first = at
  for (;;) {
    const short = endOfMember(text, at, at + PIECE)
    let end = short ?? at
    if (short === undefined) {
      if (first < at) members.take(first, at - 1, false)
      yield
      const { key, place } = isList
        ? { key: '', place: yield* pastBlanks(text, at) }
        : yield* keyFrom(text, at)
      const found = yield* valueFrom(text, place, depth + 1, reading)
      members.add(key, found.value)
      end = yield* pastBlanks(text, found.end)
      first = end + 1
    }
    const isLast = text[end] !== ','
    if (isLast && text[end] !== (isList ? ']' : '}')) throw noJson(end)
    if (short !== undefined && (isLast || end - first >= PIECE)) {
      members.take(first, end, isLast)
      first = end + 1
      if (!isLast) yield
    }
    if (isLast) return { value: members.whole(), end: end + 1 }
    at = end + 1
  }
}

/** A long string: 16 MiB of escapes take 0.2 s at once. Cut before an escape or behind it, its pieces are strings too. */
function* stringFrom(text: string, from: number, depth: number, reading: Reading): Steps<Found> {
  const last = yield* endOfLongString(text, from)
  let value = ''
  for (let at = from + 1; at < last; ) {
    const end = Math.min(last, cutIn(text, at, at + PIECE))
    value += String(JSON.parse(`"${text.slice(at, end)}"`))
    at = end
    yield
  }
  // V8 joins the pieces where the text is looked at first.
  reading.look?.(value, depth)
  yield
  return { value, end: last + 1 }
}

/** The first place from `least` on that is not within an escape of the string. */
function cutIn(text: string, from: number, least: number): number {
  const piece = text.slice(from, least)
  let at = 0
  for (let backslash = piece.indexOf('\\'); backslash >= 0; backslash = piece.indexOf('\\', at))
    at = backslash + (text[from + backslash + 1] === 'u' ? 6 : 2)
  return Math.max(least, from + at)
}

/** What is parsed of a list or an object. `take`: members that stand side by side, `add`: one that was parsed by itself. */
function openMembers(text: string, isList: boolean, depth: number, reading: Reading) {
  const { mostNames = Number.POSITIVE_INFINITY } = reading
  const items: JsonValue[] = []
  const fields: [string, JsonValue][] = []
  return {
    add(key: string, value: JsonValue): void {
      if (isList) items.push(value)
      else {
        fields.push([key, value])
        reading.look?.({ [key]: null }, depth)
      }
    },
    take(from: number, to: number, isLast: boolean): void {
      const piece = text.slice(from, to)
      const isEmpty = piece.trim() === ''
      // Only all of it may be blank: behind a comma there is a member.
      if (isEmpty && !(isLast && items.length === 0 && fields.length === 0)) throw noJson(to)
      const some = parsedPiece(isList ? `[${piece}]` : `{${piece}}`, depth, reading)
      if (Array.isArray(some)) for (const item of some) items.push(item)
      else if (isJsonObject(some)) for (const field of Object.entries(some)) fields.push(field)
      if (fields.length > mostNames) throw new TooManyNames()
    },
    whole: (): JsonValue => (isList ? items : Object.fromEntries(fields)),
  }
}

function parsedPiece(text: string, depth: number, { look }: Reading): JsonValue {
  const value: JsonValue = JSON.parse(text)
  look?.(value, depth)
  return value
}

/** The name of a member, and where its value begins. */
function* keyFrom(text: string, from: number): Steps<{ readonly key: string; readonly place: number }> {
  const begin = yield* pastBlanks(text, from)
  if (text[begin] !== '"') throw noJson(begin)
  const { value, end } = yield* stringFrom(text, begin, 0, {})
  const colon = yield* pastBlanks(text, end)
  if (text[colon] !== ':') throw noJson(colon)
  return { key: String(value), place: yield* pastBlanks(text, colon + 1) }
}

/** The comma or bracket behind the member, or the end of the text. Undefined if it is longer than `most`. */
function endOfMember(text: string, from: number, most: number): number | undefined {
  let depth = 0
  for (let at = from; at < text.length; at += 1) {
    if (at > most) return undefined
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfString(text, at, most)
      if (end === undefined) return undefined
      at = end
    } else if (code === 0x7b || code === 0x5b) depth += 1
    else if (code === COMMA && depth === 0) return at
    else if (code === 0x7d || code === 0x5d) {
      if (depth === 0) return at
      depth -= 1
    }
  }
  return text.length
}

const isBlank = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

function* pastBlanks(text: string, from: number): Steps<number> {
  let at = from
  for (; isBlank(text.charCodeAt(at)); at += 1) if (at - from > 0 && (at - from) % PIECE === 0) yield
  return at
}

/** Behind a number, or a word as `true`. Nothing that is JSON stands in what is no end of one. */
function* endOfScalar(text: string, from: number): Steps<number> {
  let at = from
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (isBlank(code) || code === COMMA || code === 0x7d || code === 0x5d) return at
    if (at - from > 0 && (at - from) % PIECE === 0) yield
  }
  return at
}

function noJson(place: number): SyntaxError {
  return new SyntaxError(`The text is no JSON at position ${place}.`)
}

function memberIn(text: string, { from, to }: Span): JsonMember {
  const name = text.indexOf('"', from)
  const end = wholeString(text, name) + 1
  const value = trimmed(text, { from: text.indexOf(':', end) + 1, to })
  return { key: String(JSON.parse(text.slice(name, end))), value }
}

function trimmed(text: string, { from, to }: Span): Span {
  const piece = text.slice(from, to)
  return { from: to - piece.trimStart().length, to: from + piece.trimEnd().length }
}

/** Without its brackets. */
function inside({ from, to }: Span): Span {
  return { from: from + 1, to: to - 1 }
}

/** Where the commas are that are neither in brackets nor in a string. */
function* commasIn(text: string, { from, to }: Span): Generator<number, void> {
  let depth = 0
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = wholeString(text, at)
    else if (code === 0x7b || code === 0x5b) depth += 1
    else if (code === 0x7d || code === 0x5d) depth -= 1
    else if (code === COMMA && depth === 0) yield at
  }
}

/**
 * Where the string that begins here ends, or undefined where `most` comes first. A quote behind an odd number of backslashes belongs to
 * the string.
 */
function endOfString(text: string, begin: number, most: number): number | undefined {
  const first = text.indexOf('"', begin + 1)
  if (first < 0) throw new SyntaxError('A string in JSON text has no end.')
  let before = first
  while (before > begin && first - before < PIECE && text.charCodeAt(before - 1) === BACKSLASH) before -= 1
  const isCounted = first - before < PIECE
  if (isCounted && (first - before) % 2 === 0) return first
  // Walked from here on: to go from quote to quote takes ten times as long where each has a backslash before it.
  for (let at = isCounted ? first + 1 : begin + 1; at < text.length; at += 1) {
    if (at > most) return undefined
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) at += 1
    else if (code === QUOTE) return at
  }
  throw new SyntaxError('A string in JSON text has no end.')
}

function wholeString(text: string, begin: number): number {
  return endOfString(text, begin, text.length) ?? text.length
}

/** The same of a string of any length: 16 MiB of quotes behind backslashes take 70 ms. */
function* endOfLongString(text: string, begin: number): Steps<number> {
  const found = endOfString(text, begin, begin + PIECE)
  if (found !== undefined) return found
  let next = begin + PIECE
  for (let at = begin + 1; at < text.length; at += 1) {
    if (at > next) {
      next = at + PIECE
      yield
    }
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) at += 1
    else if (code === QUOTE) return at
  }
  throw new SyntaxError('A string in JSON text has no end.')
}

/**
 * Whether an object in parsed text has a `constructor` with a `prototype`, which would change other objects where the value is merged
 * into one.
 */
export function* hasPrototypeInSteps(whole: JsonValue, text: string): Steps<boolean> {
  if (!(yield* mayNameConstructor(text))) return false
  const open: JsonValue[] = [whole]
  for (let looked = 1; ; looked += 1) {
    const value = open.pop()
    if (value === undefined) return false
    if (looked % LOOKED === 0) yield
    if (value === null || typeof value !== 'object') continue
    if (isJsonObject(value) && Object.hasOwn(value, 'constructor')) {
      const { constructor: made } = value
      if (isJsonObject(made) && Object.hasOwn(made, 'prototype')) return true
    }
    for (const item of Object.values(value)) open.push(item)
  }
}

const LOOKED = 10_000
const FAR = 1_048_576
/** As it is written, and where letters of it are escapes. */
const CONSTRUCTOR = ['"constructor"', '\\u00']

function* mayNameConstructor(text: string): Steps<boolean> {
  for (let from = 0; from < text.length; from += FAR) {
    const piece = text.slice(from, from + FAR + 16)
    if (CONSTRUCTOR.some((name) => piece.includes(name))) return true
    yield
  }
  return false
}
