/**
 * How far jobs have come that change many documents: one record a job, with the same guid, written in the transaction of each
 * batch. So a batch counts when it is committed and only then, and after a crash the next worker continues behind it.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { guidOf, objectsIn, textIn } from '../../storage/document-fields.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'

const storage = systemStorages.manyChanges
/** How long records are kept. A dead letter that is older begins at the first document when it is requeued. */
const MAX_AGE_MS = 366 * 86_400_000
const MOST_FORGOTTEN = 100

export interface ManyProgress {
  /** Documents that have been gone through, and how many of them were changed and refused. */
  readonly done: number
  readonly changed: number
  readonly refused: number
  /** How many matched when the job began. */
  readonly total: number
  /** The first that were refused, each with its guid and the reason. */
  readonly problems: readonly JsonObject[]
  readonly finished: boolean
}

/** Where a job has come to, for its next batch. */
export interface ManyPlace extends ManyProgress {
  /** Milliseconds: documents that are created later are left out. */
  readonly began: number
  readonly after: string | undefined
  readonly hash: string
}

export async function manyProgress(database: Database, job: string): Promise<ManyProgress | undefined> {
  if (!database.has(storage)) return undefined
  const record = await database.session().get(storage, job)
  if (record === undefined) return undefined
  const { done, changed, refused, total, problems, finished } = placeOf(record)
  return { done, changed, refused, total, problems, finished }
}

/** The record of a job, made if there is none. */
export async function manyPlace(
  database: Database,
  job: string,
  now: number,
  count: (session: Session) => MaybePromise<number>,
): Promise<ManyPlace> {
  await database.ensure(storage)
  const known = await database.session().get(storage, job)
  if (known) return placeOf(known)
  return transact(database, async (session) => {
    const total = await count(session)
    await forgetOld(session, now)
    const fields = { began: now, total, done: 0, changed: 0, refused: 0, problems: [], finished: false }
    return placeOf(await session.create(storage, setFields(fields), { guid: job }))
  })
}

/** In the transaction of a batch. Fails when another worker has done a batch since the place was read. */
export async function moveOn(
  session: Session,
  job: string,
  from: ManyPlace,
  to: ManyPlace,
): Promise<ManyPlace> {
  const { hash: _hash, began: _began, after = '', ...fields } = to
  const changes = setFields({ ...fields, problems: [...fields.problems], after })
  const written = await session.update(storage, job, changes, { updateHash: from.hash })
  if (written.outcome !== 'written') throw new Error('Another worker continues this change of documents.')
  return placeOf(written.document)
}

async function forgetOld(session: Session, now: number): Promise<void> {
  const query = { kind: 'range', field: '_meta.cms', bounds: { lt: now - MAX_AGE_MS } } as const
  const { documents } = await session.find(storage, search({ query, limit: MOST_FORGOTTEN }))
  for (const record of objectsIn(documents.value)) await session.delete(storage, guidOf(record))
}

function placeOf(stored: StoredJson): ManyPlace {
  const record = documentOf(stored)
  const after = textIn(record.after)
  return {
    done: numberIn(record.done),
    changed: numberIn(record.changed),
    refused: numberIn(record.refused),
    total: numberIn(record.total),
    problems: Array.isArray(record.problems) ? record.problems.filter(isJsonObject) : [],
    finished: record.finished === true,
    began: numberIn(record.began),
    after: after === '' ? undefined : after,
    hash: isJsonObject(record._meta) ? textIn(record._meta.update_hash) : '',
  }
}

function numberIn(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0
}
