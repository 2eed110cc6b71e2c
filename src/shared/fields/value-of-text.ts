/**
 * What a cell of a spreadsheet or a CSV file means in a field: `1.234,5` is a number where the field has numbers. Whether the
 * value fits the rules of the field is checked when it is written.
 */

import { isJsonObject, type JsonValue } from '../json.ts'
import { keepsDigits, readJson } from '../numbers/exact-json.ts'
import type { FieldLimits } from './field-limits.ts'
import { type FieldType, fieldTypeEntries } from './field-type.ts'

export type DecimalMark = 'point' | 'comma'

/** How people of a country write numbers and days. */
export interface TextDialect {
  readonly decimal?: DecimalMark
  /** Of days with slashes, such as 3/4/2026, and with points; without it those with slashes are no days. */
  readonly dates?: 'dmy' | 'mdy' | 'ymd'
}

/** Of pins and flags, whose values were checked. */
export function dialectOf({
  decimal,
  dates,
}: {
  readonly decimal: string
  readonly dates?: string | undefined
}): TextDialect {
  return {
    decimal: decimal === 'comma' ? 'comma' : 'point',
    ...((dates === 'dmy' || dates === 'mdy' || dates === 'ymd') && { dates }),
  }
}

export interface TextTarget {
  readonly type: FieldType
  readonly limits?: FieldLimits | undefined
}

/** `problem` finishes the sentence "The value …". */
export type ReadText = { readonly value: JsonValue } | { readonly problem: string }

/** Blank text is null: an empty cell is nothing. */
export function valueOfText(
  { type, limits = {} }: TextTarget,
  text: string,
  dialect: TextDialect = {},
): ReadText {
  const { decimal = 'point' } = dialect
  const trimmed = text.trim()
  if (trimmed === '') return { value: null }
  if (type === 'choice' || (type === 'string' && limits.choices))
    return { value: choiceOf(limits.choices, trimmed, decimal) }
  if (type === 'day') return { value: dayText(trimmed, dialect) ?? trimmed }
  if (type === 'instant') return { value: instantText(trimmed, dialect) }
  switch (fieldTypeEntries[type].value) {
    case 'number':
      return numberOfText(trimmed, decimal)
    case 'condition':
      return conditionOfText(trimmed)
    case 'list':
      return listOfText(trimmed, limits, dialect)
    case 'object':
      return jsonOfText(trimmed)
    case 'text':
      return { value: type === 'string' || type === 'line' || type === 'long_text' ? text : trimmed }
    case 'any':
      return { value: /^\d{9,15}$/.test(trimmed) ? Number(trimmed) : (dayText(trimmed, dialect) ?? trimmed) }
  }
}

const plainNumber = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
/** Thousands apart from each other, as spreadsheets write them; in India the later groups have two digits. */
const grouped = /^(-?\d{1,3}(?:,\d{2,3})*,\d{3})(\.\d+)?$/
const groupedComma = /^(-?\d{1,3}(?:\.\d{3})+)(,\d+)?$/
const CURRENCY = /^(?:[A-Z]{3}|\p{Sc}|[A-Z]{1,2}\p{Sc}|kr\.?|zł|Kč|Fr\.|R\$)$/u

/** With a sign on either side or in brackets, and a currency or a percent sign, as accounts and SAP write them: `(1.234,50 €)`. */
function numberOfText(text: string, decimal: DecimalMark): ReadText {
  const wrong: ReadText = { problem: 'is not a number' }
  const { bare, isNegative, isPercent } = withoutSigns(text)
  const tight = bare.replace(/[\s\u00a0\u202f'’]/g, '')
  const [groups, mark] = decimal === 'comma' ? [groupedComma, ','] : [grouped, '.']
  const whole = groups.test(tight) ? tight.replaceAll(decimal === 'comma' ? '.' : ',', '') : tight
  // With a decimal comma, 1.5 is no number that both sides would read alike.
  if (mark === ',' && whole.includes('.')) return { problem: 'is not a number with a decimal comma' }
  const point = mark === ',' ? whole.replace(',', '.') : whole
  if (!plainNumber.test(point) || (isNegative && point.startsWith('-'))) return wrong
  // Not divided by 100, which would change digits.
  const written = `${isNegative ? '-' : ''}${isPercent && !/e/i.test(point) ? `${point}e-2` : point}`
  const value = Number(written)
  if (!Number.isFinite(value)) return wrong
  if (!keepsDigits(written)) return { problem: 'has more digits than a number keeps' }
  return { value }
}

interface BareNumber {
  readonly bare: string
  readonly isNegative: boolean
  readonly isPercent: boolean
}

function withoutSigns(text: string): BareNumber {
  let bare = text.replaceAll('−', '-').trim()
  let isNegative = false
  if (bare.startsWith('(') && bare.endsWith(')')) {
    isNegative = true
    bare = bare.slice(1, -1).trim()
  }
  // The sign may be before or behind the currency.
  const sign = /^([+-])\s*/.exec(bare)
  if (sign && !isNegative) {
    isNegative = sign[1] === '-'
    bare = bare.slice(sign[0].length)
  }
  const [, before = ''] = /^([^\d.,+-]{1,4})/.exec(bare) ?? []
  if (CURRENCY.test(before.trim())) bare = bare.slice(before.length)
  const [, behind = ''] = /(?<![^\d.,+\s-])([^\d.,+\s-]{1,3}\.?)$/.exec(bare) ?? []
  const isPercent = behind === '%'
  if (isPercent || CURRENCY.test(behind)) bare = bare.slice(0, -behind.length).trim()
  if (/^\d.*-$/.test(bare) && !isNegative && !sign)
    return { bare: bare.slice(0, -1), isNegative: true, isPercent }
  return { bare: bare.startsWith('+') && !sign ? bare.slice(1) : bare, isNegative, isPercent }
}

/** As programs write them, and spreadsheets in German. */
const yes = ['true', 'yes', 'y', '1', 'on', 'x', 'ja', 'wahr']
const no = ['false', 'no', 'n', '0', 'off', 'nein', 'falsch']

function conditionOfText(text: string): ReadText {
  const word = text.toLowerCase()
  if (yes.includes(word)) return { value: true }
  return no.includes(word) ? { value: false } : { problem: 'is neither yes nor no' }
}

/** Items of a list that is no JSON: each is read by itself, in one turn. */
export const MOST_TEXT_ITEMS = 10_000

/** A JSON list, or items between semicolons, else between commas. */
function listOfText(text: string, { items, choices }: FieldLimits, dialect: TextDialect): ReadText {
  if (text.startsWith('[')) return jsonOfText(text)
  const all = text.split(text.includes(';') ? ';' : ',', MOST_TEXT_ITEMS + 1)
  if (all.length > MOST_TEXT_ITEMS)
    return { problem: `has more than ${MOST_TEXT_ITEMS.toLocaleString('en-US')} items; write them as JSON` }
  const parts = all.filter((part) => part.trim() !== '')
  const values: JsonValue[] = []
  for (const part of parts) {
    const read: ReadText = items
      ? valueOfText({ type: items }, part.trim(), dialect)
      : { value: choiceOf(choices, part.trim(), dialect.decimal ?? 'point') }
    if ('problem' in read)
      return { problem: `has the item "${part.trim().slice(0, 40)}", which ${read.problem}` }
    values.push(read.value)
  }
  return { value: values }
}

/** Choices may be numbers: `2` is the number where that is a choice, and the text is not. */
function choiceOf(choices: FieldLimits['choices'], text: string, decimal: DecimalMark): string | number {
  if (choices?.includes(text)) return text
  const read = numberOfText(text, decimal)
  return 'value' in read && typeof read.value === 'number' && choices?.includes(read.value)
    ? read.value
    : text
}

function jsonOfText(text: string): ReadText {
  const read = readJson(text)
  if ('problem' in read) return read
  const { value } = read
  return Array.isArray(value) || isJsonObject(value) ? { value } : { problem: 'is not an object or a list' }
}

const ORDERS = { dmy: [0, 1, 2], mdy: [1, 0, 2], ymd: [2, 1, 0] } as const

/**
 * `31.01.2026` is a day like `2026-01-31`. Days with slashes are only where `dates` says their order, which differs between
 * countries; two digits are a year of this century. Where the first part has four digits it is the year.
 */
function dayText(text: string, { dates }: TextDialect): string | undefined {
  if (/^\d{4}-\d{2}-\d{2} 00:00(?::00(?:\.0+)?)?$/.test(text)) return text.slice(0, 10)
  const [, first = '', mark = '', ...rest] = /^(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})$/.exec(text) ?? []
  const parts = [first, ...rest]
  const order = first.length === 4 ? 'ymd' : (dates ?? (mark === '.' ? 'dmy' : undefined))
  if (mark === '' || order === undefined || (mark === '-' && first.length === 4)) return undefined
  const [day = '', month = '', year = ''] = ORDERS[order].map((at) => parts[at] ?? '')
  if (day.length > 2 || month.length > 2 || (year.length !== 4 && year.length !== 2)) return undefined
  return `${year.padStart(4, '20')}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
}

/** Without a time zone it is UTC. */
function instantText(text: string, dialect: TextDialect): string {
  const [, date = '', clock = ''] = /^(\S+)[ T](\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)$/.exec(text) ?? []
  const day = /^\d{4}-\d{2}-\d{2}$/.test(date) ? date : dayText(date, dialect)
  if (day !== undefined)
    return `${day}T${clock.padStart(clock.indexOf(':') === 1 ? clock.length + 1 : 0, '0')}Z`
  const alone = /^\d{4}-\d{2}-\d{2}$/.test(text) ? text : dayText(text, dialect)
  return alone === undefined ? text : `${alone}T00:00:00Z`
}
