/** One unit of work on PostgreSQL: reads on any connection until it writes, then on that of its transaction. */
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import type { Mutation } from '../../shared/mutation.ts'
import { matchAll, type Query, type Search } from '../../shared/query.ts'
import type { Stamps } from '../document-stamps.ts'
import type { NewJob } from '../job.ts'
import type { SearchAdvisor } from '../search-advisor.ts'
import type {
  Change,
  CreatedAll,
  CreateOptions,
  Found,
  NewDocument,
  Observer,
  Origin,
  Session,
  Written,
} from '../storage.ts'
import type { StoredJson } from '../stored-json.ts'
import type { PostgresCluster } from './nodes/postgres-cluster.ts'
import type { PostgresCatalogue } from './postgres-catalogue.ts'
import type { PostgresConnection, PostgresPool, PostgresTransaction } from './postgres-connection.ts'
import { createDocuments } from './postgres-create-all.ts'
import {
  createDocument,
  deleteDocument,
  getDocument,
  markDocument,
  updateDocument,
  type Writing,
} from './postgres-documents.ts'
import { isTableGone } from './postgres-errors.ts'
import type { PostgresJobs } from './postgres-jobs.ts'
import { countDocuments, findDocuments } from './postgres-query.ts'
import { noted } from './postgres-search-advice.ts'
import type { StorageEntry } from './storage-entry.ts'

/** What sessions share. */
export interface SessionGround {
  readonly pool: PostgresPool
  readonly catalogue: PostgresCatalogue
  readonly cluster: PostgresCluster
  readonly stamps: Stamps
  readonly jobs: PostgresJobs
  readonly advisor: SearchAdvisor
  /** By storage; a storage without observers is not in it. */
  readonly observers: Map<string, readonly Observer[]>
}

/** How long a session may hold a transaction without using it: its rows are locked for everybody else. */
const IDLE_MS = 5_000

/** What a transaction has done so far. */
interface Work {
  readonly transaction: PostgresTransaction
  /** Guids of the documents that were written, by storage. */
  readonly written: Map<string, Set<string>>
  enqueued: boolean
}

/**
 * Where a session is:
 * - free: has written nothing since the last commit. Reads what is committed.
 * - holding: has a transaction and has written in it. Reads its own writes. A transaction in which an operation found
 *   nothing to write is given back at once, so that a flow which goes on to something slow does not keep it.
 * - lost: its writes were undone without its doing (connection gone, deadlock, idle for too long). Every call says so,
 *   until `commit` (which says it too) or `rollback` makes it free again; so half of its work can never be committed.
 *
 * Operations that write, and reads while it holds a transaction, come one after the other: branches of a flow run side by
 * side, and a change is two statements that nothing of the same session may come between.
 */
export class PostgresSession implements Session {
  readonly #ground: SessionGround
  #work: Work | undefined
  #lost: { readonly error: unknown } | undefined
  /** The last operation, whether it succeeded or not. */
  #last: Promise<unknown> = Promise.resolve()
  #queued = 0
  /** Counts rollbacks, so that an operation which waited meanwhile does not start over in the next unit of work. */
  #epoch = 0
  #idle: NodeJS.Timeout | undefined

  readonly origin: Origin

  constructor(ground: SessionGround, origin: Origin) {
    this.#ground = ground
    this.origin = origin
  }

  get hasWritten(): boolean {
    return this.#work !== undefined && (this.#work.enqueued || this.#work.written.size > 0)
  }

  async get(
    storage: string,
    guid: string,
    options?: { readonly removed?: boolean },
  ): Promise<StoredJson | undefined> {
    return this.#read(storage, (connection, entry) =>
      getDocument(connection, entry, guid, options?.removed ?? false),
    )
  }

  async find(storage: string, search: Search): Promise<Found> {
    const { advisor } = this.#ground
    return this.#read(storage, (connection, entry) =>
      noted(advisor, connection, entry, 'find', search, () => findDocuments(connection, entry, search)),
    )
  }

  async count(storage: string, query: Query = matchAll, includeRemoved = false): Promise<number> {
    const { advisor } = this.#ground
    return this.#read(storage, (connection, entry) =>
      noted(advisor, connection, entry, 'count', { query, includeRemoved }, () =>
        countDocuments(connection, entry, query, includeRemoved),
      ),
    )
  }

  async create(
    storage: string,
    mutations: readonly Mutation[],
    options?: CreateOptions,
  ): Promise<StoredJson> {
    const document = await this.#write(storage, async (writing, work) => {
      const created = await createDocument(writing, mutations, options)
      note(work, storage, guidOf(created))
      return created
    })
    await this.#tell(storage, 'created', undefined, document)
    return document
  }

  async createAll(storage: string, documents: readonly NewDocument[]): Promise<CreatedAll> {
    const created = await this.#write(storage, async (writing, work) => {
      const all = await createDocuments(writing, documents)
      for (const guid of all.guids) note(work, storage, guid)
      return all
    })
    for (const document of created.documents) await this.#tell(storage, 'created', undefined, document)
    return { documents: created.documents, refused: created.refused }
  }

  update(
    storage: string,
    guid: string,
    mutations: readonly Mutation[],
    options?: { readonly updateHash?: string },
  ): Promise<Written> {
    return this.#change(storage, 'updated', guid, (writing) =>
      updateDocument(writing, guid, mutations, options?.updateHash),
    )
  }

  remove(storage: string, guid: string): Promise<Written> {
    return this.#change(storage, 'removed', guid, (writing) => markDocument(writing, guid, true))
  }

  restore(storage: string, guid: string): Promise<Written> {
    return this.#change(storage, 'restored', guid, (writing) => markDocument(writing, guid, false))
  }

  delete(storage: string, guid: string): Promise<Written> {
    return this.#change(storage, 'deleted', guid, (writing) => deleteDocument(writing, guid))
  }

  async enqueue(job: NewJob): Promise<string | undefined> {
    return this.#inTurn(async (work) => {
      const guid = await this.#ground.jobs.insert(work.transaction, job)
      if (guid !== undefined) work.enqueued = true
      return guid
    })
  }

  commit(): MaybePromise<void> {
    if (this.#queued > 0) return this.#last.then(() => this.commit())
    const lost = this.#lost
    this.#lost = undefined
    if (lost) throw lost.error
    const work = this.#release()
    return work && this.#commit(work)
  }

  rollback(): MaybePromise<void> {
    this.#epoch++
    this.#lost = undefined
    if (this.#queued > 0) return this.#last.then(() => this.rollback())
    return this.#release()?.transaction.rollback()
  }

  async #commit({ transaction, written, enqueued }: Work): Promise<void> {
    const { catalogue, cluster, jobs } = this.#ground
    let change: number | undefined
    try {
      const watched = [...written].filter(([storage]) => cluster.isWatched(storage))
      if (watched.length > 0) {
        const documents = watched.map(([storage, guids]) => [storage, [...guids]] as const)
        change = await cluster.announce(transaction, Object.fromEntries(documents))
      }
      await transaction.commit()
    } catch (error) {
      await transaction.rollback()
      throw error
    }
    for (const storage of written.keys()) catalogue.written(storage)
    if (enqueued) jobs.committed()
    if (change !== undefined) await cluster.obeyed(change)
  }

  async #read<T>(
    storage: string,
    work: (connection: PostgresConnection, entry: StorageEntry) => Promise<T>,
  ): Promise<T> {
    if (this.#lost) throw this.#lost.error
    const entry = await this.#ground.catalogue.entry(storage)
    if (this.hasWritten) return this.#inTurn(({ transaction }) => work(transaction, entry))
    return work(this.#ground.pool.reading, entry).catch((error: unknown) => this.#dropped(storage, error))
  }

  async #change(
    storage: string,
    kind: Change['kind'],
    guid: string,
    change: (writing: Writing) => Promise<Written>,
  ): Promise<Written> {
    const written = await this.#write(storage, async (writing, work) => {
      const outcome = await change(writing)
      if (outcome.outcome === 'written') note(work, storage, guid)
      return outcome
    })
    if (written.outcome === 'written')
      await this.#tell(storage, kind, written.before, kind === 'deleted' ? undefined : written.document)
    return written
  }

  /** Tells the observers one after the other; each may write through this session. */
  async #tell(
    storage: string,
    kind: Change['kind'],
    before: StoredJson | undefined,
    after: StoredJson | undefined,
  ): Promise<void> {
    const observers = this.#ground.observers.get(storage) ?? []
    if (observers.length === 0) return
    const guid = guidOf(after ?? before)
    for (const observer of observers) await observer(this, { storage, kind, guid, before, after })
  }

  async #write<T>(storage: string, write: (writing: Writing, work: Work) => Promise<T>): Promise<T> {
    if (this.#lost) throw this.#lost.error
    const { catalogue, stamps } = this.#ground
    return this.#inTurn(async (work) => {
      const entry = await catalogue.entry(storage)
      return write({ connection: work.transaction, entry, stamps }, work)
    })
  }

  /** Does the work in the session's transaction, behind what was asked for before. */
  #inTurn<T>(operation: (work: Work) => Promise<T>): Promise<T> {
    if (this.#lost) throw this.#lost.error
    const epoch = this.#epoch
    clearTimeout(this.#idle)
    this.#queued++
    const turn = this.#last.then(async () => {
      try {
        if (epoch !== this.#epoch) throw rolledBack()
        if (this.#lost) throw this.#lost.error
        return await this.#operate(operation)
      } finally {
        this.#queued--
        if (this.#queued === 0) await this.#rest()
      }
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }

  async #operate<T>(operation: (work: Work) => Promise<T>): Promise<T> {
    this.#work ??= {
      transaction: await this.#ground.pool.transaction(),
      written: new Map(),
      enqueued: false,
    }
    const work = this.#work
    try {
      return await operation(work)
    } catch (error) {
      // What was refused before it was written, or in a savepoint, leaves the transaction as it was.
      if (error instanceof QuoinError && error.code !== 'UNAVAILABLE' && error.code !== 'STORAGE_FULL')
        throw error
      this.#work = undefined
      this.#lost = { error }
      await work.transaction.rollback()
      throw error
    }
  }

  /** No operation is under way. */
  async #rest(): Promise<void> {
    if (this.#work === undefined) return
    if (!this.hasWritten) {
      await this.#release()?.transaction.rollback()
      return
    }
    this.#idle = setTimeout(() => {
      const work = this.#release()
      this.#lost = { error: heldTooLong() }
      void work?.transaction.rollback()
    }, IDLE_MS).unref()
  }

  #release(): Work | undefined {
    clearTimeout(this.#idle)
    const work = this.#work
    this.#work = undefined
    return work
  }

  /** Another node has dropped the storage. */
  async #dropped(storage: string, error: unknown): Promise<never> {
    if (!isTableGone(error)) throw error
    await this.#ground.catalogue.reload()
    // Throws what is said of a storage that is not there; if it is there again, the search was in between.
    await this.#ground.catalogue.entry(storage)
    throw error
  }
}

function note(work: Work, storage: string, guid: string): void {
  const guids = work.written.get(storage)
  if (guids) guids.add(guid)
  else work.written.set(storage, new Set([guid]))
}

function guidOf(document: StoredJson | undefined): string {
  const meta = isJsonObject(document?.value) ? document.value._meta : undefined
  return isJsonObject(meta) && typeof meta.guid === 'string' ? meta.guid : ''
}

function rolledBack(): QuoinError {
  return new QuoinError(
    'UNAVAILABLE',
    'The transaction was rolled back while this write waited for its turn.',
  )
}

function heldTooLong(): QuoinError {
  return new QuoinError(
    'UNAVAILABLE',
    'The transaction was not used for 5 seconds and was undone. Do slow things before the first write or after the commit.',
  )
}
