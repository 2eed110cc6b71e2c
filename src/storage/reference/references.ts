/** The references between storages, by what their fields say. */
import { QuoinError } from '../../shared/errors.ts'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import type { FieldReference, FieldRule } from '../../shared/field-rule.ts'
import type { JsonObject } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { DocumentLock } from '../claims.ts'
import type { Session } from '../database.ts'

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

// Whether what documents refer to is present, so that it stays so until they are written.

/** A document that is referred to. */
export interface Target {
  readonly reference: Reference
  readonly guid: string
}

/** What a document refers to. Blank text is nothing, as everywhere in fields; what is no text, the type of the field refuses. */
export function targetsOf(references: readonly Reference[], document: JsonObject): readonly Target[] {
  return references.flatMap((reference) => {
    const guid = valueAt(document, parseFieldPath(reference.field))
    return typeof guid === 'string' && guid.trim() !== '' ? [{ reference, guid }] : []
  })
}

/** Those that are not present. The others are held. */
export function missingOf(session: Session, targets: readonly Target[]): MaybePromise<readonly Target[]> {
  if (targets.length === 0) return targets
  // In one order for all sessions, so that two do not wait for each other.
  const storages = [...new Set(targets.map(({ reference }) => reference.storage))].sort()
  const missing: Target[] = []
  return storages.reduce<MaybePromise<readonly Target[]>>(
    (before, storage) =>
      andThen(before, () => {
        const there = targets.filter(({ reference }) => reference.storage === storage)
        const guids = [...new Set(there.map(({ guid }) => guid))]
        return andThen(session.claims.lockDocuments(storage, guids, 'reference'), (held) => {
          const present = new Set(held.guids)
          missing.push(...there.filter(({ guid }) => !present.has(guid)))
          return missing
        })
      }),
    missing,
  )
}

/** A value that a client has given. */
export function missingError({ reference: { field, storage } }: Target): QuoinError {
  return new QuoinError(
    'INVALID_BODY',
    `${field} names no document of the storage ${storage}. Use the guid of one that is there.`,
    { fields: [field] },
  )
}

/** A removed document refers to one that has been removed since. */
export function notRestored({ reference: { field, storage } }: Target): QuoinError {
  return new QuoinError(
    'CONFLICT',
    `The document cannot be restored: ${field} names a document of the storage ${storage} that is removed. Restore that one first.`,
    { fields: [field] },
  )
}
