/**
 * JSON text whose numbers stay what they are. A double keeps 15 digits of any number, and `JSON.parse` silently changes longer
 * ones: 750727362669608961 to 750727362669609000. Such a number is refused with its field, at every door.
 */
import { atOnce, type Steps } from '../cooperative.ts'
import { type JsonValue, jsonProblem, MAX_DEPTH, MOST_FIELDS, SHORTEST_MANY_FIELDS } from '../json.ts'
import { hasPrototypeInSteps, jsonInSteps, TooDeep, TooManyNames } from '../json-in-steps.ts'

export interface LongNumber {
  readonly text: string
  /** Dotted, with the places of lists; empty if the whole text is the number. */
  readonly field: string
}

/** `problem` finishes the sentence "The body …"; `field` says where. */
export type ReadJson = { readonly value: JsonValue } | { readonly problem: string; readonly field?: string }

/** What a text of another program holds. Never throws: text that is no JSON, or has too many parts for one turn, is a problem too. */
export function readJson(text: string): ReadJson {
  const problem = shapeProblem(text)
  return problem === undefined ? atOnce(readJsonInSteps(text)) : { problem }
}

const MOST_NAMES_IN_STEPS = 100_000

/** The same of a text of any length: ten megabytes take up to a second. */
export function* readJsonInSteps(text: string): Steps<ReadJson> {
  let [value, problem]: [JsonValue, string | undefined] = [null, undefined]
  try {
    value = yield* jsonInSteps(text, {
      look(piece, depth) {
        problem ??= jsonProblem(piece, depth)
      },
      mostNames: MOST_NAMES_IN_STEPS,
      mostDepth: MAX_DEPTH,
    })
  } catch (error) {
    if (error instanceof TooDeep) return { problem: `is nested deeper than ${MAX_DEPTH} levels` }
    if (error instanceof TooManyNames)
      return { problem: `has an object with more than ${MOST_NAMES_IN_STEPS.toLocaleString('en')} names` }
    return { problem: NOT_JSON }
  }
  const long = yield* longNumberInSteps(text)
  if (long) return { problem: longNumberProblem(long), ...(long.field !== '' && { field: long.field }) }
  return problem === undefined ? { value } : { problem }
}

/** What is no JSON, and the members that would change other objects: of {@link ReadJson}. */
export const NOT_JSON = 'is not JSON'
export const CHANGES_PROTOTYPE = 'has a key that would change the prototype of objects'

/** As {@link readJsonInSteps}, of what is stored or given to flows. Its parts are counted before it is parsed. */
export function* checkedJsonInSteps(text: string): Steps<ReadJson> {
  const shape = yield* shapeProblemInSteps(text)
  if (shape !== undefined) return { problem: shape }
  const read = yield* readJsonInSteps(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text)
  if ('problem' in read) return read
  return (yield* hasPrototypeInSteps(read.value, text)) ? { problem: CHANGES_PROTOTYPE } : read
}

const BYTE_ORDER_MARK = '\ufeff'
const SHOWN = 40

export function longNumberProblem({ text, field }: LongNumber): string {
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
  const place = field === '' ? '' : ` at ${field}`
  return `holds the number ${shown}${place}, which JSON numbers cannot keep digit by digit: send it as a text`
}

/** Digits and points side by side, and exponents of three digits: what else a text holds is kept. */
const LONG_RUN = 16
const LONG_EXPONENT = /[eE][+-]?\d{3}/

/**
 * Whether a text has either. Every 16th character is looked at, and those before it where it is a digit: 1 ms for a megabyte, where a regular
 * expression took 40 ms for one of numbers with 15 digits.
 */
function* mayHoldLong(json: string): Steps<boolean> {
  let next = FAR
  for (let at = LONG_RUN - 1; at < json.length; ) {
    if (at > next) {
      next = at + FAR
      yield
    }
    let before = at
    while (before > at - LONG_RUN && isDigitOrPoint(json.charCodeAt(before))) before -= 1
    if (before === at - LONG_RUN) return true
    at = before + LONG_RUN
  }
  for (let from = 0; from < json.length; from += FAR) {
    if (LONG_EXPONENT.test(json.slice(from, from + FAR + LONGEST_EXPONENT))) return true
    yield
  }
  return false
}

/** Characters of one step that looks at few of them. */
const FAR = 1_048_576
/** Of which a piece may have cut off all but one. */
const LONGEST_EXPONENT = 5

function isDigitOrPoint(code: number): boolean {
  return (code >= ZERO && code <= NINE) || code === POINT
}

/** The first number of valid JSON that would not keep its digits. */
export function longNumberIn(json: string): LongNumber | undefined {
  return atOnce(longNumberInSteps(json))
}

export function* longNumberInSteps(json: string): Steps<LongNumber | undefined> {
  const [first] = yield* longNumbers(json, 1)
  return first && { text: json.slice(first.from, first.to), field: yield* fieldAt(json, first.from) }
}

/** Valid JSON with numbers that would not keep their digits as texts. */
export function longNumbersAsTexts(json: string): string {
  return atOnce(longNumbersAsTextsInSteps(json))
}

export function* longNumbersAsTextsInSteps(json: string): Steps<string> {
  let written = ''
  let at = 0
  for (const { from, to } of yield* longNumbers(json, Number.POSITIVE_INFINITY)) {
    written += `${json.slice(at, from)}"${json.slice(from, to)}"`
    at = to
  }
  return written + json.slice(at)
}

/** {@link keepsDigits}, without cutting the text where that is not needed: a megabyte holds 500,000 numbers. */
function isExact(text: string): boolean {
  if (text.length > LONGEST_EXACT) return false
  const number = Number(text)
  const size = Math.abs(number)
  if (text.length <= EXACT_DIGITS && size > SMALL && size < LARGE) return true
  if (String(number) === text) return true
  return (text.includes('.') && number.toPrecision(DOUBLE_DIGITS) === text) || keepsDigits(text)
}

/** Between these, 15 digits are kept. */
const [SMALL, LARGE] = [1e-290, 1e290]
const DOUBLE_DIGITS = 17
/** Longer ones are not looked at: all digits of a double are 767, and those of 16 MiB take 0.2 s. */
const LONGEST_EXACT = 1_000
/** Digits that every double keeps, unless its exponent is extreme. */
const EXACT_DIGITS = 15
const EXACT_EXPONENT = 290

/**
 * Whether the number that a text spells has these digits afterwards. 17 digits with a fraction that are just how a double is
 * printed, as programs in C do (0.10000000000000001), are that double.
 */
export function keepsDigits(text: string): boolean {
  const { digits, exponent } = digitsOf(text)
  if (digits.length <= EXACT_DIGITS && Math.abs(exponent) < EXACT_EXPONENT) return true
  const number = Number(text)
  if (!Number.isFinite(number)) return false
  const isSame = (other: string) => {
    const written = digitsOf(other)
    return written.digits === digits && written.exponent === exponent
  }
  return isSame(String(number)) || (exponent < 0 && isSame(number.toPrecision(DOUBLE_DIGITS)))
}

/** Without a sign, and without zeros on both sides. */
function digitsOf(text: string): { readonly digits: string; readonly exponent: number } {
  const [mantissa = '', exponent = '0'] = text.trim().replace(/^[+-]/, '').toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const all = whole + fraction
  let [from, to] = [0, all.length]
  while (from < to && all[from] === '0') from += 1
  while (to > from && all[to - 1] === '0') to -= 1
  if (from === to) return { digits: '', exponent: 0 }
  return { digits: all.slice(from, to), exponent: Number(exponent) - fraction.length + all.length - to }
}

const [QUOTE, BACKSLASH, MINUS, ZERO, NINE] = [0x22, 0x5c, 0x2d, 0x30, 0x39]
const [POINT, PLUS, SMALL_E, LARGE_E] = [0x2e, 0x2b, 0x65, 0x45]
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, COLON, COMMA] = [0x7b, 0x7d, 0x5b, 0x5d, 0x3a, 0x2c]

/** Characters of one step. */
const PIECE = 65_536

interface Span {
  readonly from: number
  readonly to: number
}

/** Where the first numbers are that would not keep their digits. One loop without objects: a megabyte holds 500,000 numbers. */
function* longNumbers(json: string, most: number): Steps<readonly Span[]> {
  if (!(yield* mayHoldLong(json))) return []
  const found: Span[] = []
  let next = PIECE
  for (let at = 0; at < json.length && found.length < most; at += 1) {
    if (at > next) {
      next = at + PIECE
      yield
    }
    const code = json.charCodeAt(at)
    if (code === QUOTE) at = endOfShortText(json, at) ?? (yield* endOfText(json, at))
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const from = at
      let hasExponent = false
      for (let more = json.charCodeAt(at + 1); isOfNumber(more); more = json.charCodeAt(at + 1)) {
        if (more === SMALL_E || more === LARGE_E) hasExponent = true
        at += 1
        if ((at - from) % PIECE === 0) yield
      }
      const to = at + 1
      if ((hasExponent || to - from > EXACT_DIGITS) && !isExact(json.slice(from, to)))
        found.push({ from, to })
    }
  }
  return found
}

function isOfNumber(code: number): boolean {
  return isDigitOrPoint(code) || code === SMALL_E || code === LARGE_E || code === MINUS || code === PLUS
}

/** Where the quote is that ends what the one at this place begins. Undefined if that is far away. */
function endOfShortText(json: string, from: number): number | undefined {
  const most = Math.min(json.length, from + PIECE)
  for (let at = from + 1; at < most; at += 1) {
    const code = json.charCodeAt(at)
    if (code === BACKSLASH) at += 1
    else if (code === QUOTE) return at
  }
  return most === json.length ? json.length : undefined
}

/** The same of a text of any length: to walk over 16 MiB takes 70 ms. */
function* endOfText(json: string, from: number): Steps<number> {
  let next = from
  for (let at = from + 1; at < json.length; at += 1) {
    if (at > next) {
      next = at + PIECE
      yield
    }
    const code = json.charCodeAt(at)
    if (code === BACKSLASH) at += 1
    else if (code === QUOTE) return at
  }
  return json.length
}

/** The dotted name of what is at a place of valid JSON. */
function* fieldAt(json: string, place: number): Steps<string> {
  const path: (string | number)[] = []
  let text = ''
  let next = PIECE
  for (let at = 0; at < place; at += 1) {
    if (at > next) {
      next = at + PIECE
      yield
    }
    const character = json[at]
    if (character === '"') {
      const end = endOfShortText(json, at) ?? (yield* endOfText(json, at))
      text = json.slice(at, end + 1)
      at = end
    } else if (character === '{') path.push('')
    else if (character === '[') path.push(0)
    else if (character === '}' || character === ']') path.pop()
    else if (character === ':') path[path.length - 1] = String(JSON.parse(text))
    else if (character === ',') {
      const last = path.at(-1)
      if (typeof last === 'number') path[path.length - 1] = last + 1
    }
  }
  return path.join('.')
}

/**
 * What makes JSON text take too long to be parsed, checked and stored in one turn of the event loop: not its length, but its many parts.
 * Counted before the text is parsed: where half a million brackets are never closed, parsing takes 0.2 s, and to say where another 0.1.
 * In words that finish "The body …".
 */
export function shapeProblem(text: string): string | undefined {
  return atOnce(shapeProblemInSteps(text))
}

/** The same of a text of any length: 16 MiB take 80 ms. */
export function* shapeProblemInSteps(text: string): Steps<string | undefined> {
  const parts = mayBeLarge(text) ? yield* partsProblem(text) : undefined
  if (text.length > MOST_VALUES && (yield* hasManyValues(text)))
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

/** Of valid JSON; a walk of a megabyte takes 3 ms. */
function* partsProblem(text: string): Steps<string | undefined> {
  const most = Math.max(MOST_PARTS, text.length / CHARACTERS_OF_PART)
  // By depth: how many names the open object has so far.
  const names: number[] = [0]
  let [depth, parts, next] = [0, 0, PIECE]
  for (let at = 0; at < text.length; at++) {
    if (at > next) {
      next = at + PIECE
      yield
    }
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfShortText(text, at) ?? (yield* endOfText(text, at))
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

/** Whether a JSON text has more fields than a document may have. Read before it is parsed, which takes 30 times as long. */
export function hasManyFields(text: string): boolean {
  return atOnce(hasManyFieldsInSteps(text))
}

export function* hasManyFieldsInSteps(text: string): Steps<boolean> {
  // Searched for and not walked to: a megabyte without any takes 0.1 ms, and a walk 7 ms.
  if (text.length <= SHORTEST_MANY_FIELDS || !occursMore(text, [':'], MOST_FIELDS)) return false
  let [fields, next] = [0, PIECE]
  for (let at = 0; at < text.length; at++) {
    if (at > next) {
      next = at + PIECE
      yield
    }
    const code = text.charCodeAt(at)
    if (code === COLON && ++fields > MOST_FIELDS) return true
    if (code === QUOTE) at = endOfShortText(text, at) ?? (yield* endOfText(text, at))
  }
  return false
}

/** Commas in texts do not count. A walk: going from comma to comma with `indexOf` takes 11 ms for half a million of them, and this 2. */
function* hasManyValues(text: string): Steps<boolean> {
  let [values, next] = [0, PIECE]
  for (let at = 0; at < text.length; at++) {
    if (at > next) {
      next = at + PIECE
      yield
    }
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfShortText(text, at) ?? (yield* endOfText(text, at))
    else if (code === COMMA && ++values > MOST_VALUES) return true
  }
  return false
}
