/** Which type of field the texts of a column have, where nothing says it. */
import { atOnce } from '../../../shared/cooperative.ts'
import type { FieldLimits } from '../../../shared/fields/field-limits.ts'
import { type FieldType, fieldTypeEntries } from '../../../shared/fields/field-type.ts'
import { type TextDialect, valueOfText } from '../../../shared/fields/value-of-text.ts'
import {
  dialectOfFormat,
  type RecognizedFormat,
  recognizedFormat,
  type TableCell,
} from '../../../shared/rows/recognized-table.ts'

export interface GuessedColumn {
  readonly type: FieldType
  readonly limits: FieldLimits
  readonly dialect: TextDialect
  /** Two readings fit, and nothing says which: the column stays text. */
  readonly open?: RecognizedFormat
  /** The column stays text, although most of its values fit a type. */
  readonly near?: NearType
}

export interface NearType {
  readonly type: FieldType
  /** How many values fit, of how many. */
  readonly fits: number
  readonly count: number
  /** The place among the cells of the first that does not fit. */
  readonly wrongAt: number
  /** The fitting values may mean two things, and nothing says which. */
  readonly open?: RecognizedFormat
}

/** So many of the values must fit the type; the others are mistakes, which are listed. */
const MOST_FITS = 0.9
/** From so many on the type is named, for the person to decide. */
const NEARLY_FITS = 0.5
const LONG_TEXT = 500

const guessed = ['boolean', 'integer', 'number', 'day', 'instant', 'email', 'url'] as const

/** `known`: how the person who imports says that numbers and days are written. */
export function guessColumn(cells: readonly TableCell[], known: TextDialect): GuessedColumn {
  const filled = cells.map(String).flatMap((text, at) => (text.trim() === '' ? [] : [{ text, at }]))
  const texts = filled.map(({ text }) => text)
  let near: NearType | undefined
  for (const type of texts.length > 0 ? guessed : []) {
    const { dialect, open } = writtenAs(type, texts, known)
    const wrong = filled.filter(({ text }) => !isOf(type, text, dialect))
    const fits = texts.length - wrong.length
    if (mayBe(type, texts) && fits >= texts.length * MOST_FITS)
      return open ? { ...textColumn(texts), open } : { type, limits: {}, dialect }
    const [first] = wrong
    if (!first || fits < Math.max(2, texts.length * NEARLY_FITS, (near?.fits ?? 0) + 1)) continue
    if (!isNumber(type) || !texts.some(isCode))
      near = { type, fits, count: texts.length, wrongAt: first.at, ...(open && { open }) }
  }
  return { ...textColumn(texts), ...(near && { near }) }
}

/** How a column whose type is said writes its values. */
export function dialectFor(type: FieldType, cells: readonly TableCell[], known: TextDialect): TextDialect {
  return writtenAs(type, cells.map(String), known).dialect
}

/** `open`: two readings fit, and nothing says which. */
function writtenAs(type: FieldType, texts: readonly string[], known: TextDialect) {
  const recognized = atOnce(recognizedFormat({ type, limits: {} }, texts))
  const open = isOpen(recognized, known) ? recognized : undefined
  const format = recognized?.format ?? open?.readings[0]?.format
  return { dialect: format ? dialectOfFormat(format) : known, open }
}

function isOpen(
  recognized: RecognizedFormat | undefined,
  known: TextDialect,
): recognized is RecognizedFormat {
  if (recognized === undefined || recognized.format !== undefined) return false
  const isNumber = recognized.readings.some(({ format }) => format === 'point' || format === 'comma')
  return isNumber ? known.decimal === undefined : known.dates === undefined
}

function textColumn(texts: readonly string[]): GuessedColumn {
  const isLong = texts.some((text) => text.length > LONG_TEXT || /[\r\n]/.test(text))
  return { type: isLong ? 'long_text' : 'string', limits: {}, dialect: {} }
}

/** Codes and phone numbers have digits and are no numbers; one word that means yes is no condition. */
function mayBe(type: FieldType, texts: readonly string[]): boolean {
  if (isNumber(type)) return !texts.some((text) => isCode(text) || /\d[\s/-]+\(?\d/.test(text))
  return type !== 'boolean' || texts.every(isYesOrNo)
}

function isNumber(type: FieldType): boolean {
  return type === 'integer' || type === 'number'
}

function isCode(text: string): boolean {
  return /^\s*(?:[-−]?0\d|\+)/.test(text)
}

/** `1`, `0` and `x` may mean something else. */
function isYesOrNo(text: string): boolean {
  return !/^\s*[01x]\s*$/i.test(text) && 'value' in valueOfText({ type: 'boolean' }, text)
}

function isOf(type: FieldType, text: string, dialect: TextDialect): boolean {
  if (type === 'boolean') return isYesOrNo(text)
  const read = valueOfText({ type }, text, dialect)
  return (
    'value' in read && read.value !== null && fieldTypeEntries[type].problem(read.value, {}) === undefined
  )
}
