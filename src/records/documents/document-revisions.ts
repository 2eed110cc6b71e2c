/**
 * What changed between two states of a document, field by field.
 *
 * Keys are dotted, in the order of the new document and then of what it no longer has. Objects are looked into; an object
 * that appears or goes as a whole is one revision, and so is one in which a name changed that no path can have: one with a dot in it, or
 * one that makes the path too long. A list that only grew at its end is one `array.add` per item, one that
 * only lost its end one `array.remove` per item, with the list as `key`; any other change of a list sets it. `_meta` is
 * not compared.
 */
import { isDeepStrictEqual } from 'node:util'
import { fieldNameProblem } from '../../shared/field-path.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'

export interface Revision {
  readonly [field: string]: JsonValue
  readonly key: string
  readonly type: 'set.field' | 'remove.field' | 'array.add' | 'array.remove'
  /** null for what was removed. */
  readonly value: JsonValue
  /** null for what was not there. */
  readonly previous_value: JsonValue
}

/** More changes than a person reads; the rest is left out. */
export const MOST_REVISIONS = 1000

/** The changes from one state to the other; from nothing, each field of the new one. */
export function documentRevisions(before: JsonObject | undefined, after: JsonObject): Revision[] {
  const revisions: Revision[] = []
  compareObjects('', before ?? {}, after, revisions)
  return revisions.slice(0, MOST_REVISIONS)
}

/** The keys that were changed, each once. */
export function changedKeys(revisions: readonly Revision[]): string[] {
  return [...new Set(revisions.map(({ key }) => key))]
}

/** False where a name changed by which no path leads. */
function compareObjects(path: string, before: JsonObject, after: JsonObject, found: Revision[]): boolean {
  for (const name of new Set([...Object.keys(after), ...Object.keys(before)])) {
    if ((path === '' && name === '_meta') || found.length >= MOST_REVISIONS) continue
    const was = Object.hasOwn(before, name) ? before[name] : undefined
    const is = Object.hasOwn(after, name) ? after[name] : undefined
    if (was === is) continue
    const key = path === '' ? name : `${path}.${name}`
    if (path === '' || (!name.includes('.') && fieldNameProblem(key) === undefined))
      compare(key, was, is, found)
    else if (!isDeepStrictEqual(was, is)) return false
  }
  return true
}

function compare(
  key: string,
  was: JsonValue | undefined,
  is: JsonValue | undefined,
  found: Revision[],
): void {
  if (is === undefined) {
    found.push({ key, type: 'remove.field', value: null, previous_value: was ?? null })
  } else if (isJsonObject(was) && isJsonObject(is)) {
    const at = found.length
    if (compareObjects(key, was, is, found)) return
    found.length = at
    found.push({ key, type: 'set.field', value: is, previous_value: was })
  } else if (!isDeepStrictEqual(was, is)) {
    if (!Array.isArray(was) || !Array.isArray(is) || !compareEnds(key, was, is, found))
      found.push({ key, type: 'set.field', value: is, previous_value: was ?? null })
  }
}

/** Whether the lists differ at the end alone. */
function compareEnds(
  key: string,
  was: readonly JsonValue[],
  is: readonly JsonValue[],
  found: Revision[],
): boolean {
  const common = Math.min(was.length, is.length)
  if (was.length === is.length || !isDeepStrictEqual(was.slice(0, common), is.slice(0, common))) return false
  for (const value of is.slice(common)) found.push({ key, type: 'array.add', value, previous_value: null })
  for (const previous_value of was.slice(common))
    found.push({ key, type: 'array.remove', value: null, previous_value })
  return true
}
