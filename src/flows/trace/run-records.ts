/**
 * Traces on their way to the storage: outside of the runs' transactions, in batches, and never more than the storage
 * takes. While too many wait, further runs are not traced (`isFull`), so that tracing a busy blueprint shows some of its
 * runs instead of slowing all of them down.
 *
 * Of each blueprint the newest are kept, and none for longer than `records/retention/retention.ts` says. Refused requests
 * are counted apart: they push out nothing but each other.
 */

import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Query, search } from '../../shared/query.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
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
  /** How many runs of a blueprint are kept. */
  readonly keepLast: (blueprint: string) => number
  /** Called when the record can be read. */
  readonly stored: (record: RunRecord) => void
  /** Guid of this node. */
  readonly node: string
}

/** Milliseconds from a record to its batch. */
const PAUSE = 20
const BATCH = 20
/** Records that wait, each of at most 600 KB: 38 MB. */
const WAITING = 64
/** Of a blueprint. */
const RECORDED_REFUSALS = 20
const refused: Query = { kind: 'term', field: 'recorded_as', value: 'refused' }
/** Deleted at once. */
const PRUNED = 2 * BATCH

export async function openRunRecords(options: RunRecordsOptions): Promise<RunRecords> {
  await options.database.ensure(systemStorages.runs, {
    indexes: [{ fields: ['blueprint', '_meta.cms'] }, { fields: ['status'] }],
  })
  return new BatchedRunRecords(options)
}

class BatchedRunRecords implements RunRecords {
  readonly #options: RunRecordsOptions
  readonly #database: Database
  /** By run: what is newer replaces what has not been stored yet. */
  readonly #waiting = new Map<string, RunRecord>()
  #beingStored = 0
  #timer: NodeJS.Timeout | undefined
  #storing: Promise<void> = Promise.resolve()

  constructor(options: RunRecordsOptions) {
    this.#options = options
    this.#database = options.database
  }

  get isFull(): boolean {
    return this.#waiting.size + this.#beingStored >= WAITING
  }

  put(record: RunRecord): void {
    this.#waiting.set(record.guid, record)
    this.#timer ??= setTimeout(() => this.flush(), PAUSE).unref()
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#storing = this.#storing.then(() => this.#store())
    return this.#storing
  }

  async find(guid: string): Promise<JsonObject | undefined> {
    const found = await this.#database.session().get(systemStorages.runs, guid)
    return found && documentOf(found)
  }

  async settle(documents: readonly JsonObject[]): Promise<boolean> {
    const open = documents.filter(isUnderWay)
    if (open.length === 0) return false
    const nodes = (await this.#database.capabilities.cluster?.nodes()) ?? []
    const live = new Set([this.#options.node, ...nodes.filter((one) => one.live).map(({ guid }) => guid)])
    const lost = open.filter((document) => !live.has(textIn(document.node)))
    if (lost.length === 0) return false
    await transact(this.#database, async (session) => {
      for (const document of lost)
        await session.update(systemStorages.runs, guidOf(document), setFields(lostRun))
    })
    return true
  }

  async close(): Promise<void> {
    await this.flush()
  }

  async #store(): Promise<void> {
    this.#timer = undefined
    // Records that are put meanwhile get a timer of their own, so `flush` does not wait for ever.
    const all = [...this.#waiting.values()]
    this.#waiting.clear()
    this.#beingStored = all.length
    while (all.length > 0) {
      const batch = all.splice(0, BATCH)
      try {
        await transact(this.#database, async (session) => {
          for (const record of batch) await this.#write(session, record)
        })
        for (const record of batch) this.#options.stored(record)
        for (const blueprint of new Set(batch.map((record) => record.blueprint))) await this.#prune(blueprint)
      } catch {
        // A disk that is full must not stop the runs that are only being looked at.
      }
      this.#beingStored = all.length
    }
  }

  async #write(session: Session, { guid, ...record }: RunRecord): Promise<void> {
    const fields = setFields(record)
    const update = await session.update(systemStorages.runs, guid, fields)
    if (update.outcome === 'written') return
    await session.create(systemStorages.runs, fields, { guid })
  }

  /** Those of a blueprint that are more than are kept. */
  async #prune(blueprint: string): Promise<void> {
    const of: Query = { kind: 'term', field: 'blueprint', value: blueprint }
    const others: Query = { kind: 'not', query: refused }
    const sort = [{ field: '_meta.cms', order: 'desc', missing: 'last' }] as const
    const offset = this.#options.keepLast(blueprint)
    await this.#remove({ query: { kind: 'and', queries: [of, refused] }, sort, offset: RECORDED_REFUSALS })
    await this.#remove({ query: { kind: 'and', queries: [of, others] }, sort, offset })
  }

  async #remove(requested: Parameters<typeof search>[0]): Promise<void> {
    const found = documentsOf(
      await this.#database.session().find(systemStorages.runs, search({ ...requested, limit: PRUNED })),
    )
    if (found.length === 0) return
    await transact(this.#database, async (session) => {
      for (const document of found) await session.delete(systemStorages.runs, guidOf(document))
    })
  }
}
