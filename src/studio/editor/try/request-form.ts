/**
 * The form of a request: the fields that its endpoint names, and reading and writing them in the text of the body and of
 * the query. The texts are what is sent, so that form and text are always in step.
 */
import type { FieldRecord } from '../../../shared/api/blueprints/blueprint-fields.ts'
import type { BlockContent } from '../../../shared/blueprint.ts'
import { fieldTypeEntries, fieldTypes } from '../../../shared/fields/field-type.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../shared/json.ts'
import {
  type RequestField,
  type RequestPlace,
  type RequestType,
  requestFields,
} from '../../../shared/request-field.ts'
import { parametersOf } from '../model/endpoints.ts'

export interface FormField {
  readonly name: string
  readonly type: RequestType
  readonly required: boolean
  readonly choices: readonly (string | number)[]
  readonly default: JsonValue | undefined
  readonly limits: Pick<RequestField, 'min' | 'max' | 'min_length' | 'max_length' | 'pattern'>
  readonly help: string
}

export type FormFields = Readonly<Record<RequestPlace, readonly FormField[]>>

/** What is read of a field of a storage. */
export type StorageRule = Pick<FieldRecord, 'name' | 'type'> &
  Partial<
    Pick<
      FieldRecord,
      'required' | 'default_value' | 'default_expression' | 'validation_rules' | 'label' | 'help' | 'computed'
    >
  >

/** `rules`: of the storage by whose fields the body is checked. Fields that lie deeper are written as JSON. */
export function formOf(
  content: BlockContent | undefined,
  method: string,
  uri: string,
  rules: readonly StorageRule[],
): FormFields {
  const named = requestFields(content?.fields.schema)
  const inPath = parametersOf(uri)
  const rest: RequestPlace = method === 'GET' || method === 'DELETE' ? 'query' : 'body'
  const placed = named.map((field) => ({
    field: ofSchema(field),
    place: field.in ?? (inPath.includes(field.name) ? 'path' : rest),
  }))
  const at = (place: RequestPlace) => placed.filter((one) => one.place === place).map(({ field }) => field)
  const own = at('body')
  const isPartial = method === 'PUT' || method === 'PATCH'
  const ofRules = rules.flatMap((rule) =>
    isWritten(rule) && !own.some(({ name }) => name === rule.name) ? ofRule(rule, isPartial) : [],
  )
  const input = new Map(at('path').map((field) => [field.name, field]))
  return {
    path: inPath.map((name) => ({ ...(input.get(name) ?? plain(name)), required: true })),
    query: at('query'),
    body: method === 'GET' ? [] : [...own, ...ofRules],
  }
}

function ofSchema({
  name,
  type,
  required,
  default: standard,
  choices = [],
  ...rest
}: RequestField): FormField {
  const { min, max, min_length, max_length, pattern } = rest
  const limits = Object.fromEntries(
    Object.entries({ min, max, min_length, max_length, pattern }).filter(([, limit]) => limit !== undefined),
  )
  return {
    name,
    type,
    required: required && standard === undefined,
    default: standard,
    choices,
    limits,
    help: '',
  }
}

function plain(name: string): FormField {
  return { name, type: 'text', required: false, default: undefined, choices: [], limits: {}, help: '' }
}

function isWritten({ name, computed, type }: StorageRule): boolean {
  const known = fieldTypes.find((one) => one === type)
  return (
    !name.includes('.') && !computed && (known === undefined || fieldTypeEntries[known].automatic !== true)
  )
}

const ofTypes: ReadonlyMap<string, RequestType> = new Map([
  ['line', 'line'],
  ['number', 'number'],
  ['integer', 'whole number'],
  ['boolean', 'condition'],
  ['object', 'object'],
  ['array', 'list'],
  ['list', 'list'],
  ['choices', 'list'],
  ['files', 'list'],
  ['file', 'any'],
  ['date', 'date'],
  ['day', 'day'],
  ['instant', 'date'],
])

function ofRule(rule: StorageRule, isPartial: boolean): FormField[] {
  const { name, type, required, default_value, default_expression, validation_rules, label, help } = rule
  const isFilled = (default_value ?? null) !== null || Boolean(default_expression)
  const limits = isJsonObject(validation_rules) ? validation_rules : {}
  const like = { ...limits, name, type: ofTypes.get(type) ?? 'text', default: default_value ?? null }
  return requestFields([{ ...like, required: required === true && !isFilled && !isPartial }]).map(
    (field) => ({
      ...ofSchema(field),
      help: [label, help].filter(Boolean).join(': '),
    }),
  )
}

/** The object that a body's text is; undefined where it is none. */
export function bodyObject(text: string): JsonObject | undefined {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The text with a field of its object set; undefined leaves it out. */
export function withBodyField(text: string, name: string, value: JsonValue | undefined): string {
  const before = bodyObject(text)
  if (!before) return text
  const { [name]: _old, ...rest } = before
  const after =
    value === undefined
      ? rest
      : Object.hasOwn(before, name)
        ? { ...before, [name]: value }
        : { ...rest, [name]: value }
  return JSON.stringify(after, undefined, 2)
}

export function queryField(query: string, name: string): string {
  return new URLSearchParams(query).getAll(name).join(',')
}

/** The query with a value; empty leaves it out. A list is sent as its name several times. */
export function withQueryField(query: string, { name, type }: FormField, value: string): string {
  const words = new URLSearchParams(query)
  words.delete(name)
  const values = type === 'list' ? value.split(',').map((one) => one.trim()) : [value]
  for (const one of values) if (one !== '') words.append(name, one)
  return words.toString()
}

/** The text of a value in the field of the form. */
export function fieldText({ type }: FormField, value: JsonValue | undefined): string {
  if (value === undefined || value === null) return ''
  if (type === 'list' || type === 'object' || type === 'any' || typeof value === 'object')
    return JSON.stringify(value)
  return String(value)
}

export interface Typed {
  /** undefined: left out. */
  readonly value: JsonValue | undefined
  /** It cannot be read as what it should be; it is sent as a text, and the endpoint says what it thinks of that. */
  readonly isWrong: boolean
}

/** What a text in the form means. */
export function typedValue({ type, choices }: FormField, text: string): Typed {
  if (text === '') return { value: undefined, isWrong: false }
  const chosen = choices.find((one) => String(one) === text)
  if (chosen !== undefined) return { value: chosen, isWrong: false }
  if (type === 'condition') return { value: text === 'true', isWrong: false }
  if (type === 'number' || type === 'whole number') {
    const number = Number(text)
    const isWrong = !Number.isFinite(number) || (type === 'whole number' && !Number.isInteger(number))
    return { value: isWrong ? text : number, isWrong }
  }
  if (type !== 'list' && type !== 'object' && type !== 'any') return { value: text, isWrong: false }
  try {
    const value: JsonValue = JSON.parse(text)
    const isWrong = type === 'list' ? !Array.isArray(value) : type === 'object' && !isJsonObject(value)
    return { value, isWrong }
  } catch {
    return { value: text, isWrong: type !== 'any' }
  }
}
