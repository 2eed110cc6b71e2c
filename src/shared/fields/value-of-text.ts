/**
 * What a cell of a spreadsheet or a CSV file means in a field: `1.234,5` is a number where the field has numbers. Whether the
 * value fits the rules of the field is checked when it is written.
 */
import { keepsDigits, readJson } from '../exact-json.ts'
import { isJsonObject, type JsonValue } from '../json.ts'
import type { FieldLimits } from './field-limits.ts'
import { type FieldType, fieldTypeEntries } from './field-type.ts'

export type DecimalMark = 'point' | 'comma'

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
  decimal: DecimalMark = 'point',
): ReadText {
  const trimmed = text.trim()
  if (trimmed === '') return { value: null }
  if (type === 'choice' || (type === 'string' && limits.choices))
    return { value: choiceOf(limits.choices, trimmed, decimal) }
  if (type === 'day') return { value: dayText(trimmed) ?? trimmed }
  if (type === 'instant') return { value: instantText(trimmed) }
  switch (fieldTypeEntries[type].value) {
    case 'number':
      return numberOfText(trimmed, decimal)
    case 'condition':
      return conditionOfText(trimmed)
    case 'list':
      return listOfText(trimmed, limits, decimal)
    case 'object':
      return jsonOfText(trimmed)
    case 'text':
      return { value: type === 'string' || type === 'long_text' ? text : trimmed }
    case 'any':
      return { value: /^\d{9,15}$/.test(trimmed) ? Number(trimmed) : (dayText(trimmed) ?? trimmed) }
  }
}

const plainNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
/** Thousands apart from each other, as spreadsheets write them. */
const grouped = /^([+-]?\d{1,3}(?:,\d{3})+)(\.\d+)?$/
const groupedComma = /^([+-]?\d{1,3}(?:\.\d{3})+)(,\d+)?$/

function numberOfText(text: string, decimal: DecimalMark): ReadText {
  const tight = text.replace(/[\s\u00a0\u202f']/g, '')
  const [groups, mark] = decimal === 'comma' ? [groupedComma, ','] : [grouped, '.']
  const whole = groups.test(tight) ? tight.replaceAll(decimal === 'comma' ? '.' : ',', '') : tight
  // With a decimal comma, 1.5 is no number that both sides would read alike.
  if (mark === ',' && whole.includes('.')) return { problem: 'is not a number with a decimal comma' }
  const point = mark === ',' ? whole.replace(',', '.') : whole
  const value = Number(point)
  if (!plainNumber.test(point) || !Number.isFinite(value)) return { problem: 'is not a number' }
  if (!keepsDigits(point)) return { problem: 'has more digits than a number keeps' }
  return { value }
}

const yes = ['true', 'yes', 'y', '1', 'on', 'x']
const no = ['false', 'no', 'n', '0', 'off']

function conditionOfText(text: string): ReadText {
  const word = text.toLowerCase()
  if (yes.includes(word)) return { value: true }
  return no.includes(word) ? { value: false } : { problem: 'is neither yes nor no' }
}

/** A JSON list, or items between semicolons, else between commas. */
function listOfText(text: string, { items, choices }: FieldLimits, decimal: DecimalMark): ReadText {
  if (text.startsWith('[')) return jsonOfText(text)
  const parts = text.split(text.includes(';') ? ';' : ',').filter((part) => part.trim() !== '')
  const values: JsonValue[] = []
  for (const part of parts) {
    const read: ReadText = items
      ? valueOfText({ type: items }, part.trim(), decimal)
      : { value: choiceOf(choices, part.trim(), decimal) }
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

/** `31.01.2026` is a day like `2026-01-31`. Days with slashes are not: their order differs between countries. */
function dayText(text: string): string | undefined {
  const [, day = '', month = '', year = ''] = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text) ?? []
  if (year !== '') return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return /^\d{4}-\d{2}-\d{2} 00:00(?::00(?:\.0+)?)?$/.test(text) ? text.slice(0, 10) : undefined
}

/** Without a time zone it is UTC. */
function instantText(text: string): string {
  const [, day, time] = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)$/.exec(text) ?? []
  return time === undefined ? text : `${day}T${time}Z`
}
