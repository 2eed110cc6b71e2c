/** What this process knows of the schedules that are active: the plan of each, and its record as it was read or written last. */
import type { Schedule } from '../flows/background/schedules.ts'
import { QuoinError } from '../shared/errors.ts'
import { type PlannedTimes, plannedTimes } from './planned-times.ts'
import type { Planning, ScheduleLedger } from './schedule-ledger.ts'
import type { ScheduleRecord } from './schedule-record.ts'

export interface Known {
  readonly plan: string
  readonly times: PlannedTimes | undefined
  record: ScheduleRecord
  /** When `nextRun` was last asked. */
  asked: number
  /** The latest clock at which the next time was not too late; undefined for a record that was read. */
  fits: { readonly record: ScheduleRecord; readonly clock: number } | undefined
}

interface KnownOptions {
  readonly ledger: ScheduleLedger
  /** The first time of a schedule that has none by its plan. */
  readonly first: (schedule: Schedule, now: number) => Promise<number | undefined>
  /** Another node has stored it first: it is to be looked at again at once. */
  readonly overtaken: (schedule: Schedule) => void
  readonly failed: (message: string, error: unknown) => void
}

/** What clocks of nodes may differ by, and what is set back without a word. */
const SET_BACK = 60_000

export class KnownSchedules {
  readonly #options: KnownOptions
  readonly #known = new Map<string, Known>()
  /** By schedule and plan: what was logged as wrong, once. */
  readonly #refused = new Map<string, string>()
  readonly #plans = new WeakMap<Schedule, string>()

  constructor(options: KnownOptions) {
    this.#options = options
  }

  get(id: string): Known | undefined {
    return this.#known.get(id)
  }

  /** Another node has changed it: it is read again. */
  drop({ id }: Schedule): void {
    this.#known.delete(id)
  }

  clear(): void {
    this.#known.clear()
    this.#refused.clear()
  }

  /** Reads the records again, for another node may have moved their times. */
  async refresh(schedules: readonly Schedule[]): Promise<void> {
    const stored = await this.#options.ledger.read(schedules.map(({ id }) => id))
    for (const { id } of schedules) {
      const [known, record] = [this.#known.get(id), stored.get(id)]
      if (!known) continue
      if (record?.plan !== known.plan) this.#known.delete(id)
      else if (record.updateHash !== known.record.updateHash)
        this.#known.set(id, { ...known, record, fits: undefined })
    }
  }

  /**
   * Only what this process has seen active and is not any more: at the start a schedule may not have been loaded yet,
   * and its record says which ticks were missed.
   */
  async forgetOthers(schedules: readonly Schedule[]): Promise<void> {
    const active = new Set(schedules.map(({ id }) => id))
    const gone = [...this.#known].filter(([id]) => !active.has(id))
    if (gone.length === 0) return
    for (const [id] of gone) this.#known.delete(id)
    await this.#options.ledger.forget(gone.map(([, { record }]) => record))
  }

  /**
   * Reads the records of schedules that it does not know with this plan, and stores those that are new or have another plan.
   * Invalid ones are left out.
   */
  async learn(schedules: readonly Schedule[], now: number): Promise<void> {
    const unknown = schedules.filter((one) => this.#known.get(one.id)?.plan !== this.#planOf(one))
    if (unknown.length === 0) return
    const { ledger, first, overtaken, failed } = this.#options
    const stored = await ledger.read(unknown.map(({ id }) => id))
    const changed: (Planning & Pick<Known, 'times'>)[] = []
    for (const schedule of unknown.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
      const plan = this.#planOf(schedule)
      const times = this.#timesOf(schedule, plan)
      if (times === null) continue
      const record = stored.get(schedule.id)
      if (record?.plan === plan)
        this.#known.set(schedule.id, { plan, times, record, asked: now, fits: undefined })
      // `every` without a start counts from now; a pattern may fit this very second.
      else {
        const next = times ? times.next(now - 1) : await first(schedule, now)
        changed.push({ schedule, plan, times, record, next })
      }
    }
    await inGroups(changed, () => 1, {
      work: async (group) => {
        const records = await ledger.plan(group)
        for (const [index, { schedule, plan, times }] of group.entries()) {
          const record = records[index]
          if (record) this.#known.set(schedule.id, { plan, times, record, asked: now, fits: undefined })
        }
      },
      overtaken: ({ schedule }) => overtaken(schedule),
      failed: ({ schedule: { title, id } }, error) =>
        failed(`The schedule of ${title} (${id}) could not be planned`, error),
    })
  }

  /** null for a schedule that is invalid, which is logged once. */
  #timesOf(schedule: Schedule, plan: string): PlannedTimes | undefined | null {
    try {
      return plannedTimes(schedule)
    } catch (error) {
      if (this.#refused.get(schedule.id) === plan) return null
      this.#refused.set(schedule.id, plan)
      this.#options.failed(`The schedule of ${schedule.title} (${schedule.id}) never fires`, error)
      return null
    }
  }

  #planOf(schedule: Schedule): string {
    const before = this.#plans.get(schedule)
    if (before !== undefined) return before
    const { cron, every, startAt, timeZone, nextRun } = schedule
    const plan = JSON.stringify({ cron, every, startAt, timeZone, asked: nextRun !== undefined })
    this.#plans.set(schedule, plan)
    return plan
  }
}

/**
 * Whether a time that lies before the next one is to come still, by a clock that may be a minute behind. What was not too late
 * once is not by a later clock, so a time is looked for once for each record that is read or written, and after the clock went back.
 */
export function isTooLate(known: Known, clock: number): boolean {
  const { times, fits, record } = known
  if (fits?.record === record && clock >= fits.clock) return false
  const { next } = record
  const should = next === undefined || next <= clock + SET_BACK ? undefined : times?.next(clock + SET_BACK)
  if (next !== undefined && should !== undefined && next > should) return true
  known.fits = { record, clock }
  return false
}

// Changes of schedules in groups, each of which is one transaction.

/** Ticks or records in one transaction: all sessions share the writer. */
export const GROUP = 64

interface GroupWork<T> {
  /** One transaction. */
  readonly work: (group: readonly T[]) => Promise<void>
  /** Another node was faster: the record is to be read again. */
  readonly overtaken: (one: T) => void
  readonly failed: (one: T, error: unknown) => void
}

/**
 * Does the work in groups. Where a group is refused, each of it is tried alone, so that one keeps no other from its turn.
 * `weigh`: of how many records it is.
 */
export async function inGroups<T>(
  items: readonly T[],
  weigh: (item: T) => number,
  group: GroupWork<T>,
): Promise<void> {
  let gathered: T[] = []
  let weight = 0
  for (const item of items) {
    const more = weigh(item)
    if (weight + more > GROUP && gathered.length > 0) {
      await attempt(gathered, group)
      gathered = []
      weight = 0
    }
    gathered.push(item)
    weight += more
  }
  if (gathered.length > 0) await attempt(gathered, group)
}

async function attempt<T>(items: readonly T[], group: GroupWork<T>): Promise<void> {
  try {
    await group.work(items)
  } catch (error) {
    const [one, ...others] = items
    if (one === undefined) return
    if (others.length > 0) for (const item of items) await attempt([item], group)
    else if (error instanceof QuoinError && error.code === 'CONFLICT') group.overtaken(one)
    else group.failed(one, error)
  }
}
