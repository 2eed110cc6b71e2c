/** One unit of work on PostgreSQL: reads on any connection until it writes, then on that of its transaction. */

import type { Clock } from '../../../shared/clock.ts'
import type { JsonObject } from '../../../shared/json.ts'
import type { MaybePromise } from '../../../shared/maybe-promise.ts'
import type { Mutation } from '../../../shared/mutation.ts'
import { matchAll, type Query, type Search } from '../../../shared/query.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import type { Aggregated } from '../../aggregate/finish-aggregate.ts'
import type { Claims, DocumentLock, LockMode, NumberRequest, UniqueKeyMatch } from '../../claims.ts'
import type {
  Change,
  CreatedAll,
  CreateOptions,
  Found,
  FoundWithTotal,
  NewDocument,
  Origin,
  Session,
  SessionShortcuts,
  Transaction,
  Written,
} from '../../database.ts'
import { type DocumentChanges, DocumentSession, type Stamps } from '../../document-session.ts'
import type { NewJob } from '../../job.ts'
import type { Observers } from '../../observers.ts'
import { noLocks, type Referred } from '../../reference/references.ts'
import type { SearchAdvisor } from '../../search/search-advisor.ts'
import { withWholeCursor } from '../../search/search-cursor.ts'
import { StoredJson } from '../../stored-json.ts'
import { uniqueKeyMatch, valueOfKey } from '../../unique/active-unique-key.ts'
import { rolledBack, SerializationConflict, Unconfirmed } from '../../unit-of-work.ts'
import type { CachedAggregates, CachedTotals } from '../cache/cached-aggregates.ts'
import type { FullTextCache } from '../fulltext/full-text-cache.ts'
import type { PostgresJobs } from '../jobs/postgres-jobs.ts'
import type { PostgresCluster } from '../nodes/postgres-cluster.ts'
import { takeNumbers } from '../numbers/counters.ts'
import { lockedGuids, referrersOf } from '../reference/referred-documents.ts'
import { aggregateDocuments } from '../sql/postgres-aggregate.ts'
import { countDocuments, findDocuments, findWithTotal, readsMoreThanOnce } from '../sql/postgres-query.ts'
import { recorded } from '../sql/postgres-search-advice.ts'
import { holderOf } from '../unique/postgres-unique-values.ts'
import type { BatchedReads } from './batched-reads.ts'
import type { WritesUnderWay } from './cluster-lock.ts'
import type { PostgresCatalogue, StorageEntry } from './postgres-catalogue.ts'
import type { PostgresPool } from './postgres-connection.ts'
import { createDocuments } from './postgres-create-all.ts'
import { createDocument, documentChanges, getDocument, type Writing } from './postgres-documents.ts'
import { isTableGone } from './postgres-errors.ts'
import type { RowTurns } from './row-turns.ts'
import type { PostgresConnection } from './rows.ts'
import { noteWritten, SessionTransaction, type Work } from './session-transaction.ts'

/** What sessions share. */
export interface SessionParts {
  readonly pool: PostgresPool
  readonly catalogue: PostgresCatalogue
  readonly cluster: PostgresCluster
  readonly stamps: Stamps
  readonly jobs: PostgresJobs
  readonly advisor: SearchAdvisor
  readonly observers: Observers
  readonly writes: WritesUnderWay
  readonly gets: BatchedReads
  readonly totals: CachedTotals
  readonly aggregates: CachedAggregates
  readonly words: FullTextCache
  readonly rows: RowTurns
  readonly clock: Clock
}

/** How long a session waits for its turn with a document that others change, where its origin does not say. */
const TURN_MS = 30_000
/** Of a run whose time is over: a person may have held it at a breakpoint. */
const LEAST_TURN_MS = 1_000
/** What a timer can wait for. A longer one would end at once. */
const MOST_TURN_MS = 2 ** 31 - 1

type Reading<T> = (connection: PostgresConnection, entry: StorageEntry) => Promise<T>

/**
 * Until something is written, reads see what is committed, on any connection; then they see what the session has written,
 * and come one after the other with its writes (`session-transaction.ts`).
 */
export class PostgresSession
  extends DocumentSession<Writing, Promise<Written>>
  implements Session, Claims, Transaction, SessionShortcuts
{
  readonly #parts: SessionParts
  readonly #transaction: SessionTransaction
  readonly origin: Origin
  /** Until its first commit, if then. */
  #optimistic: boolean
  /** Of the first document that is changed: see `row-turns.ts`. */
  #endTurn: (() => void) | undefined
  /** Waits for that turn. */
  #taking: Promise<void> | undefined
  /** Counts the turns that are over, so that one which comes too late is given back. */
  #turns = 0

  constructor(parts: SessionParts, origin: Origin) {
    super()
    this.#parts = parts
    const { unit, job } = origin
    const opened = async (work: Work) => {
      if (job) work.place = await parts.jobs.lock(work.transaction, job)
    }
    const pool = job ? ofJobs(parts.pool) : parts.pool
    this.#transaction = new SessionTransaction(pool, parts.writes, unit, unit && job && opened, origin.isLong)
    this.origin = origin
    this.#optimistic = origin.optimistic === true && unit === undefined
  }

  get claims(): Claims {
    return this
  }

  get transaction(): Transaction {
    return this
  }

  get hasWritten(): boolean {
    return this.#transaction.hasWritten
  }

  async get(
    storage: string,
    guid: string,
    options?: { readonly removed?: boolean },
  ): Promise<StoredJson | undefined> {
    const removed = options?.removed ?? false
    const { gets, pool } = this.#parts
    return this.#read(storage, (connection, entry) =>
      connection === pool.reading
        ? gets.get(entry, guid, removed)
        : getDocument(connection, entry, guid, removed),
    )
  }

  async find(storage: string, requested: Search): Promise<Found> {
    const search = await withWholeCursor(requested, (guid) => this.get(storage, guid, { removed: true }))
    const { advisor, words } = this.#parts
    const isOwn = this.#seesItsOwn
    return this.#search(storage, search, (connection, entry) =>
      recorded(advisor, connection, entry, 'find', search, () => {
        const look = () => findDocuments(connection, entry, search)
        return isOwn ? look() : words.find(entry, search, look)
      }),
    )
  }

  async findWithTotal(storage: string, requested: Search): Promise<FoundWithTotal> {
    const search = await withWholeCursor(requested, (guid) => this.get(storage, guid, { removed: true }))
    const { advisor, totals, words } = this.#parts
    const isOwn = this.#seesItsOwn
    return this.#search(storage, search, (connection, entry) =>
      recorded(advisor, connection, entry, 'find', search, () =>
        isOwn
          ? findWithTotal(connection, entry, search)
          : words.findWithTotal(entry, search, () => totals.find(connection, entry, search)),
      ),
    )
  }

  async count(storage: string, query: Query = matchAll, includeRemoved = false): Promise<number> {
    const { advisor } = this.#parts
    return this.#search(storage, { query, sort: [] }, (connection, entry) =>
      recorded(advisor, connection, entry, 'count', { query, includeRemoved }, () =>
        countDocuments(connection, entry, query, includeRemoved),
      ),
    )
  }

  async aggregate(storage: string, requested: Aggregate): Promise<Aggregated> {
    this.#transaction.refuseLost()
    if (this.#seesItsOwn) return this.#aggregate(storage, requested)
    const entry = await this.#parts.catalogue.entry(storage)
    return this.#parts.aggregates.of(entry, requested, () => this.#aggregate(storage, requested))
  }

  async #aggregate(storage: string, requested: Aggregate): Promise<Aggregated> {
    const { query } = requested
    return this.#search(storage, { query, sort: [] }, (connection, entry) =>
      recorded(this.#parts.advisor, connection, entry, 'count', { query, includeRemoved: false }, () =>
        aggregateDocuments(connection, entry, requested),
      ),
    )
  }

  async create(
    storage: string,
    mutations: readonly Mutation[],
    options?: CreateOptions,
  ): Promise<StoredJson> {
    const document = await this.#write(storage, async (writing, work) => {
      const { meta, text } = await createDocument(writing, mutations, options)
      noteWritten(work, storage, meta.guid)
      return new StoredJson(text)
    })
    await this.tell(storage, 'created', undefined, document)
    return document
  }

  async createAll(storage: string, documents: readonly NewDocument[]): Promise<CreatedAll> {
    const created = await this.#write(storage, async (writing, work) => {
      const all = await createDocuments(writing, documents)
      for (const guid of all.guids) noteWritten(work, storage, guid)
      return all
    })
    for (const document of created.documents) await this.tell(storage, 'created', undefined, document)
    return { documents: created.documents, refused: created.refused }
  }

  /** Once this session has written, in its transaction: a value that another one has committed since is seen too. */
  async findByUniqueKey(
    storage: string,
    by: readonly string[],
    document: JsonObject,
  ): Promise<UniqueKeyMatch | undefined> {
    return this.#read(storage, async (connection, entry) => {
      const value = valueOfKey(entry, by, document)
      return value && uniqueKeyMatch(value, await holderOf(connection, value))
    })
  }

  async lockDocuments(storage: string, guids: readonly string[], use: LockMode): Promise<DocumentLock> {
    return this.#transaction.inTurn(async (work) => {
      const entry = await this.#parts.catalogue.known(storage)
      if (entry === undefined) return noLocks
      work.holds = true
      const held = await lockedGuids(work.transaction, entry, guids, use)
      return {
        guids: held,
        referrers: (from, field, limit) => this.#referrers(from, { field, guids: held, limit }),
      }
    })
  }

  /** On a connection that no transaction has, and that always comes back: it waits for neither the disk nor another session. */
  async numbers(storage: string, field: string, requested: NumberRequest): Promise<number> {
    this.#transaction.refuseLost()
    await this.#parts.catalogue.entry(storage)
    return takeNumbers(this.#parts.pool.reading, storage, field, requested)
  }

  async enqueue(job: NewJob): Promise<string | undefined> {
    return this.#transaction.inTurn(async (work) => {
      const guid = await this.#parts.jobs.insert(work.transaction, job, this.#transaction.isUnit)
      if (guid !== undefined) work.enqueued = true
      return guid
    })
  }

  async endJob(other?: string): Promise<boolean> {
    if (other !== undefined) return this.#cancelJob(other)
    const { job } = this.origin
    if (job === undefined) throw new Error('The session has no job.')
    return this.#transaction.inTurn(async (work) => {
      const ended = await this.#parts.jobs.end(work.transaction, job, work.place)
      if (ended === undefined) return false
      work.ended = ended
      return true
    })
  }

  #cancelJob(guid: string): Promise<boolean> {
    return this.#transaction.inTurn(async (work) => {
      const deleted = await this.#parts.jobs.delete(work.transaction, guid)
      // Also where none is freed: then there is a write to commit.
      if (deleted) work.enqueued = true
      return deleted !== undefined
    })
  }

  commit(): MaybePromise<void> {
    // What waits for its turn belongs to what is committed.
    if (this.#taking) return this.#taking.then(() => this.commit())
    try {
      const committed = this.#transaction.commit((work) => this.#keep(work))
      if (committed === undefined) this.#leaveTurn()
      return committed?.finally(() => this.#leaveTurn())
    } catch (error) {
      this.#leaveTurn()
      throw error
    }
  }

  rollback(): MaybePromise<void> {
    const rolledBack = this.#transaction.rollback()
    if (rolledBack === undefined) this.#leaveTurn()
    return rolledBack?.finally(() => this.#leaveTurn())
  }

  /** Commits, and is over when the other nodes know of it that have to. */
  async #keep({ transaction, written, enqueued, ended }: Work): Promise<void> {
    const { catalogue, cluster, jobs } = this.#parts
    const watched = [...written].filter(([storage]) => cluster.isWatched(storage))
    const documents = new Map(watched.map(([storage, guids]) => [storage, [...guids]] as const))
    let change: number | undefined
    try {
      if (documents.size > 0) change = await cluster.publishChange(transaction, Object.fromEntries(documents))
      await transaction.commit()
    } catch (error) {
      if (change !== undefined && error instanceof Unconfirmed) cluster.follow(change, documents)
      await transaction.rollback()
      throw error
    }
    this.#optimistic = false
    for (const storage of written.keys()) catalogue.written(storage)
    if (enqueued) jobs.committed()
    try {
      if (ended) await jobs.ended(ended)
      if (change !== undefined) await cluster.acknowledged(change)
    } catch (error) {
      if (change !== undefined) cluster.follow(change, documents)
      throw error
    }
  }

  async #referrers(from: string, requested: Referred): Promise<readonly string[]> {
    const { catalogue, pool } = this.#parts
    return this.#transaction.inTurn(async ({ transaction, written }) => {
      const entry = await catalogue.known(from)
      if (entry === undefined) return []
      const seen = await referrersOf(transaction, entry, requested)
      if (!this.#transaction.isUnit) return seen
      // A unit sees what was committed before its first read. References that came later are in its way, and a row that was
      // only locked raises no conflict by itself.
      const known = new Set([...seen, ...(written.get(from) ?? [])])
      const now = await referrersOf(pool.reading, entry, requested)
      if (now.some((guid) => !known.has(guid))) throw new SerializationConflict()
      return seen
    })
  }

  async #read<T>(storage: string, work: Reading<T>): Promise<T> {
    return this.#look(storage, work, () => false)
  }

  async #search<T>(storage: string, search: Pick<Search, 'query' | 'sort'>, work: Reading<T>): Promise<T> {
    return this.#look(storage, work, (entry) => readsMoreThanOnce(entry, search))
  }

  /** Reads are of its own transaction, and not of what is committed now. */
  get #seesItsOwn(): boolean {
    return this.#transaction.isUnit || this.hasWritten
  }

  async #look<T>(
    storage: string,
    work: Reading<T>,
    needsSnapshot: (entry: StorageEntry) => boolean,
  ): Promise<T> {
    this.#transaction.refuseLost()
    const { catalogue, pool } = this.#parts
    const entry = await catalogue.entry(storage)
    if (this.#seesItsOwn) return this.#transaction.inTurn(({ transaction }) => work(transaction, entry))
    const looked = needsSnapshot(entry)
      ? pool.snapshot((connection) => work(connection, entry))
      : work(pool.reading, entry)
    return looked.catch((error: unknown) => this.#dropped(storage, error))
  }

  protected override get observers(): Observers {
    return this.#parts.observers
  }

  protected override get documents(): DocumentChanges<Writing, Promise<Written>> {
    return documentChanges
  }

  protected override get told(): Session {
    return this
  }

  protected override async change(
    storage: string,
    kind: Change['kind'],
    guid: string,
    work: (writing: Writing) => Promise<Written>,
  ): Promise<Written> {
    const isFirst = this.#endTurn === undefined
    const taking = this.#takeTurn(storage, guid)
    if (taking) await taking
    const optimistic = kind === 'updated' && this.#optimistic && !this.#transaction.isBegun
    const written = await this.#write(storage, async (writing, transactionWork) => {
      transactionWork.optimistic ||= optimistic
      const outcome = await work(optimistic ? { ...writing, committed: this.#committed(writing) } : writing)
      if (outcome.outcome === 'written') noteWritten(transactionWork, storage, guid)
      return outcome
    })
    // It has locked no row, so others need not wait for it.
    if (isFirst && written.outcome !== 'written') this.#leaveTurn()
    return written
  }

  /** Reads by guid share statements with those of other sessions. */
  #committed({ entry }: Writing): (guid: string) => Promise<string | undefined> {
    return async (guid) => (await this.#parts.gets.get(entry, guid, true))?.text
  }

  /** Before the session has a connection. Other branches of its run do not wait: one turn is enough. */
  #takeTurn(storage: string, guid: string): Promise<void> | undefined {
    if (this.#endTurn || this.#taking || this.#transaction.isBegun) return this.#taking
    const epoch = this.#turns
    const left = this.origin.until === undefined ? TURN_MS : this.origin.until - this.#parts.clock()
    const turn = this.#parts.rows.take(
      `${storage} ${guid}`,
      Math.min(Math.max(LEAST_TURN_MS, left), MOST_TURN_MS),
    )
    if (typeof turn === 'function') {
      this.#endTurn = turn
      return undefined
    }
    // What the session does next need not wait for that turn.
    const gaveUp = (error: unknown): never => {
      this.#taking = undefined
      throw error
    }
    const taking = turn.then((end) => {
      if (this.#taking === taking) this.#taking = undefined
      if (epoch === this.#turns) {
        this.#endTurn = end
        return
      }
      end()
      throw rolledBack()
    }, gaveUp)
    taking.catch(() => undefined)
    this.#taking = taking
    return taking
  }

  #leaveTurn(): void {
    this.#turns++
    this.#taking = undefined
    this.#endTurn?.()
    this.#endTurn = undefined
  }

  async #write<T>(storage: string, write: (writing: Writing, work: Work) => Promise<T>): Promise<T> {
    this.#transaction.refuseLost()
    const { catalogue, stamps, writes } = this.#parts
    return this.#transaction.inTurn(async (work) => {
      const entry = await catalogue.entry(storage)
      const current = () => catalogue.find(storage) ?? entry
      const writing = {
        connection: work.transaction,
        entry,
        stamps,
        ahead: work.ahead,
        current,
        mayDefer: !this.#transaction.isUnit,
      }
      return writes.during(write(writing, work))
    })
  }

  /** Another node has dropped the storage. */
  async #dropped(storage: string, error: unknown): Promise<never> {
    if (!isTableGone(error)) throw error
    await this.#parts.catalogue.reload()
    // Throws what is said of a storage that is not there; if it is there again, the search was in between.
    await this.#parts.catalogue.entry(storage)
    throw error
  }
}

/** The pool for a run without a client that waits. */
function ofJobs(pool: PostgresPool): Pick<PostgresPool, 'transaction'> {
  return { transaction: (how) => pool.transaction({ ...how, background: true }) }
}
