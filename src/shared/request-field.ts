/**
 * A schema of requests: fields with a type and rules, as a builder writes them on a trigger. Plain data, so that the check
 * of requests, the out-pins of the trigger and the API document follow from the same list.
 */
import type { FieldRule } from './field-rule.ts'
import type { FieldLimits } from './fields/field-limits.ts'
import type { FieldType } from './fields/field-type.ts'
import { wordFor } from './fields/type-words.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'
import type { PinType } from './pin-type.ts'
import type { RowParts } from './rows/row-part.ts'
import { patternProblem } from './texts/text-pattern.ts'

export const requestTypes = [
  'text',
  'line',
  'number',
  'whole number',
  'condition',
  'date',
  'day',
  'list',
  'object',
  'any',
] as const
export type RequestType = (typeof requestTypes)[number]
const places = ['path', 'query', 'body'] as const
export type RequestPlace = (typeof places)[number]

export interface RequestField extends FieldLimits {
  readonly name: string
  readonly type: RequestType
  readonly required: boolean
  readonly default: JsonValue | undefined
  /** undefined: the path if the address has a parameter of this name, else what the method has: query or body. */
  readonly in: RequestPlace | undefined
  /** A parameter of the query that may come several times: its value is a list. */
  readonly several?: true
}

export type PlacedField = RequestField & { readonly in: RequestPlace }

/** What a field's value is to the rules of documents; undefined for any value. */
const ruleTypes: Readonly<Record<RequestType, FieldType | undefined>> = {
  text: 'string',
  line: 'line',
  number: 'number',
  'whole number': 'number',
  condition: 'boolean',
  date: 'date',
  day: 'date',
  list: 'array',
  object: 'object',
  any: undefined,
}

const pinTypeOf: Readonly<Record<RequestType, PinType>> = {
  text: 'value',
  line: 'line',
  number: 'number',
  'whole number': 'number',
  condition: 'condition',
  date: 'date',
  // A text: a day has no time zone, and an instant has one.
  day: 'value',
  list: 'array',
  object: 'object',
  any: 'any',
}

/** What the out-pin of a field gives. */
export function pinTypeOfField({ type, several }: Pick<RequestField, 'type' | 'several'>): PinType {
  return several ? 'array' : pinTypeOf[type]
}

/** What the studio shows of a field as a row; `default` and `choices` are written as JSON. */
export const requestFieldParts: RowParts = {
  name: { kind: 'text' },
  type: { kind: 'choice', choices: requestTypes },
  required: { kind: 'switch' },
  in: { kind: 'choice', choices: places },
  min: { kind: 'number' },
  max: { kind: 'number' },
  min_length: { kind: 'number' },
  max_length: { kind: 'number' },
  pattern: { kind: 'text' },
  several: { kind: 'switch' },
}

const MOST_FIELDS = 100
const MOST_CHOICES = 500
/** It becomes an out-pin and a name in expressions. */
const NAME = /^[A-Za-z][A-Za-z0-9_]{0,62}$/
const RESERVED = new Set(['constructor', 'prototype', 'flow', 'connection', 'body', 'error'])
const KEYS = new Set([
  'name',
  'type',
  'required',
  'default',
  'in',
  'min',
  'max',
  'min_length',
  'max_length',
  'pattern',
  'choices',
  'several',
])

/** The rule of a field as documents have it; undefined for a field that takes any value. */
export function ruleOfField(field: RequestField): FieldRule | undefined {
  const type = ruleTypes[field.type]
  if (type === undefined) return undefined
  const { name, required, default: defaultValue } = field
  return { name, storage: '', type, required, defaultValue, limits: field }
}

/** What is wrong with a list of fields, in words that finish "The setting schema …", or undefined. */
export function requestFieldsProblem(value: JsonValue): string | undefined {
  if (!Array.isArray(value)) return 'must be a list of fields, such as [{ "name": "title", "type": "text" }]'
  if (value.length > MOST_FIELDS) return `must hold at most ${MOST_FIELDS} fields`
  const seen = new Set<string>()
  for (const [at, field] of value.entries()) {
    const problem = isJsonObject(field) ? fieldProblem(field, seen) : 'is no object'
    if (problem !== undefined) return `has a field ${called(field, at)} that ${problem}`
  }
  return undefined
}

function called(field: JsonValue, at: number): string {
  return isJsonObject(field) && typeof field.name === 'string' ? JSON.stringify(field.name) : `at ${at}`
}

function fieldProblem(field: JsonObject, seen: Set<string>): string | undefined {
  const { name, type } = field
  const unknown = Object.keys(field).find((key) => !KEYS.has(key))
  if (unknown !== undefined) return `has the unknown key ${JSON.stringify(unknown)}`
  if (typeof name !== 'string' || !NAME.test(name))
    return 'has no name of letters, digits and _, starting with a letter'
  if (RESERVED.has(name)) return 'has a name that is taken'
  if (seen.has(name)) return 'is there twice'
  seen.add(name)
  if (wordFor(type, requestTypes) === undefined)
    return `must have one of the types ${requestTypes.join(', ')}`
  if (field.in !== undefined && !places.some((one) => one === field.in))
    return 'must be in path, query or body'
  if (field.required !== undefined && typeof field.required !== 'boolean')
    return 'must have true or false as required'
  if (field.several !== undefined && typeof field.several !== 'boolean')
    return 'must have true or false as several'
  if (field.several === true && (field.in !== 'query' || type === 'list' || type === 'object'))
    return 'may come several times only in the query, as texts, numbers, days or conditions'
  return limitsProblem(field)
}

function limitsProblem(field: JsonObject): string | undefined {
  const { min, max, min_length, max_length, pattern, choices } = field
  for (const limit of [min, max])
    if (
      limit !== undefined &&
      typeof limit !== 'number' &&
      !(isDated(field.type) && typeof limit === 'string')
    )
      return 'must have a number as min and max (a date as text for dates)'
  for (const limit of [min_length, max_length])
    if (limit !== undefined && !(typeof limit === 'number' && Number.isInteger(limit) && limit >= 0))
      return 'must have a whole number as min_length and max_length'
  if (pattern !== undefined) {
    const problem = typeof pattern === 'string' ? patternProblem(pattern) : 'must be text'
    if (problem !== undefined) return `has a pattern that ${problem}`
  }
  if (choices === undefined) return undefined
  if (!Array.isArray(choices) || choices.length > MOST_CHOICES)
    return `must have a list of at most ${MOST_CHOICES} choices`
  return choices.every((one) => typeof one === 'string' || typeof one === 'number')
    ? undefined
    : 'must have texts and numbers as choices'
}

function isDated(type: JsonValue | undefined): boolean {
  const word = wordFor(type, requestTypes)
  return word === 'date' || word === 'day'
}

/** The fields of a checked list. */
export function requestFields(value: JsonValue | undefined): readonly RequestField[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((field) => (isJsonObject(field) ? [readField(field)] : []))
}

function readField(field: JsonObject): RequestField {
  const { name, type, required, min, max, min_length, max_length, pattern, choices } = field
  const limit = (one: JsonValue | undefined) =>
    typeof one === 'number' || typeof one === 'string' ? one : undefined
  const length = (one: JsonValue | undefined) => (typeof one === 'number' ? one : undefined)
  const limits = {
    min: limit(min),
    max: limit(max),
    min_length: length(min_length),
    max_length: length(max_length),
    pattern: typeof pattern === 'string' ? pattern : undefined,
    choices: Array.isArray(choices)
      ? choices.filter((one) => typeof one === 'string' || typeof one === 'number')
      : undefined,
  }
  return {
    ...present(limits),
    name: String(name),
    type: wordFor(type, requestTypes) ?? 'any',
    required: required === true,
    default: field.default ?? undefined,
    in: places.find((one) => one === field.in),
    ...(field.several === true && { several: true }),
  }
}

function present(limits: { readonly [K in keyof FieldLimits]: FieldLimits[K] | undefined }): FieldLimits {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))
}
