import { isJsonObject, type JsonValue } from './json.ts'

/**
 * A field's place in a document, written with dots: `customer.address.city`. A path goes through objects only, not into
 * the items of arrays.
 */
export type FieldPath = readonly string[]

const MAX_LENGTH = 256
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype'])
/** Most names, told in one look: bodies may have 70,000. */
const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]{0,255}$/
/** No bounded map: it is asked for each field of each document, at 6 to 9 ns instead of 18 to 33. */
const memo = new Map<string, FieldPath>()

/** What is wrong with a field name, in words that finish "the field name …", or undefined. */
export function fieldNameProblem(name: string): string | undefined {
  if (PLAIN.test(name) && !FORBIDDEN.has(name)) return undefined
  if (name === '') return 'is empty'
  if (name.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (!name.isWellFormed() || /[\u0000-\u001f"\\]/.test(name))
    return 'contains a quote, backslash or control character'
  const parts = name.split('.')
  if (parts.length > 16) return 'has more than 16 parts'
  if (parts.some((part) => part === '')) return 'has an empty part between dots'
  const bad = parts.find((part) => FORBIDDEN.has(part))
  return bad === undefined ? undefined : `may not use ${bad}`
}

/** Splits a checked name. Throws a RangeError for a bad one: check with {@link fieldNameProblem} where a user typed it. */
export function parseFieldPath(name: string): FieldPath {
  const known = memo.get(name)
  if (known) return known
  const problem = fieldNameProblem(name)
  if (problem) throw new RangeError(`The field name ${JSON.stringify(name)} ${problem}.`)
  const path = name.split('.')
  // Names come from blueprints and are few; the bound is for searches that invent them.
  if (memo.size < 10_000) memo.set(name, path)
  return path
}

/** The value at a path, or undefined where there is none. Own keys only. */
export function valueAt(document: JsonValue | undefined, path: FieldPath): JsonValue | undefined {
  let value = document
  for (const key of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value
}

/** Whether one field is the other one, in it or around it. */
export function overlap(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)
}

// Which fields overlap with some of many others, without a look at each: a body of a megabyte has 70,000.

/** Fewer are all looked at as quickly. */
const FEW = 8

export interface FieldOverlaps {
  /** Whether one of them is this field, in it or around it. */
  overlaps(name: string): boolean
  /** Whether one of them is in it. */
  hasInside(name: string): boolean
}

export function fieldOverlaps(fields: readonly string[]): FieldOverlaps {
  if (fields.length <= FEW)
    return {
      overlaps: (name) => fields.some((field) => overlap(field, name)),
      hasInside: (name) => fields.some((field) => field.startsWith(`${name}.`)),
    }
  const all = new Set(fields)
  const around = new Set(fields.flatMap((field) => [...fieldsAround(field)]))
  return {
    overlaps: (name) =>
      all.has(name) || around.has(name) || [...fieldsAround(name)].some((one) => all.has(one)),
    hasInside: (name) => around.has(name),
  }
}

/** `a` and `a.b` of `a.b.c`. */
function* fieldsAround(field: string): Generator<string> {
  for (let dot = field.indexOf('.'); dot !== -1; dot = field.indexOf('.', dot + 1)) yield field.slice(0, dot)
}
