/**
 * Turns schedules into jobs when their time comes. Looks when the next one is due, when the schedules change, and at
 * least once a minute, since another node may have moved a time. What it finds due goes through the ledger.
 *
 * What is due is fired in groups of up to 64 ticks, each one transaction. Of several nodes the oldest that is live fires and settles
 * for all; the others look two seconds later at what it has left, so that nodes do not write the same records at once.
 *
 * A clock that was ahead and is set back by more than a minute leaves schedules whose next time is later than it should be. They are
 * planned again from the present time, and the log says so: times that the wrong clock has fired come again. Of several nodes
 * one whose own clock is behind must not do that, so the time of the database counts too.
 */
import type { Schedule } from '../flows/background/schedules.ts'
import { type Clock, hasPassed, processTimers, type Timer, type Timers } from '../shared/clock.ts'
import { QuoinError } from '../shared/errors.ts'
import type { Search } from '../shared/query.ts'
import type { RecordPage } from '../shared/record-page.ts'
import type { ClusterNode } from '../storage/cluster.ts'
import type { Database } from '../storage/database.ts'
import type { NewJob } from '../storage/job.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { dueTick, dueTimes, type MissedTicks, missedTicks } from './due-ticks.ts'
import { GROUP, inGroups, isTooLate, type Known, KnownSchedules } from './known-schedules.ts'
import type { QueueLogEntry } from './queue-worker.ts'
import { type Firing, type OpenTicks, ScheduleLedger } from './schedule-ledger.ts'

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
  searchSchedules(requested: Search): Promise<RecordPage>
  searchTicks(requested: Search): Promise<RecordPage>
  /** Whether a run of the schedule, of any node, waits or runs. Runs by hand are not among them. */
  isRunning(schedule: string): Promise<boolean>
  /** For tests of flows: the database and the clock are set back, so nothing is known of schedules any more. */
  forget(): Promise<void>
  /** Resolves when nothing is enqueued any more. */
  close(): Promise<void>
}

/** How long nodes wait for the one that fires for all. */
const AFTER_FIRST = 2_000
const LONGEST_SLEEP = 60_000
/** Milliseconds between two looks at the jobs of open ticks, and the least pause behind what has failed. */
const SETTLE_SLEEP = 1_000
const PURGE_EVERY = 3_600_000

export async function openScheduler(options: SchedulerOptions): Promise<Scheduler> {
  const scheduler = new LedgerScheduler(options, await ScheduleLedger.open(options.database))
  const checked = scheduler.check()
  // In a cluster other nodes fire schedules too, so missed ticks must not keep this node from answering requests.
  if (options.database.capabilities.cluster === undefined) await checked
  return scheduler
}

/** A schedule that is due, or fires ticks of one transaction. */
interface Due {
  readonly schedule: Schedule
  readonly known: Known
}

type Fires = Due & Firing & { readonly reported: MissedTicks | undefined }

class LedgerScheduler implements Scheduler {
  readonly #options: SchedulerOptions
  readonly #ledger: ScheduleLedger
  readonly #known: KnownSchedules
  readonly #unlisten: () => void
  #checking: Promise<void> = Promise.resolve()
  readonly #timers: Timers
  #timer: Timer | undefined
  #closed = false
  #purged = 0
  /** The clock of this node or of the database, whichever is later. */
  #latest = 0
  /** Ticks for which a job was made here. */
  #fired = 0
  /** Milliseconds until the next look, as far as this one has found out. */
  #sleep = LONGEST_SLEEP
  /** Schedules that this look could not fire: they wait for the next one. */
  readonly #stuck = new Set<string>()
  /** Schedules of a space that is full: when they were refused, and how long they wait since. */
  readonly #refused = new Map<string, { readonly at: number; readonly pause: number }>()
  /** By schedule: the version of its record with which another node was faster last. */
  readonly #lost = new Map<string, string>()

  constructor(options: SchedulerOptions, ledger: ScheduleLedger) {
    this.#options = options
    this.#ledger = ledger
    this.#timers = options.timers ?? processTimers
    this.#known = new KnownSchedules({
      ledger,
      first: (schedule, now) => this.#asked(schedule, now),
      overtaken: (schedule) => this.#overtaken(schedule),
      failed: (message, error) => this.#fail(message, error),
    })
    this.#unlisten = options.onChange(() => void this.check())
  }

  check(): Promise<void> {
    this.#checking = this.#checking.then(() => this.#check())
    return this.#checking
  }

  searchSchedules(requested: Search): Promise<RecordPage> {
    return this.#ledger.search(systemStorages.schedules, requested)
  }

  searchTicks(requested: Search): Promise<RecordPage> {
    return this.#ledger.search(systemStorages.ticks, requested)
  }

  async isRunning(schedule: string): Promise<boolean> {
    // A tick whose end is not noted yet would count as one that runs.
    return ((await this.#ledger.settle([schedule])).get(schedule) ?? 0) > 0
  }

  async forget(): Promise<void> {
    await this.#checking
    this.#timer?.end()
    this.#known.clear()
    this.#refused.clear()
    this.#lost.clear()
    this.#purged = 0
    this.#latest = 0
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
    this.#sleep = LONGEST_SLEEP
    this.#stuck.clear()
    try {
      // What it knows of schedules may be out of date.
      if (this.#options.database.capabilities.cluster?.alive() === false) this.#wake(SETTLE_SLEEP)
      else await this.#look(this.#options.schedules(), now)
      if (hasPassed(PURGE_EVERY, this.#purged, now)) {
        this.#purged = now
        await this.#ledger.purge(now)
      }
    } catch (error) {
      this.#fail('Schedules could not be looked after', error)
    }
    if (this.#closed) return
    this.#timer = this.#timers.after(this.#sleep, () => void this.check())
    this.#timer.unref()
  }

  async #look(schedules: readonly Schedule[], now: number): Promise<void> {
    await this.#known.forgetOthers(schedules)
    const nodes = (await this.#options.database.capabilities.cluster?.nodes()) ?? []
    this.#latest = nodes.reduce((latest, { seen }) => Math.max(latest, seen * 1000), now)
    const patience = isFirst(nodes) ? 0 : AFTER_FIRST
    const open = patience === 0 ? await this.#ledger.settle() : undefined
    const fired = this.#fired
    await this.#known.learn(schedules, now)
    await this.#plan(schedules, now)
    let due = this.#due(schedules, now - patience)
    if (patience > 0 && due.length > 0) {
      await this.#known.refresh(due.map(({ schedule }) => schedule))
      due = this.#due(schedules, now - patience)
    }
    // Without this, a tick whose end the first node has not settled yet would count as an overlap.
    if (due.length > 0) await this.#fireAll(due, open ?? (await this.#settle(due)), now)
    const clock = this.#options.clock()
    for (const { id } of schedules) {
      const next = this.#stuck.has(id) ? undefined : this.#known.get(id)?.record.next
      const waits = this.#waits(id, clock)
      if (next !== undefined) this.#wake(waits > 0 ? waits : next + patience - clock)
    }
    if ((open !== undefined && open.size > 0) || this.#fired > fired) this.#wake(SETTLE_SLEEP)
  }

  /** Times that are to be worked out again. */
  async #plan(schedules: readonly Schedule[], now: number): Promise<void> {
    for (const schedule of schedules) {
      const known = this.#known.get(schedule.id)
      if (known === undefined) continue
      const asks = known.record.next === undefined && hasPassed(LONGEST_SLEEP, known.asked, now)
      if (!asks && !isTooLate(known, this.#latest)) continue
      try {
        if (asks) await this.#replan(schedule, known, now)
        else await this.#restart(schedule, known, now)
      } catch (error) {
        this.#failed(schedule, error)
      }
    }
  }

  #due(schedules: readonly Schedule[], now: number): Due[] {
    return schedules.flatMap((schedule) => {
      const known = this.#known.get(schedule.id)
      const isDue = known?.record.next !== undefined && known.record.next <= now
      return isDue && this.#waits(schedule.id, this.#options.clock()) === 0 ? { schedule, known } : []
    })
  }

  /** Milliseconds until a schedule of a space that was full is tried again. */
  #waits(id: string, clock: number): number {
    const refused = this.#refused.get(id)
    if (refused === undefined || hasPassed(refused.pause, refused.at, clock)) return 0
    return refused.at + refused.pause - clock
  }

  #settle(due: readonly Due[]): Promise<OpenTicks> {
    return this.#ledger.settle(due.map(({ schedule }) => schedule.id))
  }

  async #fireAll(due: readonly Due[], open: OpenTicks, now: number): Promise<void> {
    const firings: Fires[] = []
    for (const { schedule, known } of due) {
      try {
        const parts = await this.#firings(schedule, known, open.get(schedule.id) ?? 0, now)
        // Each part leaves the record at the first tick that it has not written; the next node continues there.
        for (const part of parts.slice(0, -1)) await this.#fire([{ ...part, record: known.record }], now)
        const last = parts.at(-1)
        if (last) firings.push({ ...last, record: known.record })
      } catch (error) {
        this.#failed(schedule, error)
      }
    }
    await inGroups(firings, ({ ticks }) => ticks.length, {
      work: (group) => this.#fire(group, now),
      overtaken: ({ schedule }) => this.#overtaken(schedule),
      failed: ({ schedule }, error) => this.#failed(schedule, error),
    })
  }

  /** The ticks that are due, in parts of one transaction. */
  async #firings(schedule: Schedule, known: Known, open: number, now: number): Promise<Fires[]> {
    const { record, times } = known
    const from = record.next ?? now
    const due = times ? dueTimes(times, from, now) : [from]
    const last = due.at(-1) ?? from
    const ticks = due.map((plannedAt) => dueTick(schedule, plannedAt, { last, now, open }))
    const next = times ? times.next(last) : await this.#ask(schedule, known, last + 1000, now)
    const missed = missedTicks(schedule, ticks, now)
    const parts: Fires[] = []
    for (let at = 0; at < ticks.length; at += GROUP) {
      const reported = at + GROUP >= ticks.length ? missed : undefined
      parts.push({
        ...{ schedule, known, record, reported },
        ticks: ticks.slice(at, at + GROUP),
        next: due[at + GROUP] ?? next,
        missed: reported ? (this.#options.missed?.(reported) ?? []) : [],
      })
    }
    return parts
  }

  /** All of them in one transaction. */
  async #fire(group: readonly Fires[], now: number): Promise<void> {
    const records = await this.#ledger.fire(group, now)
    for (const [index, { schedule, known, ticks, reported }] of group.entries()) {
      const record = records[index]
      if (record) known.record = record
      this.#refused.delete(schedule.id)
      this.#fired += ticks.filter(({ runs }) => runs).length
      if (reported === undefined) continue
      const { blueprint, block } = schedule
      this.#options.log({ level: 'warn', message: reported.message, blueprint, block })
    }
  }

  async #replan(schedule: Schedule, known: Known, now: number): Promise<void> {
    const { last } = known.record
    const next = await this.#ask(schedule, known, last === undefined ? now : last + 1000, now)
    if (next === undefined) return
    const { plan, record } = known
    const [replanned] = await this.#ledger.plan([{ schedule, plan, record, next }])
    if (replanned) known.record = replanned
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

  /** Another node was faster: what it wrote is read at once, but only once where it is what was read before. */
  #overtaken(schedule: Schedule): void {
    const { id } = schedule
    const read = this.#known.get(id)?.record.updateHash ?? ''
    this.#wake(this.#lost.get(id) === read ? SETTLE_SLEEP : 0)
    this.#lost.set(id, read)
    this.#known.drop(schedule)
  }

  #failed(schedule: Schedule, error: unknown): void {
    const { id, title } = schedule
    const code = error instanceof QuoinError ? error.code : undefined
    const message = `The schedule of ${title} (${id}) could not be planned`
    if (code === 'CONFLICT') this.#overtaken(schedule)
    else if (code === 'QUOTA_EXCEEDED') {
      const before = this.#refused.get(id)
      if (before === undefined) this.#log('error', message, error)
      const pause = Math.min(before === undefined ? SETTLE_SLEEP : 2 * before.pause, LONGEST_SLEEP)
      this.#refused.set(id, { at: this.#options.clock(), pause })
    } else {
      this.#stuck.add(id)
      this.#fail(message, error)
    }
  }

  #fail(message: string, error: unknown): void {
    this.#wake(SETTLE_SLEEP)
    this.#log('error', message, error)
  }

  /** Looks again in so many milliseconds at the latest. */
  #wake(ms: number): void {
    this.#sleep = Math.max(0, Math.min(this.#sleep, ms))
  }

  #log(level: QueueLogEntry['level'], message: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    this.#options.log({ level, message: `${message}: ${reason}` })
  }
}

/** The oldest node that is live fires and settles for all. */
function isFirst(nodes: readonly ClusterNode[]): boolean {
  const live = nodes.filter((node) => node.live).toSorted((a, b) => (a.guid < b.guid ? -1 : 1))
  return live.length === 0 || live[0]?.self === true
}
