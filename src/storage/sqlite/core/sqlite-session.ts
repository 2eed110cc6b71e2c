/** One unit of work on SQLite. Reads and writes at once; waits only for the writer and for the commit. */
import type { JsonObject } from '../../../shared/json.ts'
import { andThen, type MaybePromise } from '../../../shared/maybe-promise.ts'
import type { Mutation } from '../../../shared/mutation.ts'
import type { Claims, DocumentLock, NumberRequest, UniqueKeyMatch } from '../../claims.ts'
import type {
  Change,
  CreateOptions,
  Origin,
  Session,
  SessionShortcuts,
  Transaction,
  Written,
} from '../../database.ts'
import type { DocumentChanges } from '../../document-session.ts'
import type { NewJob } from '../../job.ts'
import type { Observers } from '../../observers.ts'
import { noLocks, type Referred } from '../../reference/references.ts'
import type { StoredJson } from '../../stored-json.ts'
import { uniqueKeyMatch, valueOfKey } from '../../unique/active-unique-key.ts'
import { rolledBack } from '../../unit-of-work.ts'
import { takeNumbers } from '../numbers/counters.ts'
import { presentOf, referrersOf } from '../reference/referred-documents.ts'
import { SessionSegment } from './group-commit.ts'
import { SearchingSession } from './searching-session.ts'
import type { SessionParts } from './session-parts.ts'
import { guarded, type SqliteConnection } from './sqlite-connection.ts'
import { createDocument, documentChanges, getDocument, holderOf, type Writing } from './sqlite-documents.ts'
import type { StorageEntry } from './storage-entry.ts'
import { UnitReads } from './unit-reads.ts'

/**
 * Where a session is:
 * - free: has written nothing since the last commit. Reads what is committed.
 * - waiting: an operation waits for the writer; further ones wait for the same turn. Still reads what is committed.
 * - holding: has the writer and has written. Reads its own writes. An operation that found nothing to write gives the
 *   writer back at once, so that a flow which goes on to something slow does not keep it. A unit of work also has it while
 *   it reads: see `unit-reads.ts`.
 * - lost: its writes were undone without its doing (full disk, held too long). Every call says so, until `commit`
 *   (which says it too) or `rollback` makes it free again; so half of its work can never be committed.
 */
export class SqliteSession
  extends SearchingSession
  implements Session, Claims, Transaction, SessionShortcuts
{
  readonly #parts: SessionParts
  #segment: SessionSegment | undefined
  #waiting: { readonly segment: SessionSegment; readonly turn: Promise<void> } | undefined
  /** The last commit, and what it waits for. */
  #lastCommit: { readonly segment: SessionSegment; readonly done: Promise<void> } | undefined
  #lost: { readonly error: unknown } | undefined
  /** Counts rollbacks, so that an operation which waited meanwhile does not start over in the next unit of work. */
  #epoch = 0
  /** The commit of others whose writes this session has seen. */
  #seen: Promise<void> | undefined
  /** Until the first commit. */
  #unit: UnitReads | undefined
  /** Lets the next unit search in the thread. */
  #endSlow: (() => void) | undefined

  readonly origin: Origin

  constructor(parts: SessionParts, origin: Origin) {
    super()
    this.#parts = parts
    this.origin = origin
    this.#unit = origin.unit && new UnitReads(origin.unit)
  }

  get claims(): Claims {
    return this
  }

  get transaction(): Transaction {
    return this
  }

  get hasWritten(): boolean {
    return this.#segment?.hasWritten ?? false
  }

  get(
    storage: string,
    guid: string,
    options?: { readonly removed?: boolean },
  ): MaybePromise<StoredJson | undefined> {
    const look = () =>
      this.read(storage, (connection, entry) =>
        getDocument(connection, entry, guid, options?.removed ?? false),
      )
    return this.#unit ? this.inUnit(storage, look) : look()
  }

  create(storage: string, mutations: readonly Mutation[], options?: CreateOptions): MaybePromise<StoredJson> {
    const created = this.#write(storage, (writing, segment) => {
      const document = createDocument(writing, mutations, options)
      // A generated guid is new: no client can have asked for it.
      segment.wrote(writing.entry, options?.guid)
      return document
    })
    if (!this.#parts.observers.has(storage)) return created
    return andThen(created, (document) =>
      andThen(this.tell(storage, 'created', undefined, document), () => document),
    )
  }

  /** In the writer's turn: the value may be of a document whose commit is under way. */
  findByUniqueKey(
    storage: string,
    by: readonly string[],
    document: JsonObject,
  ): MaybePromise<UniqueKeyMatch | undefined> {
    return this.#write(storage, ({ connection, entry }) => {
      const value = valueOfKey(entry, by, document)
      return value && uniqueKeyMatch(value, holderOf(connection, value))
    })
  }

  lockDocuments(storage: string, guids: readonly string[]): MaybePromise<DocumentLock> {
    if (this.#parts.catalogue.find(storage) === undefined) return noLocks
    return this.#write(storage, ({ connection, entry }, segment) => {
      segment.holds = true
      const present = presentOf(connection, entry, guids)
      return {
        guids: present,
        referrers: (from, field, limit) => this.#referrers(from, { field, guids: present, limit }),
      }
    })
  }

  numbers(storage: string, field: string, requested: NumberRequest): MaybePromise<number> {
    return this.#write(storage, ({ connection }, segment) => {
      segment.numbered = true
      return takeNumbers(connection, storage, field, requested)
    })
  }

  enqueue(job: NewJob): MaybePromise<string | undefined> {
    return this.#inTurn((connection, segment) => {
      const guid = this.#parts.jobs.insert(connection, job)
      if (guid !== undefined) segment.enqueued = true
      return guid
    })
  }

  endJob(other?: string): MaybePromise<boolean> {
    if (other !== undefined) return this.#cancelJob(other)
    const { job } = this.origin
    if (job === undefined) throw new Error('The session has no job.')
    return this.#inTurn((connection, segment) => {
      const { ended, freed } = this.#parts.jobs.end(connection, job)
      segment.endedJob ||= ended
      segment.enqueued ||= freed
      return ended
    })
  }

  #cancelJob(guid: string): MaybePromise<boolean> {
    return this.#inTurn((connection, segment) => {
      const { job, freed } = this.#parts.jobs.delete(connection, guid)
      segment.endedJob ||= job !== undefined
      segment.enqueued ||= freed
      return job !== undefined
    })
  }

  commit(): MaybePromise<void> {
    if (this.#waiting) return this.#waiting.turn.then(() => this.commit())
    const lost = this.#lost
    this.#lost = undefined
    if (lost) throw lost.error
    this.#unit = undefined
    if (!this.hasWritten) this.#giveBack()
    const segment = this.#segment
    const seen = this.#takeSeen()
    if (segment === undefined) {
      this.#slowIsOver()
      return seen
    }
    this.#segment = undefined
    const done = this.#parts.writer.keep(segment)
    segment.ended()
    // The next one sees what has ended.
    this.#slowIsOver()
    this.#lastCommit = { segment, done }
    return done
  }

  rollback(): MaybePromise<void> {
    const { writer } = this.#parts
    this.#epoch++
    this.#lost = undefined
    this.#unit?.clear()
    this.#slowIsOver()
    if (this.#waiting) writer.giveUp(this.#waiting.segment, rolledBack())
    this.#waiting = undefined
    const segment = this.#segment
    const seen = this.#takeSeen()
    if (segment === undefined) return seen
    this.#segment = undefined
    segment.undone()
    return writer.undo(segment) ?? seen
  }

  protected override get parts(): SessionParts {
    return this.#parts
  }

  protected override get isLost(): boolean {
    return this.#lost !== undefined
  }

  protected override get isUnit(): boolean {
    return this.#unit !== undefined
  }

  protected override get holds(): boolean {
    return this.#segment !== undefined
  }

  protected override inUnit<T>(storage: string, look: () => MaybePromise<T>): MaybePromise<T> {
    const unit = this.#unit
    if (unit === undefined) return look()
    if (this.#lost) throw this.#lost.error
    const turn = this.#turn()
    if (turn !== undefined) {
      const epoch = this.#epoch
      return turn.then(() => {
        if (epoch !== this.#epoch) throw rolledBack()
        return this.inUnit(storage, look)
      })
    }
    this.#giveBackSoon()
    unit.check()
    unit.note(this.#parts.catalogue.entry(storage))
    return look()
  }

  protected override unread(storages: readonly string[]): readonly StorageEntry[] {
    return this.#unit?.unread(storages.map((name) => this.#parts.catalogue.entry(name))) ?? []
  }

  protected override slowTurn(fresh: readonly StorageEntry[]): Promise<void> | undefined {
    const unit = this.#unit
    if (unit === undefined || this.#endSlow) return undefined
    const epoch = this.#epoch
    this.#giveBack()
    return this.#parts.slowUnits.take().then((release) => {
      if (epoch !== this.#epoch || this.#unit !== unit) {
        release()
        throw rolledBack()
      }
      this.#endSlow = release
      unit.forget(fresh)
    })
  }

  #slowIsOver(): void {
    this.#endSlow?.()
    this.#endSlow = undefined
  }

  /** Lets others write while the unit waits. Resolves when all that it has read is on disk. */
  protected override settle(): MaybePromise<void> {
    if (!this.hasWritten) this.#giveBack()
    return this.#seen
  }

  protected override wroteTo(storage: string): boolean {
    const entry = this.#parts.catalogue.find(storage)
    return entry !== undefined && (this.#segment?.touched.has(entry) ?? false)
  }

  protected override read<T>(
    storage: string,
    work: (connection: SqliteConnection, entry: StorageEntry) => T,
  ): T {
    if (this.#lost) throw this.#lost.error
    const { catalogue, reader, writer } = this.#parts
    const entry = catalogue.entry(storage)
    // The writer's connection also when it sees nothing that is not committed: its pages are in memory, while those of
    // the reader are dropped by each commit. Reading one document after a write then takes 16 µs and not 40 to 80.
    const connection = this.holds || writer.idle ? writer.connection : reader
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

  #referrers(from: string, referred: Referred): MaybePromise<readonly string[]> {
    if (this.#parts.catalogue.find(from) === undefined) return []
    return this.#write(from, ({ connection, entry }) => referrersOf(connection, entry, referred))
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
      this.#unit?.check()
      return writer.operate(segment, (connection) => work(connection, segment))
    } finally {
      if (this.#segment === segment && !segment.hasWritten) {
        if (this.#unit) this.#giveBackSoon()
        else this.#giveBack()
      }
    }
  }

  /** Gives the writer back, if the session has it. What it wrote is undone. */
  #giveBack(): void {
    const segment = this.#segment
    if (segment === undefined) return
    this.#segment = undefined
    this.#seen = this.#parts.writer.undo(segment) ?? this.#seen
  }

  /** At the end of this turn of the event loop, if nothing is written by then. */
  #giveBackSoon(): void {
    const segment = this.#segment
    if (segment === undefined || segment.isBrief || this.#unit?.yields !== true) return
    segment.isBrief = true
    this.#parts.writer.soon(() => {
      if (this.#segment === segment && !segment.hasWritten) this.#giveBack()
    })
  }

  /** Takes the writer: undefined when the session has it. */
  #turn(): Promise<void> | undefined {
    if (this.#segment) return undefined
    if (this.#waiting) return this.#waiting.turn
    // With the writer this session would keep its own commit from the disk, and may be what waits for that commit: a run of which
    // one branch replies while another one writes.
    if (this.#lastCommit && !this.#lastCommit.segment.isSettled)
      return this.#lastCommit.done.then(ignore, ignore)
    this.#lastCommit = undefined
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
      this.origin,
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

function ignore(): void {
  // The commit tells those who asked for it.
}
