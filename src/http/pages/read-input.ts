import type { PageMessages } from '../../pages/messages.ts'
import { readIsoDate, readLocalTime } from '../../shared/dates/dates.ts'
import { type FieldRule, fieldValueProblem } from '../../shared/field-rule.ts'
import { fieldTypeEntries, placesOf } from '../../shared/fields/field-type.ts'
import type { JsonValue } from '../../shared/json.ts'
import { isEmailAddress } from '../../shared/mail/mail.ts'
import { keepsDigits, readJson } from '../../shared/numbers/exact-json.ts'
import type { PatternSpending } from '../../shared/texts/pattern-budget.ts'
import { type InputWithRules, isText } from './input-rule.ts'

/** `value` undefined: nothing was sent for it, and nothing is to be changed. */
export type ReadInput = { readonly value: JsonValue | undefined } | { readonly error: string }

export interface InputReading {
  readonly messages: PageMessages
  /** Of times that are typed without one: browsers send none. */
  readonly timeZone: string
  readonly spend: PatternSpending
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

/** What was typed into an input, as its field wants it, or what is wrong with it. `sent`: all values of its name. */
export function readInput(
  { input, rule, ofField }: InputWithRules,
  sent: readonly string[],
  { messages, timeZone, spend }: InputReading,
): ReadInput {
  const read = typedValue(input.type, rule, sent, timeZone)
  if (read === UNREADABLE) return { error: unreadable(rule, messages) }
  if (input.type === 'email' && typeof read === 'string' && read !== '' && !isEmailAddress(read))
    return { error: messages('field.email') }
  if (input.required && input.type === 'check' && read !== true) return { error: messages('field.required') }
  const options = ofField ? undefined : input.options
  if (
    options &&
    isChosen(read) &&
    ![read].flat().every((one) => options.some(({ value }) => value === String(one)))
  )
    return { error: messages('field.choice') }
  const problem = fieldValueProblem(rule, read, spend)
  if (problem === undefined) return { value: read }
  return { error: said(problem, { input, rule, ofField }, read, messages) }
}

const UNREADABLE = Symbol('unreadable')

function isChosen(value: JsonValue | undefined): value is string | number | readonly JsonValue[] {
  return (typeof value === 'string' && value !== '') || typeof value === 'number' || Array.isArray(value)
}

function typedValue(
  type: InputWithRules['input']['type'],
  rule: FieldRule,
  sent: readonly string[],
  timeZone: string,
): JsonValue | undefined | typeof UNREADABLE {
  if (type === 'check') return sent.length > 0
  if (type === 'choices') return sent.filter((one) => one !== '').map((one) => chosen(rule, one))
  const [first] = sent
  if (first === undefined) return undefined
  // Browsers send the ends of lines as two characters.
  const text = isText(type) ? first.replaceAll('\r\n', '\n') : first.trim()
  const blank = text.trim() === ''
  switch (fieldTypeEntries[rule.type].read) {
    case 'text':
      // What is left empty is nothing, not a text without letters.
      if (blank) return null
      return type === 'date_time' ? instant(text, timeZone) : chosen(rule, text)
    case 'number':
      return blank ? null : readNumber(text.trim())
    case 'condition':
      return blank ? null : text === 'true' ? true : text === 'false' ? false : UNREADABLE
    case 'date':
      return blank ? null : type === 'date_time' ? instant(text, timeZone) : text.trim()
    case 'instant':
      return blank ? null : instant(text, timeZone)
    case 'lines':
      return text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '')
        .map((line) => itemOf(rule, line, timeZone))
    case 'json':
      return blank ? null : parsed(text)
  }
}

/** A choice that is a number was sent as text. */
function chosen({ type, limits }: FieldRule, text: string): string | number {
  if (type !== 'choice' && type !== 'choices' && type !== 'list') return text
  return limits.choices?.find((choice) => String(choice) === text) ?? text
}

/** An item that cannot be read stays text, and is refused. */
function itemOf(rule: FieldRule, line: string, timeZone: string): JsonValue {
  const { items } = rule.limits
  if (rule.type !== 'list' || items === undefined) return chosen(rule, line)
  const read = typedValue('text', { ...rule, type: items, limits: {} }, [line], timeZone)
  return read === UNREADABLE || read === undefined || read === null ? line : read
}

function readNumber(text: string): number | typeof UNREADABLE {
  const number = DECIMAL.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) && keepsDigits(text) ? number : UNREADABLE
}

function instant(text: string, timeZone: string): string | typeof UNREADABLE {
  const at = readLocalTime(text, timeZone) ?? readIsoDate(text)
  return at === undefined ? UNREADABLE : new Date(at).toISOString()
}

function parsed(text: string): JsonValue | typeof UNREADABLE {
  const read = readJson(text)
  return 'value' in read ? read.value : UNREADABLE
}

function unreadable({ type, limits }: FieldRule, messages: PageMessages): string {
  return messages(fieldTypeEntries[type].message, { places: placesOf(limits) })
}

const LENGTH = /^must have at (least|most) ([0-9]+)/

/** The rule's own words, in the page's language. */
function said(
  problem: string,
  { rule }: InputWithRules,
  value: JsonValue | undefined,
  messages: PageMessages,
): string {
  const { limits, type } = rule
  const { at, problem: typeProblem } = fieldTypeEntries[type]
  if (problem.startsWith('is required')) return messages('field.required')
  if (/^must be one of|^may hold only/.test(problem)) return messages('field.choice')
  if (value !== undefined && typeProblem(value, limits) === problem && type !== 'list')
    return unreadable(rule, messages)
  const [, bound, length] = LENGTH.exec(problem) ?? []
  if (bound !== undefined && length !== undefined)
    return messages(bound === 'least' ? 'field.min_length' : 'field.max_length', { n: Number(length) })
  if (problem.startsWith('must be at least') && at) return messages('field.min', { min: limits.min ?? '' })
  if (problem.startsWith('must be at most') && at) return messages('field.max', { max: limits.max ?? '' })
  if (problem.startsWith('must fit')) return messages('field.pattern')
  if (problem.startsWith('is too long')) return messages('field.pattern_length')
  return messages('field.invalid', { problem })
}
