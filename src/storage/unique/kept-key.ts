/** A unique key that a database keeps, and the values that documents have of it. */
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { keyValue, type UniqueKey } from './unique-key.ts'

export interface KeptKey {
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
  readonly key: KeptKey
  readonly value: string
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
export function keyTable({ id }: Pick<KeptKey, 'id'>): string {
  return `unique_${id}`
}

export function uniqueValues(keys: readonly KeptKey[], document: JsonObject): readonly UniqueValue[] {
  if (keys.length === 0) return none
  return keys.flatMap((key) => {
    const value = keyValue(key.definition, document)
    return value === undefined ? [] : [{ key, value }]
  })
}

/** `before` and `after`: undefined when the document is not present then. */
export function changedValues(
  keys: readonly KeptKey[],
  before: (() => JsonObject) | undefined,
  after: (() => JsonObject) | undefined,
): ValueChange {
  if (keys.length === 0) return unchanged
  const had = before ? uniqueValues(keys, before()) : none
  const has = after ? uniqueValues(keys, after()) : none
  return { added: without(has, had), freed: without(had, has) }
}

function without(values: readonly UniqueValue[], others: readonly UniqueValue[]): readonly UniqueValue[] {
  return values.filter(
    ({ key, value }) => !others.some((other) => other.key === key && other.value === value),
  )
}

/** The document's value of the key that is in force under the name. Throws INVALID_QUERY when there is none. */
export function valueOfKey(
  { name: storage, unique }: { readonly name: string; readonly unique: readonly KeptKey[] },
  name: string,
  document: JsonObject,
): UniqueValue | undefined {
  const key = unique.find(({ definition, isReady }) => isReady && definition.name === name)
  if (key === undefined)
    throw new QuoinError('INVALID_QUERY', `The storage ${storage} has no unique key ${JSON.stringify(name)}.`)
  const value = keyValue(key.definition, document)
  return value === undefined ? undefined : { key, value }
}
