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
 * What keeps a value from being stored, in words that finish the sentence "the value …", or undefined if nothing does.
 * PostgreSQL's jsonb can hold neither U+0000 nor half of a surrogate pair, so neither engine takes them.
 */
export function jsonProblem(value: unknown, depth = 0): string | undefined {
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
  if (Array.isArray(value)) {
    for (const item of value) {
      const problem = jsonProblem(item, depth + 1)
      if (problem) return problem
    }
    return undefined
  }
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') return 'has a key named __proto__'
    const problem = textProblem(key) ?? jsonProblem(item, depth + 1)
    if (problem) return problem
  }
  return undefined
}

function textProblem(text: string): string | undefined {
  if (text.includes('\u0000')) return 'holds the character U+0000'
  return text.isWellFormed() ? undefined : 'holds half of a surrogate pair'
}
