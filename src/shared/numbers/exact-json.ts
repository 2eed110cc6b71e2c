/**
 * JSON text whose numbers stay what they are. A double keeps 15 digits of any number, and `JSON.parse` silently changes longer
 * ones: 750727362669608961 to 750727362669609000. Such a number is refused with its field, at every door.
 */
import { type JsonValue, jsonProblem } from '../json.ts'

export interface LongNumber {
  readonly text: string
  /** Dotted, with the places of lists; empty if the whole text is the number. */
  readonly field: string
}

/** `problem` finishes the sentence "The body …"; `field` says where. */
export type ReadJson = { readonly value: JsonValue } | { readonly problem: string; readonly field?: string }

/** What a text of another program holds. Never throws: text that is no JSON is a problem too. */
export function readJson(text: string): ReadJson {
  let value: JsonValue
  try {
    value = JSON.parse(text)
  } catch {
    return { problem: 'is not JSON' }
  }
  const long = longNumberIn(text)
  if (long) return { problem: longNumberProblem(long), ...(long.field !== '' && { field: long.field }) }
  const problem = jsonProblem(value)
  return problem === undefined ? { value } : { problem }
}

const SHOWN = 40

export function longNumberProblem({ text, field }: LongNumber): string {
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
  const place = field === '' ? '' : ` at ${field}`
  return `holds the number ${shown}${place}, which JSON numbers cannot keep digit by digit: send it as a text`
}

/** Numbers of 16 characters, and exponents of three digits: what else a text holds is kept. In 1 MB it takes 1 to 4 ms to find. */
const MAYBE_LONG = /[\d.]{16}|\d[eE][+-]?\d{3}/

/** The first number of valid JSON that would not keep its digits. */
export function longNumberIn(json: string): LongNumber | undefined {
  if (!MAYBE_LONG.test(json)) return undefined
  for (const { from, to } of numbersIn(json)) {
    const text = json.slice(from, to)
    if (!keepsDigits(text)) return { text, field: fieldAt(json, from) }
  }
  return undefined
}

/** Valid JSON with numbers that would not keep their digits as texts. */
export function longNumbersAsTexts(json: string): string {
  if (!MAYBE_LONG.test(json)) return json
  let written = ''
  let at = 0
  for (const { from, to } of numbersIn(json)) {
    const text = json.slice(from, to)
    if (keepsDigits(text)) continue
    written += `${json.slice(at, from)}"${text}"`
    at = to
  }
  return written + json.slice(at)
}

const DOUBLE_DIGITS = 17
/** Digits that every double keeps, unless its exponent is extreme. */
const KEPT_DIGITS = 15
const KEPT_EXPONENT = 290

/**
 * Whether the number that a text spells has these digits afterwards. 17 digits with a fraction that are just how a double is
 * printed, as programs in C do (0.10000000000000001), are that double.
 */
export function keepsDigits(text: string): boolean {
  const { digits, exponent } = digitsOf(text)
  if (digits.length <= KEPT_DIGITS && Math.abs(exponent) < KEPT_EXPONENT) return true
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
const AFTER_NUMBER = /[^\d.eE+-]/g

function* numbersIn(json: string): Generator<{ readonly from: number; readonly to: number }, void> {
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) at = endOfText(json, at)
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      AFTER_NUMBER.lastIndex = at
      const to = AFTER_NUMBER.exec(json)?.index ?? json.length
      yield { from: at, to }
      at = to - 1
    }
  }
}

function endOfText(json: string, from: number): number {
  for (let at = from + 1; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code === BACKSLASH) at += 1
    else if (code === QUOTE) return at
  }
  return json.length
}

/** The dotted name of what is at a place of valid JSON. */
function fieldAt(json: string, place: number): string {
  const path: (string | number)[] = []
  let text = ''
  for (let at = 0; at < place; at += 1) {
    const character = json[at]
    if (character === '"') {
      const end = endOfText(json, at)
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
