/** One unit of work on SQLite. Reads and writes at once; waits only for the writer and for the commit. */
import { andThen, type MaybePromise } from '../../../shared/maybe-promise.ts'
import type { Mutation } from '../../../shared/mutation.ts'
import { matchAll, type Query, type Search } from '../../../shared/query.ts'
import type {
  Change,
  CreateOptions,
  Found,
  FoundWithTotal,
  Origin,
  Session,
  SessionShortcuts,
  Written,
} from '../../database.ts'
import { type DocumentChanges, DocumentSession } from '../../document-session.ts'
import { totalKnownFrom } from '../../find-with-total.ts'
import type { NewJob } from '../../job.ts'
import type { Observers } from '../../observers.ts'
import { rolledBack } from '../../rolled-back.ts'
import {
  EFFORT_OF_A_HOLDER,
  EFFORT_OF_A_SEARCH,
  EFFORT_OF_A_TURN,
  EFFORT_OF_A_WRITER,
  EffortSpent,
  tooMuchForTransaction,
} from '../../search/search-effort.ts'
import type { StoredJson } from '../../stored-json.ts'
import { followWrites, keptCount } from '../cache/kept-results.ts'
import { type Aside, countAside, countKey, findAside, readMissing } from '../sql/aside-search.ts'
import { boundedCount, boundedFind, type SearchPlace } from '../sql/bounded-search.ts'
import { noteSearch } from '../sql/sqlite-search-advice.ts'
import { type SessionParts, SessionSegment } from './session-segment.ts'
import { guarded, type SqliteConnection } from './sqlite-connection.ts'
import { createDocument, documentChanges, getDocument, type Writing } from './sqlite-documents.ts'
import type { StorageEntry } from './storage-entry.ts'

/**
 * Where a session is:
 * - free: has written nothing since the last commit. Reads what is committed.
 * - waiting: an operation waits for the writer; further ones wait for the same turn. Still reads what is committed.
 * - holding: has the writer and has written. Reads its own writes. An operation that found nothing to write gives the
 *   writer back at once, so that a flow which goes on to something slow does not keep it.
 * - lost: its writes were undone without its doing (full disk, held too long). Every call says so, until `commit`
 *   (which says it too) or `rollback` makes it free again; so half of its work can never be committed.
 */
export class SqliteSession extends DocumentSession<Writing, Written> implements Session, SessionShortcuts {
  readonly #parts: SessionParts
  #segment: SessionSegment | undefined
  #waiting: { readonly segment: SessionSegment; readonly turn: Promise<void> } | undefined
  #lost: { readonly error: unknown } | undefined
  /** Counts rollbacks, so that an operation which waited meanwhile does not start over in the next unit of work. */
  #epoch = 0
  /** The commit of others whose writes this session has seen. */
  #seen: Promise<void> | undefined

  readonly origin: Origin

  constructor(parts: SessionParts, origin: Origin) {
    super()
    this.#parts = parts
    this.origin = origin
  }

  get hasWritten(): boolean {
    return this.#segment?.hasWritten ?? false
  }

  get(storage: string, guid: string, options?: { readonly removed?: boolean }): StoredJson | undefined {
    return this.#read(storage, (connection, entry) =>
      getDocument(connection, entry, guid, options?.removed ?? false),
    )
  }

  find(storage: string, search: Search): MaybePromise<Found> {
    return this.#orAside(
      storage,
      () => this.#findKept(storage, search),
      (entry, aside) =>
        findAside(this.#parts, entry, { search, total: false }, aside).then(({ found }) => found),
    )
  }

  /** Nothing is committed between two reads of one turn. */
  findWithTotal(storage: string, search: Search): MaybePromise<FoundWithTotal> {
    const { query, includeRemoved } = search
    return this.#orAside(
      storage,
      () => {
        const found = this.#findKept(storage, search)
        const total = totalKnownFrom(found, search) ?? this.#countKept(storage, query, includeRemoved)
        return { found, total }
      },
      async (entry, aside) => {
        const { found, total } = await findAside(this.#parts, entry, { search, total: true }, aside)
        if (total === undefined) throw new Error('The search thread did not count.')
        return { found, total }
      },
    )
  }

  count(storage: string, query: Query = matchAll, includeRemoved = false): MaybePromise<number> {
    return this.#orAside(
      storage,
      () => this.#countKept(storage, query, includeRemoved),
      (entry, aside) => countAside(this.#parts, entry, { query, includeRemoved }, aside),
    )
  }

  /**
   * In this turn if it looks at little, else in the thread. That one sees what is committed; so what the session itself has
   * written to the storage must be found here, or not at all.
   */
  #orAside<T>(
    storage: string,
    here: () => T,
    inThread: (entry: StorageEntry, aside: Aside) => Promise<T>,
  ): MaybePromise<T> {
    try {
      return here()
    } catch (error) {
      if (!(error instanceof EffortSpent)) throw error
      const entry = this.#parts.catalogue.entry(storage)
      if (this.#wroteTo(storage)) {
        readMissing(this.#parts, entry)
        throw tooMuchForTransaction(storage)
      }
      const effort = this.hasWritten ? EFFORT_OF_A_HOLDER : EFFORT_OF_A_SEARCH
      return inThread(entry, { keep: !this.hasWritten, effort })
    }
  }

  #findKept(storage: string, search: Search): Found {
    const { catalogue, results } = this.#parts
    const entry = catalogue.entry(storage)
    if (this.hasWritten || this.#lost || !followWrites(this.#parts, entry)) return this.#find(storage, search)
    const wanted = { search, key: JSON.stringify(search) }
    return results.found(storage, catalogue.version(entry.name), wanted, () => this.#find(storage, search))
  }

  #find(storage: string, search: Search): Found {
    return this.#read(storage, (connection, entry) => {
      const started = performance.now()
      const page = boundedFind(this.#place(connection, entry), search, this.#parts.writer.idle)
      noteSearch({ connection, entry, advisor: this.#parts.advisor }, 'find', search, started)
      return page
    })
  }

  #countKept(storage: string, query: Query, includeRemoved: boolean): number {
    const { catalogue, results } = this.#parts
    const entry = catalogue.entry(storage)
    if (this.hasWritten || this.#lost || !followWrites(this.#parts, entry))
      return this.#count(storage, query, includeRemoved)
    const version = catalogue.version(entry.name)
    const key = countKey(query, includeRemoved)
    return results.counted(storage, version, key, () => this.#count(storage, query, includeRemoved))
  }

  #count(storage: string, query: Query, includeRemoved: boolean): number {
    const { advisor, writer } = this.#parts
    return this.#read(storage, (connection, entry) => {
      const place = this.#place(connection, entry)
      const count = () => {
        const started = performance.now()
        const counted = boundedCount(place, query, includeRemoved)
        noteSearch({ connection, entry, advisor }, 'count', { query, includeRemoved }, started)
        return counted
      }
      if (this.hasWritten) return count()
      const wanted = { query, includeRemoved }
      return connection.within(place.effort, () => keptCount(connection, entry, wanted, writer.idle, count))
    })
  }

  #place(connection: SqliteConnection, entry: StorageEntry): SearchPlace {
    const alone = this.#wroteTo(entry.name)
    const unsaved = this.hasWritten ? this.#parts.writer.unsavedTotals().of(entry.id) : undefined
    return { connection, entry, alone, unsaved, effort: alone ? EFFORT_OF_A_WRITER : EFFORT_OF_A_TURN }
  }

  #wroteTo(storage: string): boolean {
    const entry = this.#parts.catalogue.find(storage)
    return entry !== undefined && (this.#segment?.touched.has(entry) ?? false)
  }

  create(storage: string, mutations: readonly Mutation[], options?: CreateOptions): MaybePromise<StoredJson> {
    const created = this.#write(storage, (writing, segment) => {
      const document = createDocument(writing, mutations, options)
      // One of its own is new: nobody can have asked for it.
      segment.wrote(writing.entry, options?.guid)
      return document
    })
    if (!this.#parts.observers.has(storage)) return created
    return andThen(created, (document) =>
      andThen(this.tell(storage, 'created', undefined, document), () => document),
    )
  }

  enqueue(job: NewJob): MaybePromise<string | undefined> {
    return this.#inTurn((connection, segment) => {
      const guid = this.#parts.jobs.insert(connection, job)
      if (guid !== undefined) segment.enqueued = true
      return guid
    })
  }

  commit(): MaybePromise<void> {
    if (this.#waiting) return this.#waiting.turn.then(() => this.commit())
    const lost = this.#lost
    this.#lost = undefined
    if (lost) throw lost.error
    const segment = this.#segment
    const seen = this.#takeSeen()
    if (segment === undefined) return seen
    const { mark, writer } = this.#parts
    if (mark)
      writer.operate(segment, (connection) => mark(connection, segment.touched.keys(), segment.widened))
    this.#segment = undefined
    return writer.keep(segment)
  }

  rollback(): MaybePromise<void> {
    const { writer } = this.#parts
    this.#epoch++
    this.#lost = undefined
    if (this.#waiting) writer.giveUp(this.#waiting.segment, rolledBack())
    this.#waiting = undefined
    const segment = this.#segment
    const seen = this.#takeSeen()
    if (segment === undefined) return seen
    this.#segment = undefined
    segment.undone()
    return writer.undo(segment) ?? seen
  }

  #read<T>(storage: string, work: (connection: SqliteConnection, entry: StorageEntry) => T): T {
    if (this.#lost) throw this.#lost.error
    const { catalogue, reader, writer } = this.#parts
    const entry = catalogue.entry(storage)
    // The writer's connection also when it sees nothing that is not committed: its pages are in memory, while those of
    // the reader are dropped by each commit. Reading one document after a write then takes 16 µs and not 40 to 80.
    const connection = this.hasWritten || writer.idle ? writer.connection : reader
    return guarded(() => work(connection, entry), writer.noteFailure)
  }

  protected override get observers(): Observers {
    return this.#parts.observers
  }

  protected override get documents(): DocumentChanges<Writing, Written> {
    return documentChanges
  }

  protected override get told(): Session {
    return this
  }

  protected override change(
    storage: string,
    kind: Change['kind'],
    guid: string,
    work: (writing: Writing) => Written,
  ): MaybePromise<Written> {
    const makesRoom = kind === 'deleted' || kind === 'removed'
    return this.#write(
      storage,
      (writing, segment) => {
        const written = work(writing)
        if (written.outcome === 'written') segment.wrote(writing.entry, guid)
        return written
      },
      makesRoom,
    )
  }

  #write<T>(
    storage: string,
    work: (writing: Writing, segment: SessionSegment) => T,
    makesRoom = false,
  ): MaybePromise<T> {
    if (this.#lost) throw this.#lost.error
    const { catalogue, stamps } = this.#parts
    catalogue.entry(storage)
    return this.#inTurn((connection, segment) => {
      const { totals, widened } = segment
      return work({ connection, entry: catalogue.entry(storage), stamps, widened, totals }, segment)
    }, makesRoom)
  }

  /** Does the work with the writer, once it has its turn. */
  #inTurn<T>(
    work: (connection: SqliteConnection, segment: SessionSegment) => T,
    makesRoom = false,
  ): MaybePromise<T> {
    if (this.#lost) throw this.#lost.error
    const turn = this.#turn()
    if (turn !== undefined) {
      const epoch = this.#epoch
      return turn.then(() => {
        if (epoch !== this.#epoch) throw rolledBack()
        // Asks again: an operation that waited for the same turn may have given it back.
        return this.#inTurn(work, makesRoom)
      })
    }
    const segment = this.#segment
    if (segment === undefined) throw new Error('The session has no turn.')
    const { writer } = this.#parts
    // Also for what goes with the delete: its records in the history and the audit log, its events.
    segment.reserve ||= makesRoom
    try {
      return writer.operate(segment, (connection) => work(connection, segment))
    } finally {
      if (this.#segment === segment && !segment.hasWritten) {
        this.#segment = undefined
        this.#seen = writer.undo(segment) ?? this.#seen
      }
    }
  }

  /** Takes the writer: undefined when the session has it. */
  #turn(): Promise<void> | undefined {
    if (this.#segment) return undefined
    if (this.#waiting) return this.#waiting.turn
    const segment = new SessionSegment(
      this.#parts,
      {
        granted: () => {
          this.#segment = segment
        },
        lost: (error) => {
          if (this.#segment !== segment) return
          this.#segment = undefined
          this.#lost = { error }
        },
      },
      this.origin.reserve ?? false,
    )
    const turn = this.#parts.writer.take(segment)
    if (turn === undefined) return undefined
    this.#waiting = { segment, turn }
    const over = () => {
      if (this.#waiting?.segment === segment) this.#waiting = undefined
    }
    turn.then(over, over)
    return turn
  }

  #takeSeen(): Promise<void> | undefined {
    const seen = this.#seen
    this.#seen = undefined
    return seen
  }
}
