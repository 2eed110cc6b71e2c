/** Whether what documents refer to is present, so that it stays so until they are written. */
import { QuoinError } from '../../shared/errors.ts'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import type { JsonObject } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Session } from '../database.ts'
import type { Reference } from './references.ts'

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
