/**
 * The transaction of a session. Where it is:
 * - free: has written nothing since the last commit. There is no transaction.
 * - holding: has a transaction and has written in it. A transaction in which an operation found nothing to write is given
 *   back at once, so that a flow which goes on to something slow does not keep it.
 * - lost: its writes were undone without its doing (connection gone, deadlock, idle for too long). Every operation says
 *   so, until `commit` (which says it too) or `rollback` makes it free again; so half of its work can never be committed.
 *
 * A unit of work (`unit-of-work.ts`) has a SERIALIZABLE transaction from its first read on, and shares one lock with all other
 * units. From its second try on it has that lock for itself, so that no other unit is under way. The lock is that of a table that
 * hardly anything writes to, because a LOCK TABLE before the first read does not settle what the transaction sees, while an
 * advisory lock does. Locks of the storages' own tables met each other crosswise and stood still for seconds.
 * https://www.postgresql.org/docs/18/sql-lock.html
 *
 * A write that nothing can refuse is deferred: it is sent with the next statement or with COMMIT (`postgres-transaction.ts`), or
 * by itself when the turn of the event loop ends, so that its locks are there while the run waits for something else. What it
 * fails with then is what the transaction is lost by.
 *
 * A transaction that PostgreSQL ends because another one waits for it crosswise (deadlock) is a {@link SerializationConflict} too, of every
 * session: nothing of it is stored, and who began it may begin once more.
 *
 * Operations come one after the other: branches of a flow run side by side, and a change is two statements that nothing of
 * the same session may come between.
 */
import { QuoinError } from '../../../shared/errors.ts'
import type { MaybePromise } from '../../../shared/maybe-promise.ts'
import { ALONE_FROM, rolledBack, SerializationConflict, type UnitOfWork } from '../../unit-of-work.ts'
import type { EndedJob } from '../jobs/postgres-jobs-end.ts'
import type { WritesUnderWay } from './cluster-lock.ts'
import type { LockedAhead } from './locked-ahead.ts'
import type { PostgresPool } from './postgres-connection.ts'
import { isChangedMeanwhile, isTransactionConflict } from './postgres-errors.ts'
import type { PostgresTransaction } from './postgres-transaction.ts'

/** How long a session may hold a transaction without using it: its rows are locked for all other sessions. */
const IDLE_MS = 5_000
/** The same for long work of the system: see `Origin.isLong`. */
const LONG_IDLE_MS = 60_000
/** PostgreSQL's own limit is behind ours. */
const BEGIN_LONG = ['BEGIN', `SET LOCAL idle_in_transaction_session_timeout = ${LONG_IDLE_MS + 10_000}`]

/** What a transaction has done so far. */
export interface Work {
  readonly transaction: PostgresTransaction
  /** Guids of the documents that were written, by storage. */
  readonly written: Map<string, Set<string>>
  enqueued: boolean
  /** Where the job of a unit of work stands, whose row it has locked. */
  place?: string | undefined
  /** The job of the session, which ends with the commit. */
  ended?: EndedJob
  readonly ahead: LockedAhead
  /** Rows that it has locked must stay so until its end. */
  holds: boolean
  /** It changes a document that it has not locked. */
  optimistic?: boolean
}

export function noteWritten({ written }: Work, storage: string, guid: string): void {
  const guids = written.get(storage)
  if (guids) guids.add(guid)
  else written.set(storage, new Set([guid]))
}

const SERIALIZABLE = 'BEGIN ISOLATION LEVEL SERIALIZABLE'
const BEGIN_UNIT = [SERIALIZABLE, 'LOCK TABLE migration IN ROW SHARE MODE']
const BEGIN_ALONE = [SERIALIZABLE, 'LOCK TABLE migration IN EXCLUSIVE MODE']

/** Of the tables `turn_0` to `turn_15`. */
const TURNS = 16

/** The turn before the lock that all units share: who waits for its turn keeps no other unit waiting. */
function inTurnOf(turn: string, [begin = SERIALIZABLE, ...locks]: readonly string[]): readonly string[] {
  let hash = 0
  for (let at = 0; at < turn.length; at++) hash = (hash * 31 + turn.charCodeAt(at)) >>> 0
  return [begin, `LOCK TABLE turn_${hash % TURNS} IN EXCLUSIVE MODE`, ...locks]
}

export class SessionTransaction {
  readonly #pool: Pick<PostgresPool, 'transaction'>
  readonly #writes: WritesUnderWay
  /** Until the first commit. */
  #unit: UnitOfWork | undefined
  #work: Work | undefined
  #lost: { readonly error: unknown } | undefined
  /** The last operation, whether it succeeded or not. */
  #last: Promise<unknown> = Promise.resolve()
  #queued = 0
  /** What a unit does before its first operation. */
  readonly #opened: ((work: Work) => Promise<void>) | undefined
  /** Counts rollbacks, so that an operation which waited meanwhile does not start over in the next unit of work. */
  #epoch = 0
  #idle: NodeJS.Timeout | undefined
  #flushing: NodeJS.Immediate | undefined
  readonly #isLong: boolean

  constructor(
    pool: Pick<PostgresPool, 'transaction'>,
    writes: WritesUnderWay,
    unit: UnitOfWork | undefined,
    opened?: (work: Work) => Promise<void>,
    isLong = false,
  ) {
    this.#isLong = isLong
    this.#pool = pool
    this.#writes = writes
    this.#unit = unit
    this.#opened = opened
  }

  get hasWritten(): boolean {
    return (
      this.#work !== undefined &&
      (this.#work.enqueued ||
        this.#work.holds ||
        this.#work.ahead.size > 0 ||
        this.#work.ended !== undefined ||
        this.#work.written.size > 0)
    )
  }

  /** Whether it has a transaction, or is about to have one. */
  get isBegun(): boolean {
    return this.#work !== undefined || this.#queued > 0 || this.#lost !== undefined
  }

  /** A unit of work that has committed nothing yet. */
  get isUnit(): boolean {
    return this.#unit !== undefined
  }

  /** Throws what the writes were lost by, if they were. */
  refuseLost(): void {
    if (this.#lost) throw this.#lost.error
  }

  /** Does the operation in the transaction, which is begun if need be, behind what was asked for before. */
  inTurn<T>(operation: (work: Work) => Promise<T>): Promise<T> {
    this.refuseLost()
    const epoch = this.#epoch
    this.#stopTimers()
    this.#queued++
    const turn = this.#last.then(async () => {
      try {
        if (epoch !== this.#epoch) throw rolledBack()
        this.refuseLost()
        return await this.#operate(operation)
      } finally {
        this.#queued--
        if (this.#queued === 0) await this.#rest()
      }
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }

  /** `keep` is given what was done and commits it; undefined if that was nothing. */
  commit(keep: (work: Work) => Promise<void>): MaybePromise<void> {
    if (this.#queued > 0) return this.#last.then(() => this.commit(keep))
    const lost = this.#lost
    this.#lost = undefined
    if (lost) throw lost.error
    const work = this.#release()
    if (work === undefined) {
      this.#unit = undefined
      return undefined
    }
    return keep(work).then(
      () => {
        this.#unit = undefined
      },
      (error: unknown) => {
        throw this.#reported(error, work)
      },
    )
  }

  rollback(): MaybePromise<void> {
    this.#epoch++
    this.#lost = undefined
    if (this.#queued > 0) return this.#last.then(() => this.rollback())
    return this.#release()?.transaction.rollback()
  }

  async #operate<T>(operation: (work: Work) => Promise<T>): Promise<T> {
    const isNew = this.#work === undefined
    this.#work ??= {
      transaction: this.#begin(),
      written: new Map(),
      ahead: new Map(),
      enqueued: false,
      holds: false,
    }
    const work = this.#work
    try {
      if (isNew && this.#unit) await this.#opened?.(work)
      return await operation(work)
    } catch (error) {
      // What was refused before it was written, or in a savepoint, leaves the transaction as it was.
      if (error instanceof QuoinError && !isLoss(error) && !work.transaction.isSpoiled) throw error
      this.#work = undefined
      const reported = this.#reported(error, work)
      this.#lost = { error: reported }
      await work.transaction.rollback()
      throw reported
    }
  }

  #begin(): PostgresTransaction {
    const unit = this.#unit
    if (unit === undefined)
      return this.#pool.transaction({
        ...(this.#isLong && { begin: BEGIN_LONG }),
        during: (sending) => this.#writes.during(sending),
      })
    const begin = unit.attempt < ALONE_FROM ? BEGIN_UNIT : BEGIN_ALONE
    return this.#pool.transaction({ begin: unit.turn === undefined ? begin : inTurnOf(unit.turn, begin) })
  }

  /** What the transaction failed with, said as the caller is to take it. */
  #reported(error: unknown, { optimistic }: Work): unknown {
    const isConflict = isTransactionConflict(error) || (optimistic && isChangedMeanwhile(error))
    return isConflict ? new SerializationConflict(error) : error
  }

  /** No operation is under way. */
  async #rest(): Promise<void> {
    if (this.#work === undefined) return
    if (!this.hasWritten && !this.#unit) {
      await this.#release()?.transaction.rollback()
      return
    }
    // A run that goes on at once is at its next statement or its commit by then.
    if (this.#work.transaction.defers)
      this.#flushing = setImmediate(() => {
        this.inTurn(({ transaction }) => transaction.flush()).catch(() => undefined)
      })
    const most = this.#isLong ? LONG_IDLE_MS : IDLE_MS
    this.#idle = setTimeout(() => {
      const error = heldTooLong(most / 1_000)
      // A unit that has only read may begin again, as it does where others have changed what it read: a form whose files
      // take longer to store finds them stored in its second try.
      const isReading = this.#unit !== undefined && !this.hasWritten
      const work = this.#release()
      this.#lost = { error: isReading ? new SerializationConflict(error) : error }
      void work?.transaction.rollback()
    }, most).unref()
  }

  #stopTimers(): void {
    clearTimeout(this.#idle)
    clearImmediate(this.#flushing)
  }

  #release(): Work | undefined {
    this.#stopTimers()
    const work = this.#work
    this.#work = undefined
    return work
  }
}

function isLoss({ code }: QuoinError): boolean {
  return code === 'UNAVAILABLE' || code === 'STORAGE_FULL'
}

function heldTooLong(seconds: number): QuoinError {
  return new QuoinError(
    'UNAVAILABLE',
    `The transaction was not used for ${seconds} seconds and was undone. Do slow things before the first write or after the commit.`,
  )
}
