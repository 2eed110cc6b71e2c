/**
 * Changes the document that has a value of a unique key, or creates it. Right whatever is written at the same time: where
 * another session creates the document meanwhile, the write is refused by the key, and the next try finds it.
 */
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import { andThen, type MaybePromise, recover } from '../shared/maybe-promise.ts'
import type { Mutation } from '../shared/mutation.ts'
import type { UniqueKeyMatch } from './claims.ts'
import { documentOf, type Session } from './database.ts'
import type { StoredJson } from './stored-json.ts'
import { UniqueConflict } from './unique/duplicates.ts'

export interface Upsert {
  readonly storage: string
  /** The fields of a unique key, or its name. */
  readonly by: readonly string[]
  /** The new document, by which the stored one is looked for. */
  readonly fields: JsonObject
  readonly create: readonly Mutation[]
  readonly change: readonly Mutation[]
}

export interface Upserted {
  readonly document: StoredJson
  readonly created: boolean
}

/** Each that fails has been overtaken by a write that succeeded: so many of one value only fail where it is written without end. */
const MOST_TRIES = 50

/** Throws what create and update throw; undefined when a field of the key is missing or null in `#requested`. */
export function upsertDocument(session: Session, upsert: Upsert): MaybePromise<Upserted | undefined> {
  const attempt = (tries: number): MaybePromise<Upserted | undefined> => {
    if (tries === 0)
      throw new QuoinError('UNAVAILABLE', 'The document is written by too many others. Try again.')
    const again = () => attempt(tries - 1)
    return andThen(session.claims.findByUniqueKey(upsert.storage, upsert.by, upsert.fields), (holder) => {
      if (holder === undefined) return undefined
      const { guid } = holder
      return guid === undefined
        ? created(session, upsert, holder, again)
        : changed(session, upsert, { ...holder, guid }, again)
    })
  }
  return attempt(MOST_TRIES)
}

type Again = () => MaybePromise<Upserted | undefined>

function created(
  session: Session,
  { storage, create }: Upsert,
  { key }: UniqueKeyMatch,
  again: Again,
): MaybePromise<Upserted | undefined> {
  const refused = (error: unknown) => {
    // Another session has created it since it was looked for.
    if (error instanceof UniqueConflict && error.key === key) return again()
    throw error
  }
  return recover<Upserted, Upserted | undefined>(
    () => andThen(session.create(storage, create), (document) => ({ document, created: true })),
    refused,
  )
}

function changed(
  session: Session,
  { storage, change }: Upsert,
  { guid, has }: UniqueKeyMatch & { readonly guid: string },
  again: Again,
): MaybePromise<Upserted | undefined> {
  // It may have another value, or be gone, by the time that no other session can change it.
  const allows = (document: StoredJson) => has(documentOf(document))
  return andThen(session.update(storage, guid, change, { allows }), (written) =>
    written.outcome === 'written' ? { document: written.document, created: false } : again(),
  )
}
