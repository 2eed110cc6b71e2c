/**
 * What makes JSON text take too long to be parsed, checked and stored in one turn of the event loop: not its length, but its many parts. It is
 * counted before the text is parsed: where half a million brackets are never closed, parsing takes 0.2 s, and to say where another 0.1.
 */
import { MAX_DEPTH } from './json.ts'

/** In words that finish "The body …". */
export function shapeProblem(text: string): string | undefined {
  const parts = mayBeLarge(text) ? partsProblem(text) : undefined
  if (text.length > MOST_VALUES && hasManyValues(text))
    return `holds more than ${MOST_VALUES.toLocaleString('en')} values`
  return parts
}

/** Objects and lists of a text, whatever its size: parsing, checking and storing one takes 0.5 to 0.7 µs. */
const MOST_PARTS = 50_000
/** A text with more of them has so many characters for each, as data of a use has: `{},{},` is made to take long. */
const CHARACTERS_OF_PART = 20
/** Values of a text, whatever its size. A megabyte of `1,` has fewer, and a flow takes no value that holds twice as many. */
const MOST_VALUES = 600_000
/** Names in one object: 70,000 different ones take 90 ms. */
const MOST_NAMES = 25_000

/** Whether the text has so many brackets or colons that it is walked. Brackets side by side are many: 350,000 take 3 ms to go past. */
function mayBeLarge(text: string): boolean {
  // 65 opening and 65 closing ones.
  if (text.length <= 2 * MAX_DEPTH) return false
  return occursMore(text, ['{', '['], MAX_DEPTH) || occursMore(text, [':'], MOST_NAMES)
}

function occursMore(text: string, characters: readonly string[], most: number): boolean {
  let left = most
  for (const character of characters)
    for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1))
      if (--left < 0) return true
  return false
}

// The studio has this file too: a browser has no `Buffer`.
const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, COLON, COMMA] = new TextEncoder().encode(
  '"\\{}[]:,',
)

/** Of valid JSON; a walk of a megabyte takes 3 ms. */
function partsProblem(text: string): string | undefined {
  const most = Math.max(MOST_PARTS, text.length / CHARACTERS_OF_PART)
  // By depth: how many names the open object has so far.
  const names: number[] = [0]
  let [depth, parts] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfText(text, at)
    else if (code === OPEN || code === OPEN_LIST) {
      depth += 1
      parts += 1
      names[depth] = 0
    } else if (code === CLOSE || code === CLOSE_LIST) depth -= 1
    else if (code === COLON) {
      const count = (names[depth] ?? 0) + 1
      names[depth] = count
      if (count > MOST_NAMES) return `has an object with more than ${MOST_NAMES.toLocaleString('en')} names`
    }
    if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`
    if (parts > most)
      return `holds more than ${MOST_PARTS.toLocaleString('en')} objects and lists that are nearly empty`
  }
  return undefined
}

/** Commas in texts do not count. A walk: going from comma to comma with `indexOf` takes 11 ms for half a million of them, and this 2. */
function hasManyValues(text: string): boolean {
  let values = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfText(text, at)
    else if (code === COMMA && ++values > MOST_VALUES) return true
  }
  return false
}

/** Where the quote is that ends what the one at this place begins. */
function endOfText(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) at += 1
    else if (code === QUOTE) return at
  }
  return text.length
}
