/**
 * Turns schedules into jobs when their time comes. Looks when the next one is due, when the schedules change, and at
 * least once a minute, since another node may have moved a time. What it finds due goes through the ledger.
 *
 * Which of the due ticks run. A tick is on time when it is the last one that is due and at most 10 s old; every other
 * one is late, because no node was up. Of the late ones run, by `catchUp`: all; the last one, and only if no tick after
 * it is on time; or none. A tick on time is skipped while another tick of its schedule waits or runs, if `overlap` is
 * `skip`; with `queue` it runs after that one, with `allow` beside it. Of more than 1,000 missed ticks only the last
 * 1,000 are looked at.
 *
 * A clock that was ahead and is set back by more than a minute leaves schedules whose next time is later than it should be. They are
 * planned again from the present time, and the log says so: times that the wrong clock has fired come again. Of several nodes
 * one whose own clock is behind must not do that, so the time of the database counts too.
 */

import type { Schedule } from '../flows/background/schedules.ts'
import type { Clock } from '../shared/clock.ts'
import { QuoinError } from '../shared/errors.ts'
import type { Search } from '../shared/query.ts'
import type { RecordPage } from '../shared/record-page.ts'
import { processTimers, type Timer, type Timers } from '../shared/timers.ts'
import type { ClusterNode } from '../storage/cluster.ts'
import type { Database } from '../storage/database.ts'
import type { NewJob } from '../storage/job.ts'
import { ownStorages } from '../storage/own-storages.ts'
import { type MissedTicks, missedTicks } from './missed-ticks.ts'
import { type PlannedTimes, plannedTimes } from './planned-times.ts'
import type { QueueLogEntry } from './queue-worker.ts'
import { type DueTick, ScheduleLedger, type ScheduleRecord } from './schedule-ledger.ts'

export interface SchedulerOptions {
  readonly database: Database
  readonly clock: Clock
  /** The process's, if not given. */
  readonly timers?: Timers
  /** All that are active now. */
  readonly schedules: () => readonly Schedule[]
  /** Calls the listener whenever `schedules` gives others. Gives a function that ends it. */
  readonly onChange: (listener: () => void) => () => void
  /** The jobs that tell flows of ticks that were missed. None if not given. */
  readonly missed?: (missed: MissedTicks) => readonly NewJob[]
  readonly log: (entry: QueueLogEntry & { readonly blueprint?: string; readonly block?: string }) => void
}

export interface Scheduler {
  /** Enqueues what is due now. The scheduler does it by itself; a test that moves the clock calls it. Never throws. */
  check(): Promise<void>
  searchSchedules(wanted: Search): Promise<RecordPage>
  searchTicks(wanted: Search): Promise<RecordPage>
  /** Whether a run of the schedule, of any node, waits or runs. Runs by hand are not among them. */
  isRunning(schedule: string): Promise<boolean>
  /** Resolves when nothing is enqueued any more. */
  close(): Promise<void>
}

const ON_TIME = 10_000
/** What clocks of nodes may differ by, and what is set back without a word. */
const SET_BACK = 60_000
const MOST_MISSED = 1_000
/** Ticks in one transaction: all sessions share the writer. */
const BATCH = 100
const LONGEST_SLEEP = 60_000
/** Milliseconds between two looks at the jobs of open ticks. */
const SETTLE_SLEEP = 1_000
const PURGE_EVERY = 3_600_000

export async function openScheduler(options: SchedulerOptions): Promise<Scheduler> {
  const scheduler = new LedgerScheduler(options, await ScheduleLedger.open(options.database))
  const checked = scheduler.check()
  // In a cluster other nodes fire schedules too, so missed ticks must not keep this node from answering requests.
  if (options.database.capabilities.cluster === undefined) await checked
  return scheduler
}

interface Known {
  readonly plan: string
  readonly times: PlannedTimes | undefined
  record: ScheduleRecord
  /** When `nextRun` was last asked. */
  asked: number
}

class LedgerScheduler implements Scheduler {
  readonly #options: SchedulerOptions
  readonly #ledger: ScheduleLedger
  /** What this process has seen of the schedules. */
  readonly #known = new Map<string, Known>()
  readonly #unlisten: () => void
  /** By schedule and plan: what was logged as wrong, once. */
  readonly #refused = new Map<string, string>()
  #checking: Promise<void> = Promise.resolve()
  readonly #timers: Timers
  #timer: Timer | undefined
  #closed = false
  #purged = 0
  /** The clock of this node or of the database, whichever is later. */
  #latest = 0
  /** Ticks for which a job was made here. */
  #fired = 0

  constructor(options: SchedulerOptions, ledger: ScheduleLedger) {
    this.#options = options
    this.#ledger = ledger
    this.#timers = options.timers ?? processTimers
    this.#unlisten = options.onChange(() => void this.check())
  }

  check(): Promise<void> {
    this.#checking = this.#checking.then(() => this.#check())
    return this.#checking
  }

  searchSchedules(wanted: Search): Promise<RecordPage> {
    return this.#ledger.search(ownStorages.schedules, wanted)
  }

  searchTicks(wanted: Search): Promise<RecordPage> {
    return this.#ledger.search(ownStorages.ticks, wanted)
  }

  async isRunning(schedule: string): Promise<boolean> {
    // A tick whose end is not noted yet would count as one that runs.
    await this.#ledger.settle(schedule)
    return (await this.#ledger.countOpen(schedule)) > 0
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#unlisten()
    this.#timer?.end()
    await this.#checking
    this.#timer?.end()
  }

  async #check(): Promise<void> {
    if (this.#closed) return
    this.#timer?.end()
    const now = this.#options.clock()
    let sleep = LONGEST_SLEEP
    try {
      const schedules = this.#options.schedules()
      await this.#forgetOthers(schedules)
      const nodes = (await this.#options.database.capabilities.cluster?.nodes()) ?? []
      this.#latest = nodes.reduce((latest, { seen }) => Math.max(latest, seen * 1000), now)
      const open = settles(nodes) ? await this.#ledger.settle() : 0
      const fired = this.#fired
      for (const schedule of schedules) {
        const next = await this.#advance(schedule, now)
        if (next !== undefined) sleep = Math.min(sleep, Math.max(0, next - this.#options.clock()))
      }
      if (open > 0 || this.#fired > fired) sleep = Math.min(sleep, SETTLE_SLEEP)
      if (now - this.#purged >= PURGE_EVERY) {
        this.#purged = now
        await this.#ledger.purge(now)
      }
    } catch (error) {
      sleep = SETTLE_SLEEP
      this.#log('error', 'Schedules could not be looked after', error)
    }
    if (this.#closed) return
    this.#timer = this.#timers.after(sleep, () => void this.check())
    this.#timer.unref()
  }

  /**
   * Only what this process has seen active and is not any more: at the start a schedule may not have been loaded yet,
   * and its record says which ticks were missed.
   */
  async #forgetOthers(schedules: readonly Schedule[]): Promise<void> {
    const active = new Set(schedules.map(({ id }) => id))
    for (const [id, { record }] of this.#known)
      if (!active.has(id)) {
        this.#known.delete(id)
        await this.#ledger.forget(record)
      }
  }

  /** Gives when to look at the schedule again. */
  async #advance(schedule: Schedule, now: number): Promise<number | undefined> {
    try {
      const known = await this.#know(schedule, now)
      if (known === undefined) return undefined
      if (isTooLate(known, this.#latest)) await this.#restart(schedule, known, now)
      const { next } = known.record
      if (next !== undefined && next <= now) await this.#fire(schedule, known, next, now)
      else if (next === undefined && now - known.asked >= LONGEST_SLEEP)
        await this.#replan(schedule, known, now)
      return known.record.next
    } catch (error) {
      // Another node was faster: what it wrote is read at once in the next round.
      if (error instanceof QuoinError && error.code === 'CONFLICT') {
        this.#known.delete(schedule.id)
        return now
      }
      this.#log('error', `The schedule of ${schedule.title} (${schedule.id}) could not be planned`, error)
      return now + SETTLE_SLEEP
    }
  }

  /** The schedule's record, created or planned again where needed. Undefined for an invalid schedule. */
  async #know(schedule: Schedule, now: number): Promise<Known | undefined> {
    const plan = planOf(schedule)
    const before = this.#known.get(schedule.id)
    if (before?.plan === plan) return before
    let times: PlannedTimes | undefined
    try {
      times = plannedTimes(schedule)
    } catch (error) {
      if (this.#refused.get(schedule.id) === plan) return undefined
      this.#refused.set(schedule.id, plan)
      this.#log('error', `The schedule of ${schedule.title} (${schedule.id}) never fires`, error)
      return undefined
    }
    const stored = await this.#ledger.read(schedule.id)
    // `every` without a start counts from now; a pattern may fit this very second.
    const first = async () => (times ? times.next(now - 1) : this.#asked(schedule, now))
    let record = stored
    if (record === undefined) record = await this.#ledger.create(schedule, plan, await first())
    else if (record.plan !== plan) record = await this.#ledger.replan(record, schedule, plan, await first())
    const known = { plan, times, record, asked: now }
    this.#known.set(schedule.id, known)
    return known
  }

  async #fire(schedule: Schedule, known: Known, from: number, now: number): Promise<void> {
    const due = known.times ? dueTimes(known.times, from, now) : [from]
    const last = due.at(-1) ?? from
    // Without this, a tick whose end another node has not settled yet would count as an overlap.
    if (this.#options.database.capabilities.cluster) await this.#ledger.settle(schedule.id)
    const open = await this.#ledger.countOpen(schedule.id)
    const ticks = due.map((plannedAt) => dueTick(schedule, plannedAt, { last, now, open }))
    const next = known.times ? known.times.next(last) : await this.#ask(schedule, known, last + 1000, now)
    const missed = missedTicks(schedule, ticks, now)
    // Each batch leaves the record at the first tick that it has not written; the next node continues there.
    for (let at = 0; at < ticks.length; at += BATCH) {
      const batch = ticks.slice(at, at + BATCH)
      const then = due[at + BATCH] ?? next
      const isLast = at + BATCH >= ticks.length
      const jobs = missed && isLast ? (this.#options.missed?.(missed) ?? []) : []
      known.record = await this.#ledger.fire(known.record, schedule, batch, then, now, jobs)
      this.#fired += batch.filter(({ runs }) => runs).length
    }
    if (missed) {
      const { blueprint, block } = schedule
      this.#options.log({ level: 'warn', message: missed.message, blueprint, block })
    }
  }

  async #replan(schedule: Schedule, known: Known, now: number): Promise<void> {
    const { last } = known.record
    const next = await this.#ask(schedule, known, last === undefined ? now : last + 1000, now)
    if (next !== undefined) known.record = await this.#ledger.replan(known.record, schedule, known.plan, next)
  }

  async #restart({ id, title, blueprint, block }: Schedule, known: Known, now: number): Promise<void> {
    const { next } = known.record
    known.record = await this.#ledger.restart(known.record, id, known.times?.next(now - 1), now)
    const was = next === undefined ? '' : ` Its next time was ${new Date(next).toISOString()}.`
    const message = `The schedule of ${title} was planned again from the present time, because the clock was set back.${was} Times that have fired since come again.`
    this.#options.log({ level: 'warn', message, blueprint, block })
  }

  #ask(schedule: Schedule, known: Known, least: number, now: number): Promise<number | undefined> {
    known.asked = now
    return this.#asked(schedule, least)
  }

  /** What `nextRun` says, if that is not before `least`: a date that stays the same must not fire for ever. */
  async #asked(schedule: Schedule, least: number): Promise<number | undefined> {
    try {
      const next = await schedule.nextRun?.()
      if (next === undefined || !Number.isFinite(next)) return undefined
      const whole = Math.ceil(next / 1000) * 1000
      return whole >= least ? whole : undefined
    } catch (error) {
      // Then it is asked again in a minute; the tick that is due now fires all the same.
      this.#log('error', `The next run of ${schedule.title} (${schedule.id}) could not be worked out`, error)
      return undefined
    }
  }

  #log(level: QueueLogEntry['level'], message: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    this.#options.log({ level, message: `${message}: ${reason}` })
  }
}

/** Whether a time that lies before the next one is to come still, by a clock that may be a minute behind. */
function isTooLate({ times, record: { next } }: Known, now: number): boolean {
  const should = times?.next(now + SET_BACK)
  return next !== undefined && should !== undefined && next > should
}

/** Of several nodes the oldest that is live settles for all: they would write the same into the same rows. */
function settles(nodes: readonly ClusterNode[]): boolean {
  const live = nodes.filter((node) => node.live).toSorted((a, b) => (a.guid < b.guid ? -1 : 1))
  return live.length === 0 || live[0]?.self === true
}

/** The planned times from `from` up to now; of more than 1,000 the last ones. */
function dueTimes(times: PlannedTimes, from: number, now: number): number[] {
  const list = (start: number): number[] => {
    const found: number[] = []
    for (let time: number | undefined = start; time !== undefined && time <= now; time = times.next(time)) {
      found.push(time)
      if (found.length > MOST_MISSED) break
    }
    return found
  }
  const all = list(from)
  if (all.length <= MOST_MISSED) return all
  return list(Math.max(from, times.recent(MOST_MISSED, now) ?? from)).slice(-MOST_MISSED)
}

function dueTick(
  { overlap, catchUp }: Schedule,
  plannedAt: number,
  { last, now, open }: { readonly last: number; readonly now: number; readonly open: number },
): DueTick {
  const late = plannedAt !== last || now - plannedAt > ON_TIME
  if (!late) return { plannedAt, late, runs: overlap !== 'skip' || open === 0 }
  return { plannedAt, late, runs: catchUp === 'all' || (catchUp === 'last' && plannedAt === last) }
}

function planOf({ cron, every, startAt, timeZone, nextRun }: Schedule): string {
  return JSON.stringify({ cron, every, startAt, timeZone, asked: nextRun !== undefined })
}
