/** Checks a request by the schema of its trigger before the flow starts, and gives the values of its fields. */
import { readDate } from '../../../blocks/pins/scalar-values.ts'
import type { RunRequest } from '../../../blocks/run-request.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { type FieldRule, fieldValueProblem } from '../../../shared/field-rule.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../shared/json.ts'
import { keepsDigits } from '../../../shared/numbers/exact-json.ts'
import { type PlacedField, type RequestField, ruleOfField } from '../../../shared/request-field.ts'
import { type PatternSpending, patternBudget } from '../../../shared/texts/pattern-budget.ts'

const FORM = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)(?:\s*;|$)/i

export interface CheckedRequest {
  /** With the defaults in its body. Fields that the schema does not name stay as they are. */
  readonly request: RunRequest
  /** By field, as the out-pins of the trigger give them. */
  readonly values: Readonly<Record<string, unknown>>
}

/** `fields`: each with its place. The function throws INVALID_BODY, which lists every field that does not fit. */
export function requestChecker(fields: readonly PlacedField[]): (request: RunRequest) => CheckedRequest {
  const checked = fields.map((field) => {
    const rule = ruleOfField(field)
    // Of most requests most fields are missing, and what then follows is always the same.
    return { field, rule, missing: checkedValue(field, rule, missingValue(field), patternBudget()) }
  })
  const readsBody = fields.some((field) => field.in === 'body')
  return (request) => {
    const reasons: Record<string, string> = {}
    const values: Record<string, unknown> = {}
    const body = readsBody ? bodyObject(request.body) : {}
    const added: Record<string, JsonValue> = {}
    const isForm = readsBody && isFormRequest(request)
    const query = withLists(request.query)
    const form = isForm ? withLists(body) : body
    const spend = patternBudget()
    let isRefused = false
    let isCompleted = false
    const emptied: string[] = []
    for (const { field, rule, missing } of checked) {
      const { name } = field
      const sent = field.in === 'body' ? own(body, name) : undefined
      const from = field.in === 'path' ? request.path : query
      const input =
        field.in !== 'body' ? fromText(field, from) : isForm ? fromForm(field, own(form, name)) : sent
      const strange = input === undefined && field.in === 'query' ? strangeName(query, name) : undefined
      const { problem, value } =
        input === undefined ? (strange ?? missing) : checkedValue(field, rule, input, spend)
      if (problem !== undefined) {
        reasons[name] = problem
        isRefused = true
      } else if (value !== undefined) values[name] = value
      else if (field.in === 'query' && own(query, name) === '' && !holdsText[field.type]) emptied.push(name)
      if (field.in === 'body' && input === undefined && field.default !== undefined) {
        added[name] = field.default
        isCompleted = true
      } else if (input !== undefined && input !== sent && field.in === 'body') {
        added[name] = input
        isCompleted = true
      }
    }
    if (isRefused) throw refused(reasons)
    const complete = isCompleted ? { ...request, body: { ...body, ...added } } : request
    return { request: emptied.length === 0 ? complete : withoutQuery(complete, emptied), values }
  }
}

/** Its body holds texts in place of numbers, conditions and lists. */
export function isFormRequest({ headers }: RunRequest): boolean {
  return FORM.test(String(headers['content-type'] ?? ''))
}

/** `?done=` is no condition and no number: expressions read nothing in its place. */
function withoutQuery(request: RunRequest, names: readonly string[]): RunRequest {
  const left = Object.entries(request.query).filter(([name]) => !names.includes(name))
  return { ...request, query: Object.fromEntries(left) }
}

/** What an empty text is a value of. */
const holdsText: Readonly<Partial<Record<RequestField['type'], true>>> = { text: true, line: true, any: true }

function missingValue({ several, default: standard }: RequestField): JsonValue | undefined {
  return several && standard !== undefined && !Array.isArray(standard) ? [standard] : standard
}

interface CheckedValue {
  readonly problem?: string
  /** As the out-pin gives it; undefined for nothing. */
  readonly value?: unknown
}

function checkedValue(
  field: RequestField,
  rule: FieldRule | undefined,
  value: JsonValue | undefined,
  spend: PatternSpending,
): CheckedValue {
  if (field.several && Array.isArray(value)) return checkedValues(field, rule, value, spend)
  const problem = extraProblem(field, value) ?? (rule && fieldValueProblem(rule, value, spend))
  if (problem !== undefined) return { problem }
  if (value === undefined || value === null) return {}
  return { value: field.type === 'date' ? readDate(value) : value }
}

/** Each value of a parameter that came several times. */
function checkedValues(
  { several: _, ...field }: RequestField,
  rule: FieldRule | undefined,
  list: readonly JsonValue[],
  spend: PatternSpending,
): CheckedValue {
  const all = list.map((one) => checkedValue(field, rule, one, spend))
  return all.find(({ problem }) => problem !== undefined) ?? { value: all.map(({ value }) => value) }
}

function bodyObject(body: JsonValue | undefined): JsonObject {
  if (body === undefined || body === null) return {}
  if (isJsonObject(body)) return body
  throw new QuoinError('INVALID_BODY', 'The body must be a JSON object.')
}

function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

const IN_LIST = /^([A-Za-z]\w{0,62})\[\d{0,4}\]$/

/** Also by its own name what many clients send for a list: `tags[]=a&tags[]=b`, and `tags[0]=a&tags[1]=b`. */
export function withLists(from: JsonObject): JsonObject {
  const inLists = Object.keys(from).filter((key) => key.endsWith(']') && IN_LIST.test(key))
  if (inLists.length === 0) return from
  const lists = new Map<string, JsonValue[]>()
  for (const key of inLists) {
    const name = IN_LIST.exec(key)?.[1] ?? key
    const list = lists.get(name) ?? [own(from, name) ?? []].flat()
    lists.set(name, list)
    for (const one of [from[key] ?? []].flat()) list.push(one)
  }
  return { ...from, ...Object.fromEntries(lists) }
}

/** `status[in]=open` would be no filter, and nothing would say so. */
function strangeName(from: JsonObject, name: string): CheckedValue | undefined {
  const strange = Object.keys(from).find((key) => key.startsWith(`${name}[`) && !IN_LIST.test(key))
  if (strange === undefined) return undefined
  return {
    problem: `is sent as ${name}=…, again for each further value, and not as ${strange.slice(0, 100)}`,
  }
}

/** A value of the path or the query is text: read as the type of its field. What cannot be read stays text, and is refused. */
function fromText(field: RequestField, from: JsonObject): JsonValue | undefined {
  const { name } = field
  const input = own(from, name)
  if (field.several) {
    const texts = input === undefined ? [] : [input].flat()
    const values = texts.flatMap((text) => valueOfText(field, String(text)) ?? [])
    return values.length === 0 ? undefined : values
  }
  return input === undefined || typeof input === 'string' ? valueOfText(field, input) : input
}

/** Texts of a form are read as those of a query; a file is an object. */
function fromForm(field: RequestField, input: JsonValue | undefined): JsonValue | undefined {
  if (isJsonObject(input)) return field.type === 'list' ? [input] : input
  return typeof input === 'string' ? valueOfText(field, input) : input
}

function valueOfText({ type }: RequestField, input: string | undefined): JsonValue | undefined {
  if (input === undefined || input === '') return undefined
  if (type === 'list') return [input]
  if (type === 'number' || type === 'whole number') return numberOfText(input)
  if (type === 'date') return withPlus(input)
  if (type !== 'condition') return input
  return input === 'true' || input === '1' ? true : input === 'false' || input === '0' ? false : input
}

/** What is no number, or has more digits than one keeps, stays text. */
export function numberOfText(input: string): number | string {
  const number = input.trim() === '' ? Number.NaN : Number(input)
  const isPlain = Number.isFinite(number) && !/^[+-]?0[xob]/i.test(input.trim())
  return isPlain && keepsDigits(input) ? number : input
}

/** In an address `+` means a space: that of `2026-03-01T09:00:00+01:00` can be nothing else. */
function withPlus(input: string): string {
  return input.replace(/^(\d{4}-\d{2}-\d{2}T[\d:.]{5,18}) (\d{2}:?\d{2})$/, '$1+$2')
}

/** What the rules of documents do not say. */
function extraProblem({ type, required }: RequestField, value: JsonValue | undefined): string | undefined {
  if (type === 'any' && required && (value === undefined || value === null))
    return 'is required and must not be empty'
  if (type === 'day' && isSupplied(value) && !isDay(value)) return 'must be a day such as 2026-01-31'
  return type === 'whole number' && isSupplied(value) && !Number.isInteger(value)
    ? 'must be a whole number'
    : undefined
}

function isSupplied(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== ''
}

function isDay(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value)
}

function refused(reasons: Readonly<Record<string, string>>): QuoinError {
  const list = Object.entries(reasons).map(([name, reason]) => `${name} ${reason}`)
  return new QuoinError('INVALID_BODY', `The request is invalid: ${list.join('; ')}.`, {
    fields: Object.keys(reasons),
    reasons,
  })
}
