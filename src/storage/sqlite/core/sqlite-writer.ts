/**
 * The one connection that writes, and which session has it when.
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
 *    lone commit does not wait for others. A COMMIT would also commit an open savepoint. So if a segment is still held then, the
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
 * - The database is damaged: from the first read or write that finds the damage on, `take` and `alone` refuse.
 * - The disk is full: besides, the database may not grow until there is room (group-commit.ts).
 * - A holder keeps its turn for too long, or long work of the system rests for a minute: its segment is undone, and it hears of it.
 *
 * A segment reads writes of earlier segments of its group that are not yet on disk. No client may see them before they
 * are: so a session whose segment joined a group waits for the COMMIT also when it wrote nothing or rolled back.
 */

import { processTimers, type Timer, type Timers } from '../../../shared/clock.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { nextMode } from '../../../shared/state-machine.ts'
import { type TextTotals, together } from '../text/sqlite-text-index.ts'
import type { Ballast } from './ballast.ts'
import { CommitGroup, GrowthLimit, type Segment, WriterLine } from './group-commit.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { DamagedDatabase, storageError, violatedIndex } from './sqlite-errors.ts'
import { type WriterMode, writerTransitions } from './writer-mode.ts'

/** How long a session may keep the writer, in milliseconds. */
export const HOLD_LIMIT = 5000

/** So many times as long may long work of the system rest. */
export const LONG_RESTS = 12

/** Segments in a group that no longer waits for more. */
const LARGE_GROUP = 64
/** Of one turn of the event loop: while so many come a group waits. Fewer are not worth what searches lose meanwhile. */
const MANY = 4

export class SqliteWriter {
  readonly connection: SqliteConnection
  /** Groups that reached the disk. */
  commits = 0
  readonly #growth: GrowthLimit
  /** Called once. */
  damageFound: ((damage: DamagedDatabase) => void) | undefined
  #damage: DamagedDatabase | undefined
  #mode: WriterMode = 'idle'
  /** While a group is open. */
  #group: CommitGroup | undefined
  /** While a segment has the turn. */
  #holder: Segment | undefined
  readonly #line = new WriterLine()
  #closed: Promise<void> | undefined
  /** One timer, pushed back at each turn: cheaper than one a turn. If it fires and there is a holder, that one is late. */
  readonly #guard: Timer
  /** Of long work: how often the guard has fired since its last operation. */
  #rests = 0
  readonly #timers: Timers

  constructor(connection: SqliteConnection, ballast?: Ballast, timers: Timers = processTimers) {
    this.connection = connection
    this.#growth = new GrowthLimit(connection, ballast)
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
    return this.#group?.totals(this.#holder) ?? together([])
  }

  /** Gives the segment the turn: at once (undefined) if it is free, else when the promise resolves. */
  take(segment: Segment): Promise<void> | undefined {
    if (this.#damage) throw this.#damage
    if (this.#closed) throw closing()
    if (this.#isFree() && this.#line.isEmpty) {
      this.#begin(segment)
      return undefined
    }
    return new Promise((resolve, reject) => {
      const turn = () => {
        this.#begin(segment)
        resolve()
      }
      this.#line.add({ segment, turn, reject })
    })
  }

  /** Calls at the end of this turn of the event loop. */
  soon(call: () => void): void {
    this.#timers.soon(call)
  }

  /** Takes back a `take` that still waits; its promise rejects. */
  giveUp(segment: Segment, error: unknown): void {
    this.#line.giveUp(segment, error)
  }

  /**
   * One operation of the holder. When it throws anything but a refusal (QuoinError, unique index), the segment has
   * been undone and `lost` called.
   */
  operate<T>(segment: Segment, operation: (connection: SqliteConnection) => T): T {
    this.#rests = 0
    try {
      this.#growth.applyTo(segment.reserve ?? false)
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
    group.segments.push(segment)
    this.#pass()
    return group.done
  }

  /** Undoes the holder's segment. Gives what to wait for if it has seen writes that are not on disk yet. */
  undo(segment: Segment): Promise<void> | undefined {
    const group = this.#group
    if (group === undefined || this.#holder !== segment) return undefined
    const seen = group.segments.length === 0 ? undefined : group.done.catch(() => undefined)
    this.#undo(new QuoinError('UNAVAILABLE', 'The transaction could not be rolled back alone.'))
    this.#pass()
    return seen
  }

  /**
   * Waits for its turn, then does `work` in a transaction of its own: for what must not share a group, such as DDL.
   * `committed` is called before any other turn: what is in memory changes together with what is on disk.
   */
  alone<T>(work: (connection: SqliteConnection) => T, committed: (result: T) => void): Promise<void> {
    return this.#turn(() => {
      if (this.#damage) throw this.#damage
      this.#to('apart')
      try {
        committed(this.#transact(work))
      } finally {
        this.#to('idle')
      }
    })
  }

  /**
   * Waits for its turn, then lets no segment write until `work` is over: for what another connection writes, which would
   * find the database locked otherwise, as would this one. No transaction is open meanwhile, so reads go on.
   */
  aside<T>(work: () => Promise<T>): Promise<T> {
    return this.#turn(async () => {
      this.#to('apart')
      try {
        return await work()
      } finally {
        this.#to('idle')
        this.#next()
      }
    })
  }

  /** Lets those who wait have their turn, commits, and closes the connection. */
  close(): Promise<void> {
    // A caller waits now: a holder that never ends must not let the process end before its guard fires.
    this.#guard.ref()
    this.#closed ??= this.#turn(() => {
      this.#to('closed')
      this.#guard.end()
      this.connection.close()
      this.#line.rejectAll(closing())
    })
    return this.#closed
  }

  /** The only place where the mode changes. */
  #to(mode: WriterMode): void {
    this.#mode = nextMode('The writer', writerTransitions, this.#mode, mode)
  }

  /** Whether the next turn can begin at once. */
  #isFree(): boolean {
    return this.#mode === 'idle' || this.#mode === 'gathering'
  }

  /** A turn without a segment, between two groups. */
  #turn<T>(work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#mode === 'closed') throw closing()
      const turn = () => {
        this.#commit()
        resolve(work())
      }
      this.#line.add({ segment: undefined, turn, reject })
      this.#next()
    })
  }

  #begin(segment: Segment): void {
    try {
      if (this.#group === undefined) this.#openGroup()
      this.connection.run('SAVEPOINT segment')
    } catch (error) {
      const reason = this.#failure(error)
      this.#fail(reason)
      throw reason
    }
    this.#holder = segment
    this.#to('held')
    this.#rests = 0
    this.#guard.refresh()
    segment.granted()
  }

  #openGroup(): void {
    this.#open()
    this.#group = new CommitGroup()
    this.#to('gathering')
  }

  /** The holder is done: on to the next that waits, or to the end of the group. */
  #pass(): void {
    const isDue = this.#mode === 'due'
    this.#holder = undefined
    this.#to(this.#group === undefined ? 'idle' : 'gathering')
    if (isDue) this.#commit()
    this.#next()
    const group = this.#group
    if (group === undefined) return
    if (group.segments.length > 0) this.#schedule(group)
    else if (this.#isFree()) this.#commit()
  }

  #next(): void {
    const again = () => this.#next()
    while (this.#isFree() && this.#line.mayGoOn(this.#timers, again) && this.#line.takeFirst());
  }

  #schedule(group: CommitGroup): void {
    if (group.isScheduled) return
    group.isScheduled = true
    const segments = group.segments.length
    this.#timers.soon(() => {
      group.isScheduled = false
      // It was committed before, or has failed.
      if (this.#group !== group) return
      if (!this.#isFree()) this.#to('due')
      else if (group.segments.length >= segments + MANY && group.segments.length < LARGE_GROUP)
        this.#schedule(group)
      else this.#commit()
    })
  }

  /** Ends the group, if there is one; without a kept segment there is nothing in it. */
  #commit(): void {
    const group = this.#group
    if (group === undefined) return
    if (group.segments.length === 0) {
      this.#group = undefined
      this.#to('idle')
      this.#rollBack()
      return
    }
    try {
      group.totals().save(this.connection)
      this.connection.run('COMMIT')
    } catch (error) {
      this.#fail(this.#failure(error))
      return
    }
    this.#group = undefined
    this.#to('idle')
    this.commits += 1
    group.committed()
  }

  /** The group is gone, whether SQLite has rolled it back or we do. A holder of it keeps the turn until it has heard. */
  #fail(error: unknown): void {
    const group = this.#group
    this.#group = undefined
    if (this.#mode === 'gathering') this.#to('idle')
    this.#rollBack()
    group?.failed(error)
  }

  /** A transaction of its own, apart from all groups. */
  #transact<T>(work: (connection: SqliteConnection) => T): T {
    try {
      this.#open()
      const result = work(this.connection)
      this.connection.run('COMMIT')
      return result
    } catch (error) {
      this.#rollBack()
      throw this.#failure(error)
    }
  }

  #open(): void {
    // Only if a ROLLBACK has failed; then no one else can have begun.
    this.#rollBack()
    this.#growth.follow()
    this.connection.run('BEGIN IMMEDIATE')
  }

  /** What to tell of an error of SQLite. */
  #failure(error: unknown): unknown {
    this.#growth.note(error)
    const reported = storageError(error)
    this.noteFailure(reported)
    return reported
  }

  /** Each error of the database. Nothing is written to one that was found damaged: it could destroy more. */
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
      // The waiting sessions must get the first error all the same; the next transaction tries again.
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
    // Another connection's writes have no transaction here, and cannot be stopped.
    if (holder === undefined || this.#group === undefined) return
    if (holder.isLong && ++this.#rests < LONG_RESTS) {
      this.#guard.refresh()
      return
    }
    const seconds = (HOLD_LIMIT / 1000) * (holder.isLong ? LONG_RESTS : 1)
    const message = `The transaction was open for more than ${seconds} seconds and was undone. Do slow work before the first write or after the commit.`
    this.#lose(holder, new QuoinError('UNAVAILABLE', message))
  }
}

function closing(): QuoinError {
  return new QuoinError('UNAVAILABLE', 'The storage is being closed.')
}
