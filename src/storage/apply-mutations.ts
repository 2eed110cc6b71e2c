import { invalidField, QuoinError } from '../shared/errors.ts'
import { type FieldPath, fieldNameProblem, parseFieldPath } from '../shared/field-path.ts'
import {
  documentProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MANY_FIELDS,
  MOST_FIELDS,
} from '../shared/json.ts'
import type { Mutation } from '../shared/mutation.ts'
import { addNumbers } from '../shared/numbers/decimal.ts'
import { composedValue } from '../shared/texts/composed-text.ts'

type Mutable = Record<string, JsonValue>

/**
 * A document with the mutations applied, in order. The given one is untouched, and what is not on the way to a changed
 * field is shared with it, not copied. Throws INVALID_BODY naming the field; then nothing was applied. `most`: fields that all of them may
 * set; those of the document itself are counted in its text.
 */
export function applyMutations(
  document: JsonObject,
  mutations: readonly Mutation[],
  most = MOST_FIELDS,
): JsonObject {
  if (mutations.length === 0) return document
  if (mutations.length > most) throw new QuoinError('INVALID_BODY', `The document ${MANY_FIELDS}.`)
  const fields = { left: most - mutations.length }
  const root: Mutable = { ...document }
  // The objects made here: those may be changed in place, so that 50 mutations of one object copy it once.
  const own = new Set<JsonValue>()
  for (const mutation of mutations) {
    const { field } = mutation
    const path = pathOf(field)
    const last = path[path.length - 1] ?? ''
    if (mutation.op === 'remove') {
      if (!holds(root, path)) continue
      const parent = parentOf(root, path, field, own)
      delete parent[last]
    } else if (mutation.op === 'set') {
      // Checked before the way to it is made; the value itself is not walked again.
      const problem = documentProblem(mutation.value, path.length, fields)
      if (problem) throw invalidField(field, `The value of ${field} ${problem}.`)
      parentOf(root, path, field, own)[last] = composedValue(mutation.value)
    } else if (mutation.op === 'append') {
      const problem = documentProblem(mutation.value, path.length + 1, fields)
      if (problem) throw invalidField(field, `The value for ${field} ${problem}.`)
      const parent = parentOf(root, path, field, own)
      parent[last] = appended(
        Object.hasOwn(parent, last) ? parent[last] : null,
        composedValue(mutation.value),
        field,
      )
    } else {
      const parent = parentOf(root, path, field, own)
      parent[last] = incremented(Object.hasOwn(parent, last) ? parent[last] : null, mutation.amount, field)
    }
  }
  return root
}

function pathOf(field: string): FieldPath {
  let path: FieldPath
  try {
    // Known names come from its memory; asking for the problem first would check each name on each write.
    path = parseFieldPath(field)
  } catch {
    throw invalidField(field, `The field name ${JSON.stringify(field)} ${fieldNameProblem(field)}.`)
  }
  if (path[0] === '_meta')
    throw invalidField(field, 'The field _meta is written by the storage. Leave it out.')
  return path
}

/** The object that holds the path's last key, copied or made where needed. */
function parentOf(root: Mutable, path: FieldPath, field: string, own: Set<JsonValue>): Mutable {
  let parent = root
  for (let at = 0; at < path.length - 1; at++) {
    const key = path[at] ?? ''
    const value = Object.hasOwn(parent, key) ? parent[key] : null
    if (value !== null && value !== undefined && !isJsonObject(value)) {
      const place = path.slice(0, at + 1).join('.')
      throw invalidField(
        field,
        `${field} cannot be set, because ${place} holds ${nameOf(value)} and no object.`,
      )
    }
    if (own.has(value ?? null)) {
      // Only objects made below are in the set.
      parent = value as Mutable
      continue
    }
    const copy: Mutable = { ...value }
    own.add(copy)
    parent[key] = copy
    parent = copy
  }
  return parent
}

function holds(root: JsonObject, path: FieldPath): boolean {
  let value: JsonValue | undefined = root
  for (const key of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return false
    value = value[key]
  }
  return true
}

function incremented(value: JsonValue | undefined, amount: number, field: string): number {
  if (typeof amount !== 'number' || !Number.isFinite(amount))
    throw invalidField(field, `${field} can only be incremented by a number.`)
  const before = value ?? 0
  if (typeof before !== 'number')
    throw invalidField(
      field,
      `${field} holds ${nameOf(before)} and cannot be incremented. Set a number first.`,
    )
  // Exact: 6.5 - 4.1 is 2.4, which a decimal field with two places takes.
  const after = addNumbers(before, amount)
  const isCount = Number.isSafeInteger(before) && Number.isSafeInteger(amount)
  if (isCount && !Number.isSafeInteger(after))
    throw invalidField(
      field,
      `${field} would exceed 2^53 - 1, the largest whole number that keeps its digits.`,
    )
  if (!Number.isFinite(after)) throw invalidField(field, `${field} would become too large for a number.`)
  return after
}

/** Longer lists make each further element dear: the document is written as a whole. */
const MOST_ELEMENTS = 10_000

function appended(list: JsonValue | undefined, value: JsonValue, field: string): JsonValue {
  const before = list ?? []
  if (!Array.isArray(before))
    throw invalidField(
      field,
      `${field} holds ${nameOf(before)} and nothing can be appended. Set a list first.`,
    )
  if (before.length >= MOST_ELEMENTS)
    throw invalidField(
      field,
      `${field} holds 10,000 elements, which is the most. Store the elements as documents.`,
    )
  return [...before, value]
}

function nameOf(value: JsonValue): string {
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
