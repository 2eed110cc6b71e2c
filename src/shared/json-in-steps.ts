/**
 * Large JSON text, parsed or looked through piece by piece: 10,000 blocks are 8 MB, which take 60 to 90 ms to parse at once. Finding
 * where pieces end costs a third on top, and a third of parsing where nothing else is wanted.
 */
import type { Steps } from './cooperative.ts'
import type { JsonValue } from './json.ts'

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

/** What `JSON.parse` gives. A list, and lists that an object has, are parsed in pieces, but not what they hold. */
export function* jsonInSteps(text: string): Steps<JsonValue> {
  const whole = trimmed(text, { from: 0, to: text.length })
  if (text.length <= PIECE) return JSON.parse(text)
  if (text[whole.from] === '[') return yield* listIn(text, inside(whole))
  if (text[whole.from] !== '{') return JSON.parse(text)
  const members: [string, JsonValue][] = []
  for (const { key, value } of jsonMembers(text)) {
    members.push([key, yield* valueIn(text, value)])
    yield
  }
  return Object.fromEntries(members)
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

function* valueIn(text: string, value: Span): Steps<JsonValue> {
  if (value.to - value.from > PIECE && text[value.from] === '[') return yield* listIn(text, inside(value))
  return JSON.parse(text.slice(value.from, value.to))
}

function* listIn(text: string, { from, to }: Span): Steps<JsonValue[]> {
  const items: JsonValue[] = []
  const take = (piece: Span) => {
    const some: unknown = JSON.parse(`[${text.slice(piece.from, piece.to)}]`)
    if (Array.isArray(some)) for (const item of some) items.push(item)
  }
  let taken = from
  for (const comma of commasIn(text, { from, to })) {
    if (comma - taken < PIECE) continue
    take({ from: taken, to: comma })
    taken = comma + 1
    yield
  }
  take({ from: taken, to })
  return items
}

function memberIn(text: string, { from, to }: Span): JsonMember {
  const name = text.indexOf('"', from)
  const end = endOfString(text, name) + 1
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
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === 0x7b || code === 0x5b) depth += 1
    else if (code === 0x7d || code === 0x5d) depth -= 1
    else if (code === COMMA && depth === 0) yield at
  }
}

/** Where the string that begins here ends. A quote behind an odd number of backslashes belongs to it. */
function endOfString(text: string, begin: number): number {
  for (let at = text.indexOf('"', begin + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at
    while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1
    if ((at - before) % 2 === 0) return at
  }
  throw new SyntaxError('A string in JSON text has no end.')
}
