/**
 * Tells flows of failures: each is a job of a listener, stored in a transaction of its own, since that of the failed run is
 * undone.
 *
 * Bounds. The first failure of a kind (the same listener, event, blueprint, trigger, block and code) is told at once; those of the next
 * minute are counted in memory and told together, and so on. While a job of a kind waits or runs, no second one is stored.
 * A listener gets at most {@link MAX_REPORTED} jobs a minute from one process. So a client that makes a flow fail again and again
 * costs a look into a map for each failure, and one job a minute.
 *
 * A process that is killed loses the counts of the present minute, and failures of runs that it has not stored yet.
 */

import type { SystemLog } from '../../records/system-log.ts'
import { type Clock, hasPassed, processTimers, type Timer, type Timers } from '../../shared/clock.ts'
import type { Failure } from '../../shared/failure.ts'
import type { Database } from '../../storage/database.ts'
import type { NewJob } from '../../storage/job.ts'
import { transact } from '../../storage/transact.ts'
import type { LiveBlueprints } from '../live/live-blueprints.ts'
import {
  type FailureListener,
  type FailureListeners,
  failureJob,
  failureListeners,
  kindOf,
} from './failure-listeners.ts'

export interface Failures {
  /** Never waits and never throws. */
  note(failure: Failure): void
  /** Resolves when the failure is stored, or counted after one of its kind that is. Rejects when it cannot be stored. */
  tell(failure: Failure): Promise<void>
  /** For code that stores the jobs in a transaction of its own. `count` failures, the first one at `since`. */
  jobsOf(failure: Failure, count: number, since: number): readonly NewJob[]
  /** For tests of flows: what was counted and is not told yet is not told, and the next failure of each kind is the first. */
  forget(): Promise<void>
  /** Tells what is left. */
  close(): Promise<void>
}

interface FailuresOptions {
  readonly database: Database
  readonly live: Pick<LiveBlueprints, 'watch' | 'table'>
  readonly clock: Clock
  readonly log: Pick<SystemLog, 'write'>
  readonly timers?: Timers
}

/** Failures of one kind for one listener. */
interface Kind {
  readonly listener: FailureListener
  last: Failure
  /** Not told yet, and when the first of them was. */
  count: number
  since: number
  /** When a job was last stored, or was there already. */
  reportedAt: number
}

const MAX_REPORTED = 100
const WINDOW = 60_000
/** More kinds in one minute are not told. */
const MOST_KINDS = 1_000
const EVERY = 1_000

export function openFailures(options: FailuresOptions): Failures {
  return new ReportedFailures(options)
}

class ReportedFailures implements Failures {
  readonly #options: FailuresOptions
  readonly #timers: Timers
  readonly #listeners: FailureListeners
  readonly #kinds = new Map<string, Kind>()
  /** Failures of more kinds than are counted. */
  #dropped = 0
  /** Whether the last time they could not be stored. */
  #failing = false
  #closed = false
  #timer: Timer | undefined
  #storing: Promise<void> = Promise.resolve()
  #queued: Promise<void> | undefined

  constructor(options: FailuresOptions) {
    this.#options = options
    this.#timers = options.timers ?? processTimers
    this.#listeners = failureListeners(options.live)
  }

  note(failure: Failure): void {
    if (this.#closed) return
    // On a full disk each failure would cost a transaction that fails: the timer tries again.
    if (this.#add(failure) && !this.#failing) this.#flush().catch(() => undefined)
    else if (this.#kinds.size > 0) this.#arm()
  }

  async tell(failure: Failure): Promise<void> {
    if (this.#add(failure)) await this.#flush()
  }

  jobsOf(failure: Failure, count: number, since: number): readonly NewJob[] {
    return this.#listeners
      .of(failure)
      .map((listener) => this.#jobOf({ listener, last: failure, count, since }))
  }

  async forget(): Promise<void> {
    await this.#storing
    this.#kinds.clear()
    this.#dropped = 0
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#listeners.close()
    this.#timer?.end()
    await this.#storing
    await this.#flush(true).catch(() => undefined)
    this.#timer?.end()
  }

  #jobOf({ listener, last, count, since }: Pick<Kind, 'listener' | 'last' | 'count' | 'since'>): NewJob {
    const name = this.#options.live.table().blueprints.get(last.blueprint)?.name ?? ''
    return failureJob(listener, { ...last, name, count, since })
  }

  /** Whether some of them are due now. */
  #add(failure: Failure): boolean {
    const now = this.#options.clock()
    let due = false
    for (const listener of this.#listeners.of(failure)) {
      const kind = this.#kindOf(listener, failure)
      if (!kind) continue
      if (kind.count === 0) kind.since = failure.time
      kind.count += 1
      kind.last = failure
      due ||= hasPassed(WINDOW, kind.reportedAt, now)
    }
    return due
  }

  /** Undefined where there are too many. */
  #kindOf(listener: FailureListener, failure: Failure): Kind | undefined {
    const key = kindOf(listener, failure)
    const known = this.#kinds.get(key)
    if (known) return known
    if (this.#kinds.size >= MOST_KINDS) {
      this.#dropped += 1
      return undefined
    }
    const kind = {
      listener,
      last: failure,
      count: 0,
      since: failure.time,
      reportedAt: Number.NEGATIVE_INFINITY,
    }
    this.#kinds.set(key, kind)
    return kind
  }

  async #store(closing: boolean): Promise<void> {
    const { clock, log } = this.#options
    const now = clock()
    const due = dueKinds(this.#kinds, now, closing)
    if (due.length > 0) await this.#storeDue(due, now)
    for (const [key, { count, reportedAt }] of this.#kinds)
      if (count === 0 && hasPassed(WINDOW, reportedAt, now)) this.#kinds.delete(key)
    if (this.#dropped > 0)
      log.write({
        level: 'warn',
        message: `${this.#dropped} failures were not told to flows: there were more than ${MOST_KINDS} kinds of failures in a minute.`,
      })
    this.#dropped = 0
  }

  async #storeDue(due: readonly Kind[], now: number): Promise<void> {
    const reported = due.map((kind) => ({ kind, count: kind.count, job: this.#jobOf(kind) }))
    const stored = await transact(this.#options.database, async (session) => {
      const guids: (string | undefined)[] = []
      for (const { job } of reported) guids.push(await session.enqueue(job))
      return guids
    })
    for (const [at, { kind, count }] of reported.entries()) {
      kind.reportedAt = now
      // Where its last job still waits, the count is told later.
      if (stored[at] === undefined) continue
      kind.count -= count
      kind.since = kind.last.time
    }
  }

  /** The next look at what is due; one waits at most. */
  #flush(closing = false): Promise<void> {
    this.#arm()
    if (this.#queued) return this.#queued
    const next = this.#storing.then(() => {
      this.#queued = undefined
      return this.#store(closing)
    })
    this.#queued = next
    this.#storing = next.then(
      () => {
        this.#failing = false
      },
      (error: unknown) => {
        const message = `Failures could not be told: ${String(error)}`
        if (!this.#failing) this.#options.log.write({ level: 'error', message })
        this.#failing = true
      },
    )
    return next
  }

  #arm(): void {
    this.#timer ??= this.#timers.after(EVERY, () => {
      this.#timer = undefined
      if (this.#kinds.size > 0) this.#flush().catch(() => undefined)
    })
    this.#timer.unref()
  }
}

/** Those with failures to tell whose last job is a minute old, at most {@link MAX_REPORTED} a minute for each listener. */
function dueKinds(kinds: ReadonlyMap<string, Kind>, now: number, closing: boolean): readonly Kind[] {
  const reported = new Map<FailureListener, number>()
  for (const kind of kinds.values())
    if (!hasPassed(WINDOW, kind.reportedAt, now))
      reported.set(kind.listener, (reported.get(kind.listener) ?? 0) + 1)
  return [...kinds.values()].filter((kind) => {
    if (kind.count === 0 || (!closing && !hasPassed(WINDOW, kind.reportedAt, now))) return false
    const before = reported.get(kind.listener) ?? 0
    reported.set(kind.listener, before + 1)
    return before < MAX_REPORTED
  })
}
