/**
 * Where a part is in a text, in a time that grows with the length of the text alone. What JavaScript has for it takes the
 * product of both lengths in the worst case: 1,000,000 times `a` without a `b` between two thousand `a` took 0.6 s, and longer
 * parts took minutes.
 *
 * The first character is searched as JavaScript does it, which is quick where it is rare. Where it is not, or where much of the
 * part is found often, the search goes on by Knuth, Morris and Pratt: about 15 ns for each character.
 */
import type { FunctionContext } from '../language/function-declaration.ts'

/** Finds the next place from there on, or -1. Places are asked for in ascending order. */
export type TextSearch = (from: number) => number

/** In so short a text JavaScript's own search takes at most 20 ns for each character, and mostly less than any other. */
const SHORT = 250
const WORK_OF_SHORT = 0.2
const FREE = 32

/** Work of one place where the first character is, and of one character that is compared. */
const CANDIDATE = 0.3
const COMPARED = 0.02
const BY_TABLE = 0.15
/** The share of places, and of compared characters, from which on the table is quicker. */
const OFTEN = 1 / 16
const LONG = 1 / 2
const TO_BEGIN_WITH = 64

export function textSearch(context: FunctionContext, text: string, part: string): TextSearch {
  if (text.length < FREE || part.length === 0 || part.length > text.length)
    return (from) => text.indexOf(part, from)
  if (text.length <= SHORT) {
    context.spend(0, text.length * WORK_OF_SHORT)
    return (from) => text.indexOf(part, from)
  }
  if (part.length === 1) return countedPlaces(context, text, part)
  return guardedSearch(context, text, part)
}

/** One character: each place costs a call, and everything between is searched 16 characters at a time. */
function countedPlaces(context: FunctionContext, text: string, part: string): TextSearch {
  let places = 0
  return (from) => {
    places += 1
    if (places % 1_000 === 0) context.spend(0, 1_000 * CANDIDATE)
    return text.indexOf(part, from)
  }
}

function guardedSearch(context: FunctionContext, text: string, part: string): TextSearch {
  const first = part.charAt(0)
  let [candidates, compared] = [0, 0]
  let byTable: TextSearch | undefined
  return (from) => {
    if (byTable) return byTable(from)
    const before = candidates * CANDIDATE + compared * COMPARED
    for (let at = text.indexOf(first, from); at !== -1; at = text.indexOf(first, at + 1)) {
      candidates += 1
      let same = 1
      while (same < part.length && text.charCodeAt(at + same) === part.charCodeAt(same)) {
        same += 1
        if (compared + same > TO_BEGIN_WITH + at * LONG) break
      }
      compared += same
      if (same === part.length) {
        context.spend(0, candidates * CANDIDATE + compared * COMPARED - before)
        return at
      }
      if (candidates <= TO_BEGIN_WITH + at * OFTEN && compared <= TO_BEGIN_WITH + at * LONG) continue
      context.spend(0, candidates * CANDIDATE + (text.length - at + part.length) * BY_TABLE)
      byTable = tableSearch(text, part)
      return byTable(at)
    }
    context.spend(0, candidates * CANDIDATE + compared * COMPARED - before)
    return -1
  }
}

function tableSearch(text: string, part: string): TextSearch {
  const [codes, requested] = [codesOf(text), codesOf(part)]
  const table = borders(requested)
  return (from) => nextByTable(codes, requested, table, from)
}

/** Units of UTF-16: ten times as fast to go through as a text. */
function codesOf(text: string): Uint16Array {
  const bytes = Buffer.alloc(2 * text.length)
  bytes.write(text, 'utf16le')
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length)
}

function nextByTable(codes: Uint16Array, requested: Uint16Array, table: Int32Array, from: number): number {
  let same = 0
  for (let at = from; at < codes.length; at += 1) {
    const code = codes[at]
    while (same > 0 && requested[same] !== code) same = table[same - 1] ?? 0
    if (requested[same] === code) same += 1
    if (same === requested.length) return at - same + 1
  }
  return -1
}

/** For each beginning of the part: how much of its end is a beginning, too. */
function borders(requested: Uint16Array): Int32Array {
  const table = new Int32Array(requested.length)
  let same = 0
  for (let at = 1; at < requested.length; at += 1) {
    const code = requested[at]
    while (same > 0 && requested[same] !== code) same = table[same - 1] ?? 0
    if (requested[same] === code) same += 1
    table[at] = same
  }
  return table
}

/** The last place: the first one of the part that is read backwards, in the text that is. */
export function lastPlace(context: FunctionContext, text: string, part: string): number {
  if (text.length < FREE || part.length <= 1 || part.length > text.length) return text.lastIndexOf(part)
  context.spend(0, (text.length + part.length) * BY_TABLE)
  const [codes, requested] = [codesOf(text).reverse(), codesOf(part).reverse()]
  const place = nextByTable(codes, requested, borders(requested), 0)
  return place === -1 ? -1 : text.length - part.length - place
}
