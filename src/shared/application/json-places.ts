/**
 * JSON of a file that people write and merge: its value, where each part of it begins, and what `JSON.parse` passes over: a name
 * that an object has twice, as after a merge, and numbers that lose digits.
 */
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
interface Spot {
  readonly at: number
  readonly parts?: ReadonlyMap<string | number, Spot>
}

/** More of one file help no one. */
const MOST_PROBLEMS = 100

export function readPlacedJson(text: string): PlacedJson {
  const starts = lineStarts(text)
  const place = (at: number) => placeAt(starts, at)
  const refused = (at: number, message: string): PlacedJson => ({
    value: undefined,
    problems: [{ ...place(at), message }],
    placeOf: () => place(0),
  })
  const scan: Scan = { text, at: 0, repeated: [] }
  let spot: Spot
  let value: JsonValue
  try {
    spot = scanValue(scan, 0)
    skipSpace(scan)
    if (scan.at < text.length) throw new ScanError(scan.at, 'there is text behind the end of the JSON.')
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof ScanError) return refused(error.at, `not JSON: ${error.message}`)
    return refused(scan.at, `not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  const problems = scan.repeated
    .slice(0, MOST_PROBLEMS)
    .map(({ name, at }) => ({ ...place(at), message: `${JSON.stringify(name)} stands twice in one object.` }))
  const long = longNumberIn(text)
  const wrong = long ? longNumberProblem(long) : jsonProblem(value)
  if (wrong !== undefined) problems.push({ ...place(0), message: `the file ${wrong}.` })
  return { value, problems, placeOf: (path) => place(spotAt(spot, path).at) }
}

function spotAt(spot: Spot, path: JsonPath): Spot {
  let found = spot
  for (const part of path) {
    const next = found.parts?.get(part)
    if (next === undefined) break
    found = next
  }
  return found
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

function scanValue(scan: Scan, depth: number): Spot {
  skipSpace(scan)
  const { text, at } = scan
  if (depth > MAX_DEPTH) throw new ScanError(at, `it is nested deeper than ${MAX_DEPTH} levels.`)
  switch (text[at]) {
    case '{':
      return scanParts(scan, depth, '}')
    case '[':
      return scanParts(scan, depth, ']')
    case '"':
      scanText(scan)
      return { at }
    case undefined:
      throw new ScanError(at, 'it ends too early.')
    default:
      return scanWord(scan)
  }
}

/** The parts of an object or a list, up to its end. */
function scanParts(scan: Scan, depth: number, end: '}' | ']'): Spot {
  const { at } = scan
  const parts = new Map<string | number, Spot>()
  scan.at += 1
  skipSpace(scan)
  if (scan.text[scan.at] === end) {
    scan.at += 1
    return { at, parts }
  }
  for (;;) {
    const name = end === '}' ? scanName(scan, parts) : parts.size
    parts.set(name, scanValue(scan, depth + 1))
    skipSpace(scan)
    const next = scan.text[scan.at]
    scan.at += 1
    if (next === end) return { at, parts }
    if (next !== ',') throw new ScanError(scan.at - 1, `a comma or ${end} is missing before this.`)
  }
}

function scanName(scan: Scan, parts: ReadonlyMap<string | number, Spot>): string {
  skipSpace(scan)
  const { at, text } = scan
  if (text[at] !== '"') throw new ScanError(at, 'a name in double quotes must stand here.')
  const name: unknown = JSON.parse(scanText(scan))
  if (parts.has(String(name))) scan.repeated.push({ name: String(name), at })
  skipSpace(scan)
  if (text[scan.at] !== ':') throw new ScanError(scan.at, 'a colon is missing before this.')
  scan.at += 1
  return String(name)
}

/** With its quotes. What it holds is checked by `JSON.parse`. */
function scanText(scan: Scan): string {
  const { text, at } = scan
  for (let end = at + 1; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (code < 0x20)
      throw new ScanError(end, 'a text has a line break or control character; write it as \\n.')
    if (code === BACKSLASH) end += 1
    else if (code === QUOTE) {
      scan.at = end + 1
      return checkedText(text.slice(at, end + 1), at)
    }
  }
  throw new ScanError(at, 'the text that begins here has no end.')
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

function checkedText(quoted: string, at: number): string {
  try {
    JSON.parse(quoted)
    return quoted
  } catch {
    throw new ScanError(at, 'the text that begins here has an unknown escape such as \\x.')
  }
}

/** A number, true, false or null. */
function scanWord(scan: Scan): Spot {
  const { text, at } = scan
  let end = at
  while (end < text.length && !' \t\n\r,]}:"[{'.includes(text[end] ?? '')) end += 1
  const word = text.slice(at, Math.max(end, at + 1))
  if (!/^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/.test(word))
    throw new ScanError(at, `${JSON.stringify(word.slice(0, 40))} is no value of JSON.`)
  scan.at = end
  return { at }
}

function skipSpace(scan: Scan): void {
  while (' \t\n\r'.includes(scan.text[scan.at] ?? 'x')) scan.at += 1
}
