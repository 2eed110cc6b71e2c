/** The references between storages, by what their fields say. */
import type { FieldReference, FieldRule } from '../../shared/field-rule.ts'

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
