import { csvCell } from '../../shared/csv-cell.ts'
import type { JsonValue } from '../../shared/json.ts'
import { characterCount } from '../../shared/texts/character-count.ts'
import { areSameTexts, composedText } from '../../shared/texts/composed-text.ts'
import { normalizedText } from '../../shared/texts/normalized-text.ts'
import { MAX_PATTERNED_TEXT, readPattern } from '../../shared/texts/text-pattern.ts'
import { mostElements } from '../language/compile/part-work.ts'
import type { textFunctions } from '../language/declared/text.ts'
import { ArgumentError, type FunctionContext } from '../language/function-declaration.ts'
import {
  boundedComparison,
  comparisonWork,
  equalityWork,
  longText,
  TooLargeToCompare,
} from '../language/same-value.ts'
import type { BodiesOf } from './body-of.ts'
import { boundedText, checkLength, spendOn, spendOnFields, spendOnNew, spendOnText } from './bounded.ts'
import { textSearch } from './text-search.ts'

/** Of a text and a part of it in one form of Unicode, where the part has a letter beyond ASCII. */
function alike(
  context: FunctionContext,
  text: string,
  part: string,
  test: (text: string, part: string) => boolean,
): boolean {
  if (!/[^\0-\x7f]/.test(part)) return false
  for (const one of [text, part]) spendOnText(context, one, 50)
  return test(composedText(text), composedText(part))
}

export function holdsText(context: FunctionContext, text: string, part: string): boolean {
  return (
    textSearch(context, text, part)(0) !== -1 ||
    alike(context, text, part, (all, one) => textSearch(context, all, one)(0) !== -1)
  )
}

export const textBodies: BodiesOf<typeof textFunctions> = {
  translate: (context, key, values = {}, language) => {
    for (const one of [key, language ?? '']) spendOnText(context, one, 50)
    spendOnFields(context, values)
    const text = context.translate?.(key, values, language)
    if (text === undefined) return undefined
    spendOnText(context, text, 50)
    return boundedText('key', text)
  },
  upper: (context, text) => {
    spendOnText(context, text, 50)
    return boundedText('text', text.toUpperCase())
  },
  lower: (context, text) => {
    spendOnText(context, text, 50)
    return boundedText('text', text.toLowerCase())
  },
  capitalize: (_, text) => boundedText('text', capitalized(text)),
  trim: (_, text) => text.trim(),
  split: (context, text, separator) => splitText(context, text, separator),
  lines: (context, text) => splitText(context, text, /\r\n|\n|\r/),
  join: (context, list, separator) => joinedText(context, list, separator),
  replace: replaceEach,
  slice: (context, textOrList, from, to) => {
    if (typeof textOrList === 'string') return textOrList.slice(from, to)
    spendOn(context, 'textOrList', textOrList)
    return textOrList.slice(from, to)
  },
  truncate: (context, text, length, ending = '…') => {
    // No character that is kept or looked at is beyond: one has at most two UTF-16 units.
    spendOnText(context, text.slice(0, Math.max(0, 2 * length)), 100)
    return truncated(text, length, ending)
  },
  padStart: (_, text, length, fill = ' ') => {
    checkLength('length', length)
    return text.padStart(length, fill)
  },
  padEnd: (_, text, length, fill = ' ') => {
    checkLength('length', length)
    return text.padEnd(length, fill)
  },
  repeat: (_, text, times) => repeatedText(text, times),
  contains: (context, textOrList, part = null) => {
    if (typeof textOrList === 'string') {
      if (typeof part !== 'string')
        throw new ArgumentError('part', 'must be a text, as the first argument is')
      return holdsText(context, textOrList, part)
    }
    spendOn(context, 'textOrList', textOrList)
    const isPart = equalTo(context, 'textOrList', part)
    return textOrList.some(isPart)
  },
  startsWith: (context, text, part) =>
    text.startsWith(part) || alike(context, text, part, (a, b) => a.startsWith(b)),
  endsWith: (context, text, part) =>
    text.endsWith(part) || alike(context, text, part, (a, b) => a.endsWith(b)),
  length: (context, textOrList) => {
    if (typeof textOrList !== 'string') return textOrList.length
    spendOnText(context, textOrList, 30)
    return characterCount(textOrList)
  },
  matches: (context, text, pattern) => {
    if (text.length > MAX_PATTERNED_TEXT)
      throw new ArgumentError('text', `must have at most ${MAX_PATTERNED_TEXT} characters`)
    spendOnText(context, text, 200)
    const spend = (work: number) => context.spend(0, work)
    const spending = { each: spend, first: spend }
    const read = readPattern(pattern, spending)
    if ('problem' in read) throw new ArgumentError('pattern', read.problem)
    if (text.length > read.longest)
      throw new ArgumentError('text', `must have at most ${read.longest} characters for so large a pattern`)
    return read.test(text, spending)
  },
  slug: (context, text) => {
    if (text.length > LONGEST_SLUGGED)
      throw new ArgumentError('text', `must have at most ${LONGEST_SLUGGED} characters`)
    spendOnText(context, text, 700)
    context.spend(0, text.length * (ASCII.test(text) ? WORK_OF_PLAIN : WORK_OF_SLUGGED))
    const plain = normalizedText(text, 'NFKD')
      .replace(/\p{M}+/gu, '')
      .toLowerCase()
    return plain.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '')
  },
  escapeHtml: (context, text) => {
    spendOnText(context, text, 500)
    return boundedText(
      'text',
      text.replace(/[&<>"']/g, (character) => htmlEntities[character] ?? character),
    )
  },
  escapeCsv: (context, value) => {
    if (typeof value === 'string') spendOnText(context, value, 50)
    return boundedText('value', csvCell(typeof value === 'boolean' ? String(value) : value))
  },
}

const LONGEST_SLUGGED = 10_000
/** Some characters become 18 when they are taken apart, those of ASCII stay one. */
const WORK_OF_SLUGGED = 4
const WORK_OF_PLAIN = 0.5
const ASCII = /^[\0-\x7f]*$/

const htmlEntities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function capitalized(text: string): string {
  const [first = ''] = text
  return first.toUpperCase() + text.slice(first.length)
}

export function splitText(context: FunctionContext, text: string, separator: string | RegExp): string[] {
  spendOnText(context, text, 30)
  // One more than allowed, so that it is seen that there are too many.
  const most = mostElements + 1
  const isShort = typeof separator === 'string' && separator.length <= 1
  const parts =
    typeof separator === 'string' && !isShort
      ? piecesOf(context, text, separator, most)
      : text.split(separator, most)
  spendOnNew(context, 'text', parts.length)
  context.spend(0, parts.length * WORK_OF_PIECE)
  return parts
}

/** A piece of a text is a value of its own. */
const WORK_OF_PIECE = 1

/** What is between the places of the part, and at most so many pieces. */
function piecesOf(context: FunctionContext, text: string, part: string, most: number): string[] {
  const search = textSearch(context, text, part)
  const pieces: string[] = []
  let from = 0
  for (let at = search(0); at !== -1 && pieces.length < most; at = search(from)) {
    if (pieces.length % 1_000 === 999) context.spend(0, 1_000 * WORK_OF_PIECE)
    pieces.push(text.slice(from, at))
    from = at + part.length
  }
  if (pieces.length < most) pieces.push(text.slice(from))
  return pieces
}

export function joinedText(
  context: FunctionContext,
  list: readonly JsonValue[],
  separator: string = ',',
): string {
  spendOn(context, 'list', list)
  const parts = list.map((item) => {
    if (typeof item === 'object' && item !== null)
      throw new ArgumentError('list', 'must hold texts, numbers and conditions only')
    return item === null ? '' : String(item)
  })
  const length = parts.reduce((total, part) => total + part.length, separator.length * (list.length - 1))
  checkLength('list', length)
  return parts.join(separator)
}

export function repeatedText(text: string, times: number): string {
  if (times < 0) throw new ArgumentError('times', 'must not be negative')
  checkLength('times', text.length * times)
  return text.repeat(times)
}

/** The length is worked out before the text is made: a part of one character and a long text by it make 10^12 characters. */
export function replaceEach(context: FunctionContext, text: string, part: string, by: string): string {
  spendOnText(context, text, 50)
  if (part === '') {
    checkLength('by', text.length + (text.length + 1) * by.length)
    context.spend(0, text.length * WORK_OF_PIECE)
    // A function, because `$&` means something in a replacement text.
    return text.replaceAll(part, () => by)
  }
  const pieces = piecesOf(context, text, part, Number.POSITIVE_INFINITY)
  if (pieces.length === 1) return text
  checkLength('by', text.length + (pieces.length - 1) * (by.length - part.length))
  return pieces.join(by)
}

/** Of one place. */
export function replaceFirst(context: FunctionContext, text: string, part: string, by: string): string {
  const at = textSearch(context, text, part)(0)
  if (at === -1) return text
  checkLength('by', text.length - part.length + by.length)
  return text.slice(0, at) + by + text.slice(at + part.length)
}

function truncated(text: string, length: number, ending: string): string {
  const available = length - characterCount(ending)
  if (available < 0) throw new ArgumentError('length', 'must not be shorter than the ending')
  // A text has at most as many code points as UTF-16 units.
  if (text.length <= length) return text
  let [count, end, availableEnd] = [0, 0, 0]
  for (const character of text) {
    if (count === available) availableEnd = end
    count += 1
    end += character.length
    if (count > length) return text.slice(0, availableEnd) + ending
  }
  return text
}

/** Whether a value is equal to `requested`, as `==` means it. All calls together make a bounded number of comparisons. */
export function equalTo(
  context: FunctionContext,
  parameter: string,
  requested: JsonValue,
): (value: JsonValue) => boolean {
  if (typeof requested === 'string' && requested.length >= longText)
    return (value) => {
      if (typeof value !== 'string') return false
      context.spend(0, equalityWork(value, requested))
      return areSameTexts(value, requested)
    }
  if (typeof requested === 'string')
    return (value) => typeof value === 'string' && areSameTexts(value, requested)
  if (typeof requested !== 'object') return (value) => value === requested
  const isSame = boundedComparison((values) => context.spend(values, values * comparisonWork))
  return (value) => {
    try {
      return isSame(value, requested)
    } catch (error) {
      if (!(error instanceof TooLargeToCompare)) throw error
      throw new ArgumentError(parameter, 'holds values that are too large to compare')
    }
  }
}
