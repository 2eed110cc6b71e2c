/**
 * What a stored value becomes when its field gets another type or another list of choices: the same value in the form of the new
 * type, or nothing that Quoin would have to guess. No digit is lost, no list is cut, and days and times of day are those of a time zone.
 */
import { localTime, readLocalTime } from '../dates/dates.ts'
import { type FieldConversion, type FieldRule, fieldValueProblem, type RenamedValue } from '../field-rule.ts'
import type { JsonValue } from '../json.ts'
import { patternBudget } from '../texts/pattern-budget.ts'
import { fieldTypeEntries } from './field-type.ts'
import { dateOf, dayOf, instantOf } from './value-forms.ts'
import { valueOfText } from './value-of-text.ts'

export type Converted = { readonly value: JsonValue } | { readonly problem: string }

/** `problem` finishes the sentence "<field> …". */
export function convertedValue(
  rule: FieldRule,
  value: JsonValue,
  { timeZone, renamedValues }: Pick<FieldConversion, 'timeZone' | 'renamedValues'>,
): Converted {
  const problem = fieldValueProblem(rule, value, patternBudget())
  if (problem === undefined) return { value }
  for (const candidate of candidates(rule, renamed(value, renamedValues), timeZone))
    if (fieldValueProblem(rule, candidate, patternBudget()) === undefined) return { value: candidate }
  return { problem }
}

function renamed(value: JsonValue, values: readonly RenamedValue[]): JsonValue {
  if (values.length === 0) return value
  const one = (item: JsonValue) => values.find(({ from }) => from === item)?.to ?? item
  return Array.isArray(value) ? value.map(one) : one(value)
}

/** Values that mean the same, the nearest first. Each is tried against the rule. */
function candidates(rule: FieldRule, value: JsonValue, timeZone: string): readonly JsonValue[] {
  if (typeof value === 'string' && value.trim() === '') return [null]
  const isList = fieldTypeEntries[rule.type].value === 'list'
  if (isList && !Array.isArray(value)) return [value, ...listsOf(rule, value, timeZone)]
  if (isList && Array.isArray(value)) return [value, value.flatMap((item) => itemOf(rule, item, timeZone))]
  if (Array.isArray(value)) {
    const [only] = value
    if (value.length === 0) return [null]
    return value.length === 1 && only !== undefined ? [only, ...scalars(rule, only, timeZone)] : []
  }
  return [value, ...scalars(rule, value, timeZone)]
}

/** One value as a list of it. A text is a list where it is written as one, and its items are choices where all of them are. */
function listsOf(rule: FieldRule, value: JsonValue, timeZone: string): readonly JsonValue[] {
  const one = [itemOf(rule, value, timeZone)]
  if (typeof value !== 'string') return one
  const read = valueOfText({ type: rule.type, limits: rule.limits }, value)
  const list = 'value' in read ? read.value : null
  return value.trim().startsWith('[') ? [list, ...one] : rule.limits.choices ? [...one, list] : one
}

function itemOf(rule: FieldRule, item: JsonValue, timeZone: string): JsonValue[] {
  const { items, choices } = rule.limits
  if (choices) return [choices.find((choice) => String(choice) === String(item)) ?? item]
  if (items === undefined) return [item]
  const ofItem: FieldRule = { ...rule, type: items, required: false, limits: {} }
  const read = convertedValue(ofItem, item, { timeZone, renamedValues: [] })
  // An item that does not fit stays, so that the list is refused as a whole.
  return ['value' in read ? read.value : item]
}

function scalars(rule: FieldRule, value: JsonValue, timeZone: string): readonly JsonValue[] {
  const { type } = rule
  if (type === 'day') return daysOf(value, timeZone)
  if (type === 'instant') return instantsOf(value, timeZone)
  if (type === 'date')
    return instantAt(value, timeZone) === undefined ? daysOf(value, timeZone) : instantsOf(value, timeZone)
  if (typeof value === 'boolean') return [String(value), Number(value)]
  if (typeof value === 'number')
    return type === 'boolean' ? flags(value) : [String(value), ...choicesOf(rule, value)]
  if (typeof value === 'string') return textsOf(rule, value)
  return []
}

function flags(value: number): readonly JsonValue[] {
  return value === 0 || value === 1 ? [value === 1] : []
}

/** A currency or a percent sign says more than the number. */
const NUMBER = /^[\d\s.,'’()+−-]*(?:e[+-]?\d+)?$/i

function textsOf(rule: FieldRule, text: string): readonly JsonValue[] {
  if (fieldTypeEntries[rule.type].value === 'number' && !NUMBER.test(text)) return []
  const read = valueOfText({ type: rule.type, limits: rule.limits }, text)
  return 'value' in read ? [read.value, text.trim(), ...choicesOf(rule, text)] : [text.trim()]
}

function choicesOf({ limits }: FieldRule, value: string | number): readonly JsonValue[] {
  return (limits.choices ?? []).filter((choice) => String(choice) === String(value).trim())
}

/** A time of day belongs to the day that it is on in the time zone. */
function daysOf(value: JsonValue, timeZone: string): readonly JsonValue[] {
  const at = instantAt(value, timeZone)
  if (at !== undefined) return [localTime(at, timeZone).slice(0, 10)]
  if (typeof value !== 'string') return []
  const read = valueOfText({ type: 'day' }, value)
  return 'value' in read ? [read.value] : []
}

/** A day begins at midnight in the time zone. */
function instantsOf(value: JsonValue, timeZone: string): readonly JsonValue[] {
  const at = instantAt(value, timeZone) ?? midnight(value, timeZone)
  return at === undefined ? [] : [new Date(at).toISOString()]
}

/** Milliseconds of a text with a time of day, or of Unix seconds. */
function instantAt(value: JsonValue, timeZone: string): number | undefined {
  if (typeof value === 'number')
    return Number.isFinite(new Date(value * 1000).valueOf()) ? dateOf(value) : undefined
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  return instantOf(text) ?? readLocalTime(withDay(text), timeZone)
}

function midnight(value: JsonValue, timeZone: string): number | undefined {
  if (typeof value !== 'string') return undefined
  const read = valueOfText({ type: 'day' }, value)
  const day = 'value' in read ? read.value : null
  return typeof day === 'string' && dayOf(day) !== undefined
    ? readLocalTime(`${day}T00:00`, timeZone)
    : undefined
}

/** `31.1.2026 9:05` as `2026-01-31T09:05`; another text as it is. */
function withDay(text: string): string {
  const [, date = '', clock = ''] =
    /^([\d.-]{6,10})[ T](\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)$/.exec(text) ?? []
  if (clock === '') return text
  const read = valueOfText({ type: 'day' }, date)
  const day = 'value' in read && typeof read.value === 'string' ? read.value : date
  return `${day}T${clock.indexOf(':') === 1 ? `0${clock}` : clock}`
}
