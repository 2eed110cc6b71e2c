/** JSON as documents hold it. Anything else a program can hold (dates, functions, NaN) is converted before it gets here. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [key: string]: JsonValue
}

/** Deeper values are refused on the way in: recursion over a document can then never exhaust the stack. */
export const MAX_DEPTH = 64

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * A map by names that people choose. It has no member that every object of JavaScript has: `toString` may be the name of a field, and is absent
 * where there is none.
 */
export function namedObject<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  return Object.assign(Object.create(null), Object.fromEntries(entries))
}

/** The same of an object that was parsed. */
export function memberOf<T>(object: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/**
 * What keeps a value from being stored, in words that finish the sentence "the value …", or undefined if nothing does.
 * PostgreSQL's jsonb can hold neither U+0000 nor half of a surrogate pair, so neither engine takes them.
 */
export function jsonProblem(value: unknown, depth = 0): string | undefined {
  return problemIn(value, depth, { left: FEW, sound: undefined, fields: undefined })
}

/** The same of what is set in one document. `fields`: how many it may still have; what it has is taken off. */
export function documentProblem(value: unknown, depth: number, fields: { left: number }): string | undefined {
  return problemIn(value, depth, { left: FEW, sound: undefined, fields })
}

/** So many objects and lists are looked at before those that are sound are remembered: parts may be shared without end. */
const FEW = 100_000

interface Looked {
  left: number
  /** With the depth down to which each was found sound: deeper down it may be nested too deep. */
  sound: Map<object, number> | undefined
  readonly fields: { left: number } | undefined
}

function problemIn(value: unknown, depth: number, looked: Looked): string | undefined {
  switch (typeof value) {
    case 'string':
      return textProblem(value)
    case 'number':
      return Number.isFinite(value) ? undefined : 'holds a number that JSON cannot write'
    case 'boolean':
      return undefined
    case 'object':
      break
    default:
      return `holds a ${typeof value}, which JSON cannot write`
  }
  if (value === null) return undefined
  if (depth >= MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`
  if (looked.left > 0) looked.left -= 1
  else {
    looked.sound ??= new Map()
    if ((looked.sound.get(value) ?? -1) >= depth) return undefined
  }
  const problem = problemInside(value, depth, looked)
  if (!problem) looked.sound?.set(value, depth)
  return problem
}

/** For the error of a value with such a key, wherever it is. */
export const PROTOTYPE_KEY = 'has a key named __proto__'

function problemInside(value: object, depth: number, looked: Looked): string | undefined {
  if (Array.isArray(value)) {
    for (const item of value) {
      const problem = problemIn(item, depth + 1, looked)
      if (problem) return problem
    }
    return undefined
  }
  const entries = Object.entries(value)
  if (looked.fields) {
    looked.fields.left -= entries.length
    if (looked.fields.left < 0) return MANY_FIELDS
  }
  for (const [key, item] of entries) {
    if (key === '__proto__') return PROTOTYPE_KEY
    const problem = textProblem(key) ?? problemIn(item, depth + 1, looked)
    if (problem) return problem
  }
  return undefined
}

function textProblem(text: string): string | undefined {
  if (text.includes('\u0000')) return 'holds the character U+0000'
  return text.isWellFormed() ? undefined : 'holds half of a surrogate pair'
}

/** Whether two values are the same JSON. Keys may stand in another order; what is undefined is not there. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, at) => sameJson(item, b[at]))
  }
  const left = present(a)
  const right = new Map(present(b))
  return (
    left.length === right.size &&
    left.every(([key, value]) => right.has(key) && sameJson(value, right.get(key)))
  )
}

function present(object: object): [string, unknown][] {
  return Object.entries(object).filter(([, value]) => value !== undefined)
}

/**
 * Whether a value holds more values, or more characters in texts, than that. Looks at shared parts as often as they would
 * be written: a flow of two maps can make 500 MB of text out of 50 KB, and writing it would stop the process for seconds.
 */
export function isLargerThan(whole: unknown, mostValues: number, mostCharacters: number): boolean {
  let values = 0
  let characters = 0
  const open: unknown[] = [whole]
  while (open.length > 0) {
    const value = open.pop()
    values += 1
    if (typeof value === 'string') characters += value.length
    else if (typeof value === 'object' && value !== null)
      for (const item of Array.isArray(value) ? value : Object.values(value)) {
        open.push(item)
        if (values + open.length > mostValues) return true
      }
    if (values + open.length > mostValues || characters > mostCharacters) return true
  }
  return false
}

/**
 * Fields of one document, those inside of others counted. Objects with more are hash tables for V8, and everything that reads them
 * takes ten times as long: 110,000 names in 1 MB held a node for 0.4 s when they were written, and for 0.1 s when they were read.
 */
export const MOST_FIELDS = 10_000

/** A shorter text has fewer fields than that: the shortest is a quote, a letter, a quote, a colon, a digit, a comma. */
export const SHORTEST_MANY_FIELDS = MOST_FIELDS * 6

/** For the error of a document with more. */
export const MANY_FIELDS = `has more than ${MOST_FIELDS.toLocaleString('en')} fields, those inside of others counted. Store it as several documents`
