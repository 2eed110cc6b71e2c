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
}

/** So many of the values must fit the type; the others are mistakes, which are listed. */
const MOST_FITS = 0.9
const LONG_TEXT = 500

const guessed = ['boolean', 'integer', 'number', 'day', 'instant', 'email', 'url'] as const

/** `known`: how the person who imports says that numbers and days are written. */
export function guessColumn(cells: readonly TableCell[], known: TextDialect): GuessedColumn {
  const texts = cells.map(String).filter((text) => text.trim() !== '')
  for (const type of texts.length > 0 ? guessed : []) {
    if (!mayBe(type, texts)) continue
    const recognized = atOnce(recognizedFormat({ type, limits: {} }, texts))
    const isUnsaid = isOpen(recognized, known)
    const [first] = recognized?.readings ?? []
    const format = recognized?.format ?? (isUnsaid ? first?.format : undefined)
    const dialect = format ? dialectOfFormat(format) : known
    const fits = texts.filter((text) => isOf(type, text, dialect)).length >= texts.length * MOST_FITS
    if (fits && isUnsaid) return { ...textColumn(texts), open: recognized }
    if (fits) return { type, limits: {}, dialect }
  }
  return textColumn(texts)
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
  if (type === 'integer' || type === 'number')
    return !texts.some((text) => /^\s*(?:[-−]?0\d|\+)/.test(text) || /\d[\s/-]+\(?\d/.test(text))
  if (type === 'boolean') return texts.every((text) => /^\s*(?:true|false|yes|no|y|n|on|off)\s*$/i.test(text))
  return true
}

function isOf(type: FieldType, text: string, dialect: TextDialect): boolean {
  const read = valueOfText({ type }, text, dialect)
  return (
    'value' in read && read.value !== null && fieldTypeEntries[type].problem(read.value, {}) === undefined
  )
}
