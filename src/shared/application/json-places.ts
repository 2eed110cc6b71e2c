/**
 * JSON of a file that people write and merge: its value, where each part of it begins, and what `JSON.parse` passes over: a name
 * that an object has twice, as after a merge, and numbers that lose digits.
 */
import { atOnce, type Steps } from '../cooperative.ts'
import { type JsonValue, jsonProblem, MAX_DEPTH } from '../json.ts'
import { longNumberIn, longNumberProblem } from '../numbers/exact-json.ts'

/** The first line and the first column are 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

export type JsonPath = readonly (string | number)[]

export interface PlacedProblem extends Place {
  readonly message: string
}

export interface PlacedJson {
  /** undefined where the text cannot be read. */
  readonly value: JsonValue | undefined
  readonly problems: readonly PlacedProblem[]
  /** Of a part that is missing, the place of what should hold it. */
  readonly placeOf: (path: JsonPath) => Place
}

/** Where a value begins, and its parts. */
type Spot = number | { readonly at: number; readonly parts: Map<string, Spot> | Spot[] }

interface Read {
  readonly spot: Spot
  readonly value: JsonValue
}

/** More of one file help no one. */
const MOST_PROBLEMS = 100

export function readPlacedJson(text: string): PlacedJson {
  return atOnce(placedJsonSteps(text))
}

/** The same, in steps of 16,384 characters: a megabyte takes 0.2 s. */
export function* placedJsonSteps(text: string): Steps<PlacedJson> {
  const starts = lineStarts(text)
  const place = (at: number) => placeAt(starts, at)
  const scan: Scan = { text, at: 0, repeated: [] }
  let read: Read
  try {
    read = yield* scanSteps(scan)
    skipSpace(scan)
    if (scan.at < text.length) throw new ScanError(scan.at, 'there is text behind the end of the JSON.')
  } catch (error) {
    if (!(error instanceof ScanError)) throw error
    const problems = [{ ...place(error.at), message: `not JSON: ${error.message}` }]
    return { value: undefined, problems, placeOf: () => place(0) }
  }
  const { spot, value } = read
  const problems = scan.repeated
    .slice(0, MOST_PROBLEMS)
    .map(({ name, at }) => ({ ...place(at), message: `${JSON.stringify(name)} stands twice in one object.` }))
  yield
  const long = longNumberIn(text)
  yield
  const wrong = long ? longNumberProblem(long) : jsonProblem(value)
  if (wrong !== undefined) problems.push({ ...place(0), message: `the file ${wrong}.` })
  return { value, problems, placeOf: (path) => place(spotAt(spot, path)) }
}

function spotAt(spot: Spot, path: JsonPath): number {
  let found = spot
  for (const part of path) {
    if (typeof found === 'number') break
    const { parts } = found
    const next = Array.isArray(parts) ? parts[Number(part)] : parts.get(String(part))
    if (next === undefined) break
    found = next
  }
  return typeof found === 'number' ? found : found.at
}

/** Offsets at which lines begin. */
function lineStarts(text: string): readonly number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

function placeAt(starts: readonly number[], at: number): Place {
  let [low, high] = [0, starts.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((starts[middle] ?? 0) <= at) low = middle
    else high = middle - 1
  }
  return { line: low + 1, column: at - (starts[low] ?? 0) + 1 }
}

interface Scan {
  readonly text: string
  at: number
  readonly repeated: { readonly name: string; readonly at: number }[]
}

class ScanError extends Error {
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

/** What is open: an object with the name that its next value has, or a list. */
type Open =
  | { readonly at: number; readonly items: JsonValue[]; readonly spots: Spot[] }
  | {
      readonly at: number
      readonly members: [string, JsonValue][]
      readonly parts: Map<string, Spot>
      name: string
    }

/** Characters between two steps. */
const PIECE = 16_384
/** As of the body of a request, which a push sends: what is larger is made to take long. */
const MOST_PARTS = 50_000
const CHARACTERS_OF_PART = 20
const MOST_NAMES = 25_000

/** Reads one value. What is open is a list and no stack of calls, so that it can be left off between any two parts. */
function* scanSteps(scan: Scan): Steps<Read> {
  const { text } = scan
  const open: Open[] = []
  const most = Math.max(MOST_PARTS, text.length / CHARACTERS_OF_PART)
  let [looked, opened] = [0, 0]
  for (;;) {
    skipSpace(scan)
    if (scan.at - looked > PIECE) {
      looked = scan.at
      yield
    }
    if (open.length > MAX_DEPTH) throw new ScanError(scan.at, `it is nested deeper than ${MAX_DEPTH} levels.`)
    let read: Read | undefined
    if (text[scan.at] === '{' || text[scan.at] === '[') {
      if (++opened > most)
        throw new ScanError(scan.at, 'it holds more than 50,000 objects and lists that are nearly empty.')
      read = begin(scan, open)
    } else read = scanScalar(scan)
    while (read !== undefined) {
      const top = open.at(-1)
      if (top === undefined) return read
      read = goOn(scan, open, top, read)
    }
  }
}

/** Opens an object or a list. What is empty is read at once. */
function begin(scan: Scan, open: Open[]): Read | undefined {
  const { text, at } = scan
  const isList = text[at] === '['
  scan.at += 1
  skipSpace(scan)
  if (text[scan.at] === (isList ? ']' : '}')) {
    scan.at += 1
    return { spot: at, value: isList ? [] : {} }
  }
  const parts = new Map<string, Spot>()
  if (isList) open.push({ at, items: [], spots: [] })
  else open.push({ at, members: [], parts, name: scanName(scan, parts) })
  return undefined
}

/** Adds a value to what is open. What that closes is read; undefined: another value comes. */
function goOn(scan: Scan, open: Open[], top: Open, { spot, value }: Read): Read | undefined {
  const isList = 'items' in top
  if (isList) {
    top.items.push(value)
    top.spots.push(spot)
  } else {
    top.members.push([top.name, value])
    top.parts.set(top.name, spot)
    if (top.parts.size > MOST_NAMES)
      throw new ScanError(top.at, `this object has more than ${MOST_NAMES.toLocaleString('en')} names.`)
  }
  skipSpace(scan)
  const end = isList ? ']' : '}'
  const next = scan.text[scan.at]
  scan.at += 1
  if (next === end) {
    open.pop()
    if (isList) return { spot: { at: top.at, parts: top.spots }, value: top.items }
    return { spot: { at: top.at, parts: top.parts }, value: Object.fromEntries(top.members) }
  }
  if (next !== ',') throw new ScanError(scan.at - 1, `a comma or ${end} is missing before this.`)
  if (!isList) top.name = scanName(scan, top.parts)
  return undefined
}

function scanScalar(scan: Scan): Read {
  const spot = scan.at
  const first = scan.text[spot]
  if (first === undefined) throw new ScanError(spot, 'it ends too early.')
  return { spot, value: first === '"' ? scanText(scan) : scanWord(scan) }
}

function scanName(scan: Scan, parts: ReadonlyMap<string, Spot>): string {
  skipSpace(scan)
  const { at, text } = scan
  if (text[at] !== '"') throw new ScanError(at, 'a name in double quotes must stand here.')
  const name = scanText(scan)
  if (parts.has(name)) scan.repeated.push({ name, at })
  skipSpace(scan)
  if (text[scan.at] !== ':') throw new ScanError(scan.at, 'a colon is missing before this.')
  scan.at += 1
  return name
}

/** What it holds is checked by `JSON.parse`. */
function scanText(scan: Scan): string {
  const { text, at } = scan
  for (let end = at + 1; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (code < 0x20)
      throw new ScanError(end, 'a text has a line break or control character; write it as \\n.')
    if (code === BACKSLASH) end += 1
    else if (code === QUOTE) {
      scan.at = end + 1
      return parsedText(text.slice(at, end + 1), at)
    }
  }
  throw new ScanError(at, 'the text that begins here has no end.')
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

function parsedText(quoted: string, at: number): string {
  // Most have no escape, and are then what stands between the quotes.
  if (!quoted.includes('\\')) return quoted.slice(1, -1)
  try {
    return String(JSON.parse(quoted))
  } catch {
    throw new ScanError(at, 'the text that begins here has an unknown escape such as \\x.')
  }
}

/** A number, true, false or null. */
function scanWord(scan: Scan): JsonValue {
  const { text, at } = scan
  let end = at
  while (end < text.length && !' \t\n\r,]}:"[{'.includes(text[end] ?? '')) end += 1
  const word = text.slice(at, Math.max(end, at + 1))
  if (!/^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/.test(word))
    throw new ScanError(at, `${JSON.stringify(word.slice(0, 40))} is no value of JSON.`)
  scan.at = end
  if (word === 'null') return null
  return word === 'true' || (word === 'false' ? false : Number(word))
}

function skipSpace(scan: Scan): void {
  while (' \t\n\r'.includes(scan.text[scan.at] ?? 'x')) scan.at += 1
}
