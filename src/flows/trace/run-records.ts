/**
 * Traces on their way to the storage: outside of the runs' transactions, in batches, and never more than the storage
 * takes. While too many wait, further runs are not traced (`isFull`), so that tracing a busy blueprint shows some of its
 * runs instead of slowing all of them down.
 *
 * Of each blueprint the newest are kept, and none for longer than a day. Refused requests are counted apart: they push out
 * nothing but each other.
 */

import type { Clock } from '../../shared/clock.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Query, search } from '../../shared/query.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { transact } from '../../storage/transact.ts'
import { isUnderWay, lostRun, type RunRecord } from './run-record.ts'

export interface RunRecords {
  /** Whether no more runs should be traced until some are stored. */
  readonly isFull: boolean
  /** Stores the record soon, or its newer version if there is one by then. */
  put(record: RunRecord): void
  /** Resolves when everything put so far is stored, or could not be. */
  flush(): Promise<void>
  find(guid: string): Promise<JsonObject | undefined>
  /** Marks runs as failed whose nodes are no longer there. False if there are none. */
  settle(documents: readonly JsonObject[]): Promise<boolean>
  close(): Promise<void>
}

interface RunRecordsOptions {
  readonly database: Database
  readonly clock: Clock
  /** How many runs of a blueprint are kept. */
  readonly keepLast: (blueprint: string) => number
  /** Called when the record can be read. */
  readonly stored: (record: RunRecord) => void
  /** Guid of this node. */
  readonly node: string
}

const DAY = 86_400
/** Milliseconds from a record to its batch. */
const PAUSE = 20
const BATCH = 20
/** Records that wait, each of at most 600 KB: 38 MB. */
const WAITING = 64
/** Milliseconds between two looks for runs whose day is over. */
const PURGE = 600_000
/** Of a blueprint. */
const KEPT_REFUSALS = 20
const refused: Query = { kind: 'term', field: 'recorded_as', value: 'refused' }
/** Deleted at once. */
const PRUNED = 2 * BATCH

export async function openRunRecords(options: RunRecordsOptions): Promise<RunRecords> {
  const { database, clock, keepLast, stored, node } = options
  await database.ensure(ownStorages.runs, {
    indexes: [{ fields: ['blueprint', '_meta.cms'] }, { fields: ['status'] }, { fields: ['_meta.expiry'] }],
  })
  /** By run: what is newer replaces what has not been stored yet. */
  const waiting = new Map<string, RunRecord>()
  let beingStored = 0
  let timer: NodeJS.Timeout | undefined
  let storing: Promise<void> = Promise.resolve()

  let purged: Promise<void> = Promise.resolve()
  const purging = setInterval(() => {
    // Should it fail, the next one finds them.
    purged = purge().catch(() => undefined)
  }, PURGE).unref()

  async function store(): Promise<void> {
    timer = undefined
    // Records that are put meanwhile get a timer of their own, so `flush` does not wait for ever.
    const all = [...waiting.values()]
    waiting.clear()
    beingStored = all.length
    while (all.length > 0) {
      const batch = all.splice(0, BATCH)
      try {
        await transact(database, async (session) => {
          for (const record of batch) await write(session, record)
        })
        for (const record of batch) stored(record)
        for (const blueprint of new Set(batch.map((record) => record.blueprint))) await prune(blueprint)
        await purge()
      } catch {
        // A disk that is full must not stop the runs that are only being looked at.
      }
      beingStored = all.length
    }
  }

  async function write(session: Session, { guid, ...record }: RunRecord): Promise<void> {
    const fields = setFields(record)
    const update = await session.update(ownStorages.runs, guid, fields)
    if (update.outcome === 'written') return
    await session.create(ownStorages.runs, fields, { guid, expiry: Math.floor(clock() / 1000) + DAY })
  }

  /** Those of a blueprint that are more than are kept. */
  async function prune(blueprint: string): Promise<void> {
    const of: Query = { kind: 'term', field: 'blueprint', value: blueprint }
    const others: Query = { kind: 'not', query: refused }
    const sort = [{ field: '_meta.cms', order: 'desc', missing: 'last' }] as const
    await remove({ query: { kind: 'and', queries: [of, refused] }, sort, offset: KEPT_REFUSALS })
    await remove({ query: { kind: 'and', queries: [of, others] }, sort, offset: keepLast(blueprint) })
  }

  /** Those whose day is over. */
  function purge(): Promise<void> {
    const bounds = { gte: 0, lte: Math.floor(clock() / 1000) }
    const query: Query = { kind: 'range', field: '_meta.expiry', bounds }
    return remove({ query, sort: [{ field: '_meta.expiry', order: 'asc', missing: 'last' }] })
  }

  async function remove(wanted: Parameters<typeof search>[0]): Promise<void> {
    const found = documentsOf(
      await database.session().find(ownStorages.runs, search({ ...wanted, limit: PRUNED })),
    )
    if (found.length === 0) return
    await transact(database, async (session) => {
      for (const document of found) await session.delete(ownStorages.runs, guidOf(document))
    })
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    storing = storing.then(store)
    return storing
  }

  return {
    get isFull() {
      return waiting.size + beingStored >= WAITING
    },
    put(record) {
      waiting.set(record.guid, record)
      timer ??= setTimeout(flush, PAUSE).unref()
    },
    flush,
    async find(guid) {
      const found = await database.session().get(ownStorages.runs, guid)
      return found && documentOf(found)
    },
    async settle(documents) {
      const open = documents.filter(isUnderWay)
      if (open.length === 0) return false
      const nodes = (await database.capabilities.cluster?.nodes()) ?? []
      const live = new Set([node, ...nodes.filter((one) => one.live).map(({ guid }) => guid)])
      const lost = open.filter((document) => !live.has(textIn(document.node)))
      if (lost.length === 0) return false
      await transact(database, async (session) => {
        for (const document of lost)
          await session.update(ownStorages.runs, guidOf(document), setFields(lostRun))
      })
      return true
    },
    async close() {
      clearInterval(purging)
      await flush()
      await purged
    },
  }
}
