/**
 * The history of documents in storages whose `history` is on: one record for each write, in the same transaction, so that
 * neither can exist without the other. A record: `{ storage, document, action, user, run, revisions }`, and `removed` of one that was
 * deleted.
 */

import { isJsonObject, type JsonObject, type JsonValue, jsonProblem } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Query, type Search, search } from '../../shared/query.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import {
  type Change,
  type Database,
  documentOf,
  type Found,
  type Observer,
  type Session,
} from '../../storage/database.ts'
import { guidOf, numberIn, objectsIn, textIn } from '../../storage/document-fields.ts'
import { documentsOf, findWithTotal } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { findRecords } from '../records.ts'
import { documentRevisions } from './document-revisions.ts'

/** The author of writes that no user asked for: the purge of expired documents, for example. */
const system = { guid: '', username: 'system' }

const LARGEST_VALUE = 65_536
const LARGEST_RECORD = 1_048_576
/** A value is three levels deeper in a record than in its document: in `revisions`, in an item, under a name. */
const DEEPER = 3
const BATCH = 200

export interface DocumentHistory {
  /** Begins and ends to watch storages as their records now say. */
  refresh(): Promise<void>
  /** The records of one document, newest first. */
  of(storage: string, document: string, page: Pick<Search, 'limit' | 'offset' | 'after'>): Promise<RecordPage>
  /** Records of any documents, as the session sees them. */
  find(session: Session, requested: Search): MaybePromise<Found>
  /** Deletes the history of a storage's documents. */
  forget(storage: string): Promise<void>
  close(): void
}

/** The records of storages are there: see `openRecords`. */
export async function openDocumentHistory(database: Database): Promise<DocumentHistory> {
  await database.ensure(systemStorages.history, {
    indexes: [{ fields: ['document', '_meta.created'] }, { fields: ['storage'] }, { fields: ['run'] }],
  })
  const watches = new Map<string, () => void>()
  let last: Promise<void> = Promise.resolve()

  async function watch(): Promise<void> {
    const query = { kind: 'term', field: 'history', value: true } as const
    const records = await findRecords(database.session(), systemStorages.storages, query)
    const requested = new Set(records.map((record) => textIn(record.name)))
    for (const [name, end] of watches) {
      if (requested.has(name)) continue
      end()
      watches.delete(name)
    }
    for (const name of requested) if (!watches.has(name)) watches.set(name, database.observe(name, keep))
  }

  const refresh = () => {
    // One after the other: an older answer must not overwrite a newer one.
    last = last.catch(() => undefined).then(watch)
    return last
  }

  const unwatch = database.capabilities.changes.watch(systemStorages.storages, refresh)
  await refresh()
  return {
    refresh,
    async of(name, document, page) {
      const requested = search({ query: ofDocument(name, document), ...page })
      const { found, total } = await findWithTotal(database.session(), systemStorages.history, requested)
      return { records: documentsOf(found), total, next: found.next() }
    },
    find: (session, requested) => session.find(systemStorages.history, requested),
    async forget(name) {
      const requested = search({ query: { kind: 'term', field: 'storage', value: name }, limit: BATCH })
      for (;;) {
        const { documents, length } = await database.session().find(systemStorages.history, requested)
        if (length === 0) return
        await transact(database, async (session) => {
          for (const record of objectsIn(documents.value))
            await session.delete(systemStorages.history, guidOf(record))
        })
      }
    },
    close() {
      unwatch()
      for (const end of watches.values()) end()
      watches.clear()
    },
  }
}

function ofDocument(storage: string, document: string): Query {
  return {
    kind: 'and',
    queries: [
      { kind: 'term', field: 'document', value: document },
      { kind: 'term', field: 'storage', value: storage },
    ],
  }
}

const keep: Observer = (session, change) => {
  const { user = system, run } = session.origin
  const record = {
    storage: change.storage,
    document: change.guid,
    action: change.kind,
    user: { guid: user.guid, username: user.username },
    run: run ?? null,
    ...(change.kind === 'deleted' && change.before && lastMeta(documentOf(change.before))),
    revisions: revisionsOf(change),
  }
  return andThen(session.create(systemStorages.history, setFields(record)), () => undefined)
}

/** What its fields do not say. */
function lastMeta({ _meta }: JsonObject): JsonObject {
  const { removed, cms, expiry } = isJsonObject(_meta) ? _meta : {}
  return { removed: numberIn(removed) > 0, cms: numberIn(cms), expiry: numberIn(expiry) }
}

function revisionsOf({ before, after }: Change): JsonObject[] {
  let left = LARGEST_RECORD
  const bounded = (value: JsonValue): JsonValue => {
    const size = JSON.stringify(value).length
    if (size > LARGEST_VALUE || size > left || jsonProblem(value, DEEPER)) return { left_out: size }
    left -= size
    return value
  }
  const revisions = documentRevisions(before && documentOf(before), after ? documentOf(after) : {})
  return revisions.map(({ key, type, value, previous_value }) => ({
    key,
    type,
    value: bounded(value),
    previous_value: bounded(previous_value),
  }))
}
