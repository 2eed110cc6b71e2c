/** A unique key that a database keeps, and the values that documents have of it. */

import { QuoinError } from '../../shared/errors.ts'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import type { JsonObject } from '../../shared/json.ts'
import { fieldNames, isSameKey, keyValue, type UniqueKey } from './unique-key.ts'

/** The storage keeps no unique key over these fields, or of this name. */
export class UnknownKey extends QuoinError {
  /** In words that finish "<pin> …". */
  readonly reason: string

  constructor(storage: string, by: readonly string[]) {
    const reason = `names no unique field of the storage ${storage}: ${by.join(', ')}`
    super('INTERNAL', `The search for a document by its unique fields ${reason}.`)
    this.name = 'UnknownKey'
    this.reason = reason
  }
}

export interface ActiveUniqueKey {
  /** Number in the catalogue. Never used again. */
  readonly id: number
  readonly definition: UniqueKey
  /**
   * Whether every document's value is in its table and none may be there twice. Until then writers add their values and
   * refuse nothing.
   */
  readonly isReady: boolean
}

export interface UniqueValue {
  readonly key: ActiveUniqueKey
  readonly value: string
}

/** What is not one of these keys in force. A change that was cut short leaves two of one name, with different values. */
export function keysBesides(
  active: readonly ActiveUniqueKey[],
  keys: readonly UniqueKey[],
): readonly ActiveUniqueKey[] {
  const retained = keys.map((key) =>
    active.findLast(({ isReady, definition }) => isReady && isSameKey(definition, key)),
  )
  return active.filter((one) => !retained.includes(one))
}

/** What a write does to the values of its document. */
export interface ValueChange {
  readonly added: readonly UniqueValue[]
  readonly freed: readonly UniqueValue[]
}

const none: readonly UniqueValue[] = []
const unchanged: ValueChange = { added: none, freed: none }

/**
 * Its rows: `value`, `slot` and `guid` of the document; `value` and `slot` are the primary key. The slot is empty, so that
 * the value is there once. Only while the key is not ready, a document that has the value of another one has its row in a
 * slot of its own: the list of what keeps the key from being kept.
 */
export function keyTable({ id }: Pick<ActiveUniqueKey, 'id'>): string {
  return `unique_${id}`
}

export function uniqueValues(keys: readonly ActiveUniqueKey[], document: JsonObject): readonly UniqueValue[] {
  if (keys.length === 0) return none
  return keys.flatMap((key) => {
    const value = keyValue(key.definition, document)
    return value === undefined ? [] : [{ key, value }]
  })
}

/** `before` and `after`: undefined when the document is not present then. */
export function changedValues(
  keys: readonly ActiveUniqueKey[],
  before: (() => JsonObject) | undefined,
  after: (() => JsonObject) | undefined,
): ValueChange {
  if (keys.length === 0) return unchanged
  const [was, is] = [before?.(), after?.()]
  // Folding and hashing a megabyte takes 10 to 20 ms, and comparing it none.
  const touched = was && is ? keys.filter((key) => !hasSameFields(key, was, is)) : keys
  const had = was ? uniqueValues(touched, was) : none
  const has = is ? uniqueValues(touched, is) : none
  return { added: without(has, had), freed: without(had, has) }
}

/** False also for equal lists and objects: then their values are compared. */
function hasSameFields({ definition }: ActiveUniqueKey, was: JsonObject, is: JsonObject): boolean {
  return definition.fields.every(({ name }) => {
    const path = parseFieldPath(name)
    return valueAt(was, path) === valueAt(is, path)
  })
}

function without(values: readonly UniqueValue[], others: readonly UniqueValue[]): readonly UniqueValue[] {
  return values.filter(
    ({ key, value }) => !others.some((other) => other.key === key && other.value === value),
  )
}

/** The document's value of the key that is in force with these fields, or under this name. Throws UnknownKey. */
export function valueOfKey(
  { name: storage, unique }: { readonly name: string; readonly unique: readonly ActiveUniqueKey[] },
  by: readonly string[],
  document: JsonObject,
): UniqueValue | undefined {
  const key = unique.find(({ definition, isReady }) => isReady && isMeant(definition, by))
  if (key === undefined) throw new UnknownKey(storage, by)
  const value = keyValue(key.definition, document)
  return value === undefined ? undefined : { key, value }
}

/** Whether a builder means the key by this name, or by these fields in any order. */
export function isMeant(key: UniqueKey, by: readonly string[]): boolean {
  if (by.length === 1 && by[0] === key.name) return true
  const fields = fieldNames(key)
  return fields.length === new Set(by).size && fields.every((field) => by.includes(field))
}

export function uniqueKeyMatch({ key, value }: UniqueValue, guid: string | undefined) {
  const { definition } = key
  return {
    key: definition.name,
    guid,
    has: (document: JsonObject) => keyValue(definition, document) === value,
  }
}
