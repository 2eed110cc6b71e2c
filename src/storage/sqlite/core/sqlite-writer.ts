/**
 * The one connection that writes, and who has it when.
 *
 * Words
 * - segment: what one session writes between two of its commits. In SQLite a SAVEPOINT.
 * - group: the segments that reach the disk together. In SQLite one transaction, BEGIN IMMEDIATE to COMMIT, one fsync.
 * - turn: having the writer. At most one segment has it (the holder); others wait in the order in which they came.
 *
 * Life of a group
 * 1. none: no transaction is open. The first segment that takes its turn opens one; nothing waits for a timer.
 * 2. open: segments take turns in it, each in its savepoint. `keep` releases the savepoint and promises the group's
 *    COMMIT; `undo` rolls back to the savepoint. Then the next one waiting gets the turn, within the same transaction.
 * 3. due: the first `keep` asked for a COMMIT at the end of this turn of the event loop (setImmediate), so all sessions
 *    that commit in one turn of the loop share one fsync: 4,000 commits a second become 30,000. While many more come
 *    in each turn, the group waits for the next: with 32 clients a durable create takes a tenth less processor time. A
 *    lone one waits for nobody. A COMMIT would also commit an open savepoint. So if a segment is still held then, the
 *    group waits for it, and commits before the next one waiting gets the turn: else overlapping sessions could put the
 *    COMMIT off for ever.
 * 4. committed: the versions of the storages written to go up, then all promises of the group resolve. Or failed: all
 *    of them reject, and nothing of the group is there. Either way the next segment opens a new group.
 *
 * What can go wrong
 * - A statement fails (disk full, I/O error). SQLite then sometimes rolls the whole transaction back by itself, not just
 *   the statement; `isTransaction` tells. If it did, the group has failed: also segments that were kept but not yet
 *   committed. If it did not, only the holder's segment is undone. In both cases the holder has lost its writes and
 *   must hear of it (`lost`), or it would commit the second half of its work.
 * - A unique index refuses a row: only that statement is undone, and the holder goes on. So does it when a document or
 *   a mutation is refused (QuoinError), because that is checked before the first statement.
 * - COMMIT fails: the group is rolled back and has failed.
 * - The database is damaged: the first who meets it, reading or writing, has `take` and `alone` refuse from then on.
 * - The disk is full: besides, the ballast is given away (ballast.ts), and from the next transaction on the database may
 *   not grow until there is room: what changes documents in the pages that are there goes on. Deletes, with their records
 *   in the history and the audit log, and sign-ins may take some of what was given away (`Segment.reserve`).
 * - A holder does nothing for too long: its segment is undone, and it hears of it.
 *
 * A segment reads what earlier segments of its group wrote and is not yet on disk. It must not tell anybody before that
 * is: so a session whose segment joined a group waits for the COMMIT also when it wrote nothing or rolled back.
 */
import { QuoinError } from '../../../shared/errors.ts'
import { processTimers, type Timer, type Timers } from '../../../shared/timers.ts'
import { type TextTotals, together } from '../text/text-totals.ts'
import type { Ballast } from './ballast.ts'
import { numberOf, type SqliteConnection } from './sqlite-connection.ts'
import { DamagedDatabase, isFull, storageError, violatedIndex } from './sqlite-errors.ts'

/** How long a session may keep the writer, in milliseconds. */
export const HOLD_LIMIT = 5000

/** Segments in a group that no longer waits for more. */
const LARGE_GROUP = 64
/** Of one turn of the event loop: while so many come a group waits. Fewer are not worth what searches lose meanwhile. */
const MANY = 4

/** SQLite's own, 16 TiB. */
const MAX_PAGES = 4_294_967_294

export interface Segment {
  /** Whether the database may grow for it while the disk is full. */
  readonly reserve?: boolean
  /** What it changed of the totals of free text; written with its group. */
  readonly totals?: TextTotals
  /** Called when the segment has got the turn. */
  granted(): void
  /** Called if the segment's writes are gone and it no longer has the turn. */
  lost(error: unknown): void
  /** Called when the segment was kept: after it is on disk (undefined), or when its group has failed. */
  settled(error: unknown): void
}

interface Group {
  readonly kept: Segment[]
  readonly done: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

interface Waiting {
  readonly segment: Segment | undefined
  readonly turn: () => void
  readonly reject: (error: unknown) => void
}

const noNews = (): void => undefined

export class SqliteWriter {
  readonly connection: SqliteConnection
  readonly #ballast: Ballast | undefined
  /** Called once. */
  damageFound: ((damage: DamagedDatabase) => void) | undefined
  #damage: DamagedDatabase | undefined
  /** While the disk is full: the pages beyond which the database may not grow, and may by a segment with the reserve. */
  #bounds: { readonly pages: number; readonly reserve: number } | undefined
  #allowed = MAX_PAGES
  #group: Group | undefined
  #holder: Segment | undefined
  #waiting: Waiting[] = []
  #scheduled = false
  #due = false
  #closing = false
  /** One timer, pushed back at each turn: cheaper than one a turn. If it fires and there is a holder, that one is late. */
  readonly #guard: Timer
  readonly #timers: Timers

  constructor(connection: SqliteConnection, ballast?: Ballast, timers: Timers = processTimers) {
    this.connection = connection
    this.#ballast = ballast
    this.#timers = timers
    this.#guard = timers.after(HOLD_LIMIT, () => this.#evict())
    this.#guard.unref()
  }

  /** No transaction is open, so the connection sees what is committed and nothing else. */
  get idle(): boolean {
    return this.#group === undefined
  }

  /** What the open group has changed of the totals of free text, which are written with it. */
  unsavedTotals(): TextTotals {
    return together([...(this.#group?.kept ?? []), ...(this.#holder ? [this.#holder] : [])])
  }

  /** Gives the segment the turn: at once (undefined) if nobody has it, else when the promise resolves. */
  take(segment: Segment): Promise<void> | undefined {
    if (this.#damage) throw this.#damage
    if (this.#closing) throw new QuoinError('UNAVAILABLE', 'The storage is being closed.')
    if (this.#holder === undefined && this.#waiting.length === 0) {
      this.#begin(segment)
      return undefined
    }
    return new Promise((resolve, reject) => {
      const turn = () => {
        this.#begin(segment)
        resolve()
      }
      this.#waiting.push({ segment, turn, reject })
    })
  }

  /** Takes back a `take` that still waits; its promise rejects. */
  giveUp(segment: Segment, error: unknown): void {
    const gone = this.#waiting.filter((waiting) => waiting.segment === segment)
    this.#waiting = this.#waiting.filter((waiting) => waiting.segment !== segment)
    for (const waiting of gone) waiting.reject(error)
  }

  /**
   * One operation of the holder. When it throws anything but a refusal (QuoinError, unique index), the segment has
   * been undone and `lost` called.
   */
  operate<T>(segment: Segment, operation: (connection: SqliteConnection) => T): T {
    try {
      if (this.#bounds) this.#allow(segment.reserve ? this.#bounds.reserve : this.#bounds.pages)
      return operation(this.connection)
    } catch (error) {
      const refused = error instanceof QuoinError || violatedIndex(error) !== undefined
      if (this.connection.inTransaction && refused) throw error
      const reason = this.#failure(error)
      this.#lose(segment, reason)
      throw reason
    }
  }

  /** Ends the holder's segment. The promise is the group's: it resolves when the segment is on disk. */
  keep(segment: Segment): Promise<void> {
    const group = this.#group
    if (group === undefined || this.#holder !== segment)
      throw new Error('Only the holder can end its segment.')
    this.operate(segment, (connection) => connection.run('RELEASE segment'))
    group.kept.push(segment)
    this.#pass()
    return group.done
  }

  /** Undoes the holder's segment. Gives what to wait for if it has seen writes that are not on disk yet. */
  undo(segment: Segment): Promise<void> | undefined {
    const group = this.#group
    if (group === undefined || this.#holder !== segment) return undefined
    const seen = group.kept.length === 0 ? undefined : group.done.catch(() => undefined)
    this.#undo(new QuoinError('UNAVAILABLE', 'The transaction could not be rolled back alone.'))
    this.#pass()
    return seen
  }

  /**
   * Waits for its turn, then does `work` in a transaction of its own: for what must not share a group, such as DDL.
   * `committed` is called before anybody else has a turn: what is in memory changes together with what is on disk.
   */
  alone<T>(work: (connection: SqliteConnection) => T, committed: (result: T) => void): Promise<void> {
    return this.#turn(() => {
      if (this.#damage) throw this.#damage
      let result: T
      try {
        this.#open()
        result = work(this.connection)
        this.connection.run('COMMIT')
      } catch (error) {
        this.#rollBack()
        throw this.#failure(error)
      }
      committed(result)
    })
  }

  /**
   * Waits for its turn, then lets nobody else write until `work` is over: for what another connection writes, which would
   * find the database locked otherwise, as would we. No transaction is open meanwhile, so reads go on.
   */
  aside<T>(work: () => Promise<T>): Promise<T> {
    return this.#turn(async () => {
      this.#holder = { granted: noNews, lost: noNews, settled: noNews }
      try {
        return await work()
      } finally {
        this.#holder = undefined
        this.#next()
      }
    })
  }

  /** Lets those who wait have their turn, commits, and closes the connection. */
  close(): Promise<void> {
    if (this.#closing) return Promise.resolve()
    // Somebody waits now: a holder that never ends must not let the process end before its guard fires.
    this.#guard.ref()
    const closed = this.#turn(() => {
      this.#guard.end()
      this.connection.close()
    })
    this.#closing = true
    return closed
  }

  /** A turn without a segment, between two groups. */
  #turn<T>(work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const turn = () => {
        this.#commit()
        resolve(work())
      }
      this.#waiting.push({ segment: undefined, turn, reject })
      if (this.#holder === undefined) this.#next()
    })
  }

  #begin(segment: Segment): void {
    try {
      if (this.#group === undefined) {
        this.#open()
        const { promise, resolve, reject } = Promise.withResolvers<void>()
        // Whoever kept a segment hears of it; a group in which nobody did is nobody's news.
        promise.catch(() => undefined)
        this.#group = { kept: [], done: promise, resolve, reject }
      }
      this.connection.run('SAVEPOINT segment')
    } catch (error) {
      const reason = this.#failure(error)
      this.#fail(reason)
      throw reason
    }
    this.#holder = segment
    this.#guard.refresh()
    segment.granted()
  }

  /** The holder is done: on to whoever waits, or to the end of the group. */
  #pass(): void {
    this.#holder = undefined
    if (this.#due) this.#commit()
    this.#next()
    const group = this.#group
    if (group === undefined) return
    if (group.kept.length > 0) this.#schedule()
    else if (this.#holder === undefined) this.#commit()
  }

  #next(): void {
    while (this.#holder === undefined) {
      const waiting = this.#waiting.shift()
      if (waiting === undefined) return
      try {
        waiting.turn()
      } catch (error) {
        waiting.reject(error)
      }
    }
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    const kept = this.#group?.kept.length ?? 0
    this.#timers.soon(() => {
      this.#scheduled = false
      const group = this.#group
      if (this.#holder !== undefined) this.#due = true
      else if (group && group.kept.length >= kept + MANY && group.kept.length < LARGE_GROUP) this.#schedule()
      else this.#commit()
    })
  }

  /** Ends the group, if there is one; without a kept segment there is nothing in it. */
  #commit(): void {
    const group = this.#group
    if (group === undefined) return
    if (group.kept.length === 0) {
      this.#group = undefined
      this.#rollBack()
      return
    }
    try {
      together(group.kept).save(this.connection)
      this.connection.run('COMMIT')
    } catch (error) {
      this.#fail(this.#failure(error))
      return
    }
    this.#group = undefined
    this.#due = false
    for (const segment of group.kept) segment.settled(undefined)
    group.resolve()
  }

  /** The group is gone, whether SQLite has rolled it back or we do. */
  #fail(error: unknown): void {
    const group = this.#group
    this.#group = undefined
    this.#due = false
    this.#rollBack()
    if (group === undefined) return
    for (const segment of group.kept) segment.settled(error)
    group.reject(error)
  }

  #open(): void {
    // Only if a ROLLBACK has failed; then nobody else can have begun.
    this.#rollBack()
    this.#bound()
    this.connection.run('BEGIN IMMEDIATE')
  }

  /** Keeps the database from growing while the disk is full. Between two transactions: within one it has grown already. */
  #bound(): void {
    const full = this.#ballast?.full ?? false
    if (full === (this.#bounds !== undefined)) return
    this.#bounds = full ? this.#boundsNow() : undefined
    this.#allow(this.#bounds?.pages ?? MAX_PAGES)
  }

  #boundsNow(): { pages: number; reserve: number } {
    const pages = numberOf(this.connection.get('PRAGMA page_count') ?? {}, 'page_count')
    const size = numberOf(this.connection.get('PRAGMA page_size') ?? {}, 'page_size')
    return { pages, reserve: pages + Math.floor((this.#ballast?.spare ?? 0) / size) }
  }

  /** SQLite takes what is there for the bound where it is more. */
  #allow(pages: number): void {
    if (pages === this.#allowed) return
    this.connection.exec(`PRAGMA max_page_count = ${pages}`)
    this.#allowed = pages
  }

  /** What to tell of an error of SQLite. Of a full disk also the ballast hears. */
  #failure(error: unknown): unknown {
    if (this.#ballast && !this.#ballast.full && isFull(error)) this.#ballast.giveAway()
    const told = storageError(error)
    this.noteFailure(told)
    return told
  }

  /** Each error that anybody met. Nothing is written to a database that was found damaged: it could destroy more. */
  readonly noteFailure = (error: unknown): void => {
    if (!(error instanceof DamagedDatabase) || this.#damage) return
    this.#damage = error
    this.damageFound?.(error)
  }

  #rollBack(): void {
    // Right after a failure SQLite may have left the transaction already; then ROLLBACK itself would be an error.
    if (!this.connection.inTransaction) return
    try {
      this.connection.run('ROLLBACK')
    } catch {
      // Whoever waits has to hear of the first error all the same; the next transaction tries again.
    }
  }

  /** Undoes the open savepoint; if SQLite cannot, or has left the transaction already, the whole group with `error`. */
  #undo(error: unknown): void {
    if (this.connection.inTransaction) {
      try {
        this.connection.run('ROLLBACK TO segment')
        this.connection.run('RELEASE segment')
        return
      } catch {
        // Then the transaction as a whole must go.
      }
    }
    this.#fail(error)
  }

  #lose(segment: Segment, error: unknown): void {
    this.#undo(error)
    segment.lost(error)
    this.#pass()
  }

  #evict(): void {
    const holder = this.#holder
    // Who writes by another connection has no transaction here, and cannot be stopped.
    if (holder === undefined || this.#group === undefined) return
    const seconds = HOLD_LIMIT / 1000
    const message = `The transaction was open for more than ${seconds} seconds and was undone. Do slow work before the first write or after the commit.`
    this.#lose(holder, new QuoinError('UNAVAILABLE', message))
  }
}
