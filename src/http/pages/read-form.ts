import type { FastifyRequest } from 'fastify'
import type { PageVisit, RunRequest } from '../../blocks/run-request.ts'
import type { PageMessages } from '../../pages/messages.ts'
import { readIsoDate, readLocalTime } from '../../shared/dates/dates.ts'
import { type FieldRule, fieldValueProblem } from '../../shared/field-rule.ts'
import { fieldTypeEntries, placesOf } from '../../shared/fields/field-type.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { isEmailAddress } from '../../shared/mail/mail.ts'
import { keepsDigits, readJson } from '../../shared/numbers/exact-json.ts'
import type { PageForm } from '../../shared/pages/page-content.ts'
import { type PatternSpending, patternBudget } from '../../shared/texts/pattern-budget.ts'
import { openHeaders } from '../server/hooks.ts'
import { type FieldOf, inputsOf } from './field-rules-of.ts'
import { type InputWithRules, inputWithRules, isText } from './input-rule.ts'
import { pageAddress } from './page-origin.ts'
import type { Posted, PostedFile } from './posted.ts'

export interface ReadForm {
  /** By field; what was not sent is not there. Files are still to be stored: see `files`. */
  readonly values: JsonObject
  /** What is wrong, by field. Empty: everything fits. */
  readonly errors: ReadonlyMap<string, string>
  /** The values of inputs of the type password. */
  readonly passwords: readonly string[]
  /** Files of the form's file inputs, and whether the input takes several. */
  readonly files: readonly { readonly file: PostedFile; readonly multiple: boolean }[]
}

/**
 * Reads what was sent with a form by the rules of its inputs. Names that the form has no input for are left out.
 * `timeZone`: of times that are typed without one.
 */
export function readForm(
  form: PageForm,
  posted: Posted,
  fieldOf: FieldOf,
  { messages, timeZone }: { readonly messages: PageMessages; readonly timeZone: string },
): ReadForm {
  const reading = { messages, timeZone, spend: patternBudget() }
  const values: Record<string, JsonValue> = {}
  const errors = new Map<string, string>()
  const passwords: string[] = []
  const files: ReadForm['files'][number][] = []
  for (const node of inputsOf(form)) {
    const validated = inputWithRules(node, fieldOf(form, node))
    const { input } = validated
    if (input.disabled) continue
    if (input.type === 'file') {
      const sent = posted.files.filter(({ field }) => field === input.name)
      const taken = input.multiple ? sent : sent.slice(0, 1)
      files.push(...taken.map((file) => ({ file, multiple: input.multiple === true })))
      if (input.required && taken.length === 0) errors.set(input.name, messages('field.required'))
      continue
    }
    const read = readInput(validated, posted.all(input.name), reading)
    if ('error' in read) errors.set(input.name, read.error)
    else if (read.value !== undefined) values[input.name] = read.value
    if (input.type === 'password') passwords.push(...posted.all(input.name))
  }
  return { values, errors, passwords, files }
}

/** What no parameter may be called: it would reach into the prototype of whatever object it is put in. */
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype'])

/** The request as blocks see it: without anything that opens doors. */
export function pageRequest(
  request: FastifyRequest,
  path: Readonly<Record<string, string>>,
  visit: PageVisit,
): RunRequest {
  const headers = openHeaders(request.headers)
  const address = pageAddress(request.url)
  const names = [...new Set(address.query.keys())].filter((name) => !FORBIDDEN.has(name))
  const query = names.map((name) => {
    const values = address.getAll(name)
    return [name, values.length === 1 ? (values[0] ?? '') : values] as const
  })
  return {
    method: request.method,
    url: address.href,
    headers,
    ip: request.ip,
    query: Object.fromEntries(query),
    path,
    body: undefined,
    user: request.identity?.user,
    ...(request.identity && { scopes: request.identity.scopes }),
    visit,
  }
}

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
