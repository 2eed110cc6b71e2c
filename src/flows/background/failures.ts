/**
 * Tells flows of failures: each is a job of a listener, stored in a transaction of its own, since that of the failed run is
 * undone.
 *
 * Bounds. The first failure of a kind (the same listener, event, blueprint, trigger, block and code) is told at once; those of the next
 * minute are counted in memory and told together, and so on. While a job of a kind waits or runs, no second one is stored.
 * A listener gets at most {@link MOST_TOLD} jobs a minute from one process. So a client that makes a flow fail again and again
 * costs a look into a map for each failure, and one job a minute.
 *
 * A process that is killed loses the counts of the present minute, and failures of runs that it has not stored yet.
 */

import type { SystemLog } from '../../records/system-log.ts'
import type { Clock } from '../../shared/clock.ts'
import type { Failure } from '../../shared/failure.ts'
import { processTimers, type Timer, type Timers } from '../../shared/timers.ts'
import type { Database } from '../../storage/database.ts'
import type { NewJob } from '../../storage/job.ts'
import { transact } from '../../storage/transact.ts'
import type { LiveBlueprints } from '../live/live-blueprints.ts'
import { type FailureListener, failureJob, failureListeners, kindOf } from './failure-listeners.ts'

export interface Failures {
  /** Never waits and never throws. */
  note(failure: Failure): void
  /** Resolves when the failure is stored, or counted after one of its kind that is. Rejects when it cannot be stored. */
  tell(failure: Failure): Promise<void>
  /** For code that stores the jobs in a transaction of its own. `count` failures, the first one at `since`. */
  jobsOf(failure: Failure, count: number, since: number): readonly NewJob[]
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
  told: number
}

const MOST_TOLD = 100
const WINDOW = 60_000
/** More kinds in one minute are not told. */
const MOST_KINDS = 1_000
const EVERY = 1_000

export function openFailures(options: FailuresOptions): Failures {
  const { live, clock, log, timers = processTimers } = options
  const listeners = failureListeners(live)
  const kinds = new Map<string, Kind>()
  let dropped = 0
  let failing = false
  let closed = false
  let timer: Timer | undefined
  let storing: Promise<void> = Promise.resolve()
  let queued: Promise<void> | undefined

  const nameOf = (blueprint: string) => live.table().blueprints.get(blueprint)?.name ?? ''

  function jobOf({
    listener,
    last,
    count,
    since,
  }: Pick<Kind, 'listener' | 'last' | 'count' | 'since'>): NewJob {
    return failureJob(listener, { ...last, name: nameOf(last.blueprint), count, since })
  }

  /** Whether some of them are due now. */
  function add(failure: Failure): boolean {
    let due = false
    for (const listener of listeners.of(failure)) {
      const key = kindOf(listener, failure)
      let kind = kinds.get(key)
      if (kind === undefined) {
        if (kinds.size >= MOST_KINDS) {
          dropped += 1
          continue
        }
        kind = { listener, last: failure, count: 0, since: failure.time, told: Number.NEGATIVE_INFINITY }
        kinds.set(key, kind)
      }
      if (kind.count === 0) kind.since = failure.time
      kind.count += 1
      kind.last = failure
      due ||= clock() - kind.told >= WINDOW
    }
    return due
  }

  async function store(closing: boolean): Promise<void> {
    const now = clock()
    const due = dueKinds(kinds, now, closing)
    if (due.length > 0) {
      const told = due.map((kind) => ({ kind, count: kind.count, job: jobOf(kind) }))
      const stored = await transact(options.database, async (session) => {
        const guids: (string | undefined)[] = []
        for (const { job } of told) guids.push(await session.enqueue(job))
        return guids
      })
      for (const [at, { kind, count }] of told.entries()) {
        kind.told = now
        // Where its last job still waits, the count is told later.
        if (stored[at] === undefined) continue
        kind.count -= count
        kind.since = kind.last.time
      }
    }
    for (const [key, { count, told }] of kinds) if (count === 0 && now - told >= WINDOW) kinds.delete(key)
    if (dropped > 0)
      log.write({
        level: 'warn',
        message: `${dropped} failures were not told to flows: there were more than ${MOST_KINDS} kinds of failures in a minute.`,
      })
    dropped = 0
  }

  /** The next look at what is due; one waits at most. */
  function flush(closing = false): Promise<void> {
    arm()
    if (queued) return queued
    const next = storing.then(() => {
      queued = undefined
      return store(closing)
    })
    queued = next
    storing = next.then(
      () => {
        failing = false
      },
      (error: unknown) => {
        if (!failing) log.write({ level: 'error', message: `Failures could not be told: ${String(error)}` })
        failing = true
      },
    )
    return next
  }

  function arm(): void {
    timer ??= timers.after(EVERY, () => {
      timer = undefined
      if (kinds.size > 0) flush().catch(() => undefined)
    })
    timer.unref()
  }

  return {
    note(failure) {
      if (closed) return
      // On a full disk each failure would cost a transaction that fails: the timer tries again.
      if (add(failure) && !failing) flush().catch(() => undefined)
      else if (kinds.size > 0) arm()
    },
    async tell(failure) {
      if (add(failure)) await flush()
    },
    jobsOf: (failure, count, since) =>
      listeners.of(failure).map((listener) => jobOf({ listener, last: failure, count, since })),
    async close() {
      closed = true
      listeners.close()
      timer?.end()
      await storing
      await flush(true).catch(() => undefined)
      timer?.end()
    },
  }
}

/** Those with failures to tell whose last job is a minute old, at most {@link MOST_TOLD} a minute for each listener. */
function dueKinds(kinds: ReadonlyMap<string, Kind>, now: number, closing: boolean): readonly Kind[] {
  const told = new Map<FailureListener, number>()
  for (const kind of kinds.values())
    if (now - kind.told < WINDOW) told.set(kind.listener, (told.get(kind.listener) ?? 0) + 1)
  return [...kinds.values()].filter((kind) => {
    if (kind.count === 0 || (!closing && now - kind.told < WINDOW)) return false
    const before = told.get(kind.listener) ?? 0
    told.set(kind.listener, before + 1)
    return before < MOST_TOLD
  })
}
