/** The references between storages, by what their fields say. */
import type { FieldReference, FieldRule } from '../../shared/field-rule.ts'
import type { DocumentLock } from '../claims.ts'

/** A field of a storage that refers to documents of another one, or of the same. */
export interface Reference extends FieldReference {
  /** The storage that has the field. */
  readonly from: string
  readonly field: string
}

export interface References {
  readonly none: boolean
  /** The fields of a storage that refer to documents. */
  of(storage: string): readonly Reference[]
  /** The fields, of any storage, that refer to documents of this one. */
  to(storage: string): readonly Reference[]
}

const nothing: readonly Reference[] = []

export function referencesIn(rules: readonly FieldRule[]): References {
  const all = rules.flatMap(({ storage, name, reference }): readonly Reference[] =>
    storage === undefined || reference === undefined
      ? nothing
      : [{ ...reference, from: storage, field: name }],
  )
  const from = Map.groupBy(all, (one) => one.from)
  const to = Map.groupBy(all, (one) => one.storage)
  return {
    none: all.length === 0,
    of: (storage) => from.get(storage) ?? nothing,
    to: (storage) => to.get(storage) ?? nothing,
  }
}

// Orders, groups and figures are of a document's own fields: no engine sorts or groups by a field of another document. Without
// this check such a path would find nothing in each document, and say nothing of it.

/** The first field that is behind a reference, in words that finish "The block …". */
export function behindProblem(
  fields: readonly string[],
  references: readonly Reference[],
): string | undefined {
  for (const field of fields) {
    const reference = references.find((one) => field.startsWith(`${one.field}.`))
    if (reference) return problemOf(field, reference)
  }
  return undefined
}

function problemOf(field: string, { field: own, storage, from }: Reference): string {
  return `has ${field}, a field of another document: ${own} refers to the storage ${storage}. Use ${own} itself, or keep the value in a field of ${from}`
}

/** Documents that a field refers to: which documents refer to them with it, at most `limit`. */
export interface Referred {
  readonly field: string
  readonly guids: readonly string[]
  readonly limit: number
}

export const noLocks: DocumentLock = { guids: [], referrers: () => [] }
