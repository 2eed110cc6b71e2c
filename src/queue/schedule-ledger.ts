/**
 * Schedules and their ticks, in two storages: both can be searched like documents, and a tick and its job are written in
 * one transaction.
 *
 * A schedule's record says when it fires next. A node moves that time on only if the record still has the version that it
 * has read; of several nodes one succeeds, and the others read again. In the same transaction the node writes one record
 * for each tick that has become due, and the job of each tick that runs. So a tick fires once, on any number of nodes.
 *
 * A tick is
 * - planned: its job waits. - claimed: its job runs. - done: its job was done. - failed: its job is dead.
 * - caught_up: done, but it was late, because no node was up at its time.
 * - skipped: it had no job, because of the policies, or its job was cancelled.
 * The state of a job is read from the queue (`settle`), so it is also right when the node that ran the job was ended.
 */

import type { Schedule } from '../flows/background/schedules.ts'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { type Query, type Search, search } from '../shared/query.ts'
import type { RecordPage } from '../shared/record-page.ts'
import { type Database, documentOf, type Session } from '../storage/database.ts'
import { findWithTotal } from '../storage/find-with-total.ts'
import { type Job, type NewJob, scheduleQueue } from '../storage/job.ts'
import { ownStorages } from '../storage/own-storages.ts'
import { transact } from '../storage/transact.ts'

export interface ScheduleRecord {
  readonly guid: string
  readonly updateHash: string
  /** What the times were worked out from. */
  readonly plan: string
  /** Milliseconds; undefined = never. */
  readonly next: number | undefined
  readonly last: number | undefined
}

export interface DueTick {
  /** Milliseconds. */
  readonly plannedAt: number
  readonly late: boolean
  readonly runs: boolean
}

const OPEN = ['planned', 'claimed']
/** Ticks in one transaction: on PostgreSQL it keeps their rows from others, and is some statements for each. */
const SETTLE_BATCH = 100
const KEEP_SECONDS = 30 * 86_400
const PURGE_BATCH = 500

export class ScheduleLedger {
  readonly #database: Database

  private constructor(database: Database) {
    this.#database = database
  }

  static async open(database: Database): Promise<ScheduleLedger> {
    await database.ensure(ownStorages.schedules, { indexes: [{ fields: ['schedule'], unique: true }] })
    await database.ensure(ownStorages.ticks, {
      indexes: [
        { fields: ['schedule', 'planned_at'], unique: true },
        { fields: ['state', 'schedule'] },
        { fields: ['_meta.expiry'] },
      ],
    })
    return new ScheduleLedger(database)
  }

  async read(id: string): Promise<ScheduleRecord | undefined> {
    const found = await this.#database
      .session()
      .find(ownStorages.schedules, search({ query: named(id), limit: 1 }))
    const [record] = recordsOf(found.documents.value)
    return record && scheduleRecord(record)
  }

  /** A first record. CONFLICT when another node was faster. */
  async create(schedule: Schedule, plan: string, next: number | undefined): Promise<ScheduleRecord> {
    const fields = { ...described(schedule), plan, next_at: seconds(next), last_at: null, lost_at: null }
    const stored = await transact(this.#database, (session) =>
      session.create(ownStorages.schedules, setFields(fields)),
    )
    return scheduleRecord(documentOf(stored))
  }

  /** A changed plan, or a next time for one that had none. Throws CONFLICT when another node was faster. */
  async replan(
    record: ScheduleRecord,
    schedule: Schedule,
    plan: string,
    next: number | undefined,
  ): Promise<ScheduleRecord> {
    const fields = { ...described(schedule), plan, next_at: seconds(next) }
    return transact(this.#database, (session) => this.#update(session, record, fields))
  }

  /**
   * After the clock was set back: the records of times that are to come again, and the time of the next one. Throws CONFLICT when
   * another node was faster.
   */
  async restart(
    record: ScheduleRecord,
    id: string,
    next: number | undefined,
    now: number,
  ): Promise<ScheduleRecord> {
    const toCome = { kind: 'range', field: 'planned_at', bounds: { gt: Math.floor(now / 1000) } } as const
    const query: Query = { kind: 'and', queries: [named(id), toCome] }
    let restarted = record
    for (;;) {
      const found = await this.#database
        .session()
        .find(ownStorages.ticks, search({ query, limit: PURGE_BATCH }))
      const guids = recordsOf(found.documents.value).map(guidOf)
      const isLast = guids.length < PURGE_BATCH
      const fields = isLast ? { next_at: seconds(next), last_at: null } : {}
      restarted = await transact(this.#database, async (session) => {
        for (const guid of guids) await session.delete(ownStorages.ticks, guid)
        return this.#update(session, restarted, fields)
      })
      if (isLast) return restarted
    }
  }

  /** The ticks with their jobs, those that tell flows of missed ones, and the time of the next one. Throws CONFLICT when another node was faster. */
  async fire(
    record: ScheduleRecord,
    schedule: Schedule,
    ticks: readonly DueTick[],
    next: number | undefined,
    now: number,
    missed: readonly NewJob[] = [],
  ): Promise<ScheduleRecord> {
    const expiry = Math.floor(now / 1000) + KEEP_SECONDS
    return transact(this.#database, async (session) => {
      const last = ticks.at(-1)?.plannedAt
      const lost = ticks.filter(({ late, runs }) => late && !runs)
      const updated = await this.#update(session, record, {
        next_at: seconds(next),
        last_at: seconds(last ?? record.last),
        ...(lost.length > 0 && { lost_at: seconds(lost.at(-1)?.plannedAt) }),
      })
      for (const tick of ticks) {
        const job = tick.runs ? await enqueueTick(session, schedule, tick) : ''
        // It has a job already, from a record of the schedule that is gone.
        if (job === undefined) continue
        const { id, blueprint, block } = schedule
        const fields = {
          schedule: id,
          blueprint,
          block,
          planned_at: seconds(tick.plannedAt),
          late: tick.late,
          state: tick.runs ? 'planned' : 'skipped',
          job,
        }
        await session.create(ownStorages.ticks, setFields(fields), { expiry })
      }
      for (const job of missed) await session.enqueue(job)
      return updated
    })
  }

  /** A schedule that is no more; its ticks stay. */
  async forget(record: ScheduleRecord): Promise<void> {
    await transact(this.#database, (session) => session.delete(ownStorages.schedules, record.guid))
  }

  /** How many ticks of the schedule wait or run. */
  async countOpen(id: string): Promise<number> {
    const query: Query = {
      kind: 'and',
      queries: [{ kind: 'terms', field: 'state', values: OPEN }, named(id)],
    }
    return this.#database.session().count(ownStorages.ticks, query)
  }

  /**
   * Stores the states of the jobs of open ticks: of one schedule, or of all. Gives how many ticks are still open.
   * Several nodes may do it at once: the result is the same, only the work is done twice.
   */
  async settle(id?: string): Promise<number> {
    const isOpen: Query = { kind: 'terms', field: 'state', values: OPEN }
    const query: Query = id === undefined ? isOpen : { kind: 'and', queries: [isOpen, named(id)] }
    let open = 0
    let after: string | undefined
    do {
      const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
      const page = search({ query, sort, limit: SETTLE_BATCH, ...(after !== undefined && { after }) })
      const found = await this.#database.session().find(ownStorages.ticks, page)
      const ticks = recordsOf(found.documents.value)
      const jobs = await Promise.all(
        ticks.map((tick) => this.#database.capabilities.jobs.get(textOf(tick, 'job'))),
      )
      const changes: { readonly guid: string; readonly state: string }[] = []
      for (const [index, tick] of ticks.entries()) {
        const state = stateOf(jobs[index], tick.late === true)
        if (OPEN.includes(state)) open += 1
        if (state !== tick.state) changes.push({ guid: guidOf(tick), state })
      }
      after = found.next()
      if (changes.length > 0)
        await transact(this.#database, async (session) => {
          for (const { guid, state } of changes)
            await session.update(ownStorages.ticks, guid, setFields({ state }))
        })
    } while (after !== undefined)
    return open
  }

  /** Deletes ticks that are more than 30 days old. */
  async purge(now: number): Promise<void> {
    const query: Query = {
      kind: 'range',
      field: '_meta.expiry',
      bounds: { gte: 0, lte: Math.floor(now / 1000) },
    }
    for (;;) {
      const found = await this.#database
        .session()
        .find(ownStorages.ticks, search({ query, limit: PURGE_BATCH }))
      if (found.length === 0) return
      const guids = recordsOf(found.documents.value).map(guidOf)
      await transact(this.#database, async (session) => {
        for (const guid of guids) await session.delete(ownStorages.ticks, guid)
      })
    }
  }

  async search(
    storage: typeof ownStorages.schedules | typeof ownStorages.ticks,
    wanted: Search,
  ): Promise<RecordPage> {
    const session = this.#database.session()
    const { found, total } = await findWithTotal(session, storage, wanted)
    return { records: recordsOf(found.documents.value), total, next: found.next() }
  }

  async #update(session: Session, record: ScheduleRecord, fields: JsonObject): Promise<ScheduleRecord> {
    const { guid, updateHash } = record
    const written = await session.update(ownStorages.schedules, guid, setFields(fields), { updateHash })
    if (written.outcome !== 'written')
      throw new QuoinError('CONFLICT', 'Another node has changed the schedule.')
    return scheduleRecord(documentOf(written.document))
  }
}

function enqueueTick(session: Session, schedule: Schedule, { plannedAt, late }: DueTick) {
  const { id, blueprint, block, title, overlap, retries } = schedule
  return session.enqueue({
    queue: scheduleQueue,
    kind: 'tick',
    ...retries,
    title,
    payload: { schedule: id, blueprint, block, planned_at: plannedAt, late },
    runAt: plannedAt,
    dedupeKey: `${id}@${plannedAt}`,
    // Late ones come one after the other also where `skip` would not let them wait.
    ...(overlap !== 'allow' && { orderKey: id }),
  })
}

function described(schedule: Schedule): JsonObject {
  const { id, blueprint, block, title, cron, every, startAt, timeZone, overlap, catchUp } = schedule
  return {
    schedule: id,
    blueprint,
    block,
    title,
    cron: cron ?? '',
    every: every ?? '',
    start_at: seconds(startAt),
    time_zone: timeZone,
    overlap,
    catch_up: catchUp,
  }
}

function stateOf(job: Job | undefined, late: boolean): string {
  // A job that is done is kept longer than it takes to get here: one that is gone was cancelled.
  if (job === undefined) return 'skipped'
  const states = { waiting: 'planned', running: 'claimed', done: late ? 'caught_up' : 'done', dead: 'failed' }
  return states[job.state]
}

function named(id: string): Query {
  return { kind: 'term', field: 'schedule', value: id }
}

function seconds(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.floor(ms / 1000)
}

function scheduleRecord(record: JsonObject): ScheduleRecord {
  const meta = isJsonObject(record._meta) ? record._meta : {}
  return {
    guid: guidOf(record),
    updateHash: textOf(meta, 'update_hash'),
    plan: textOf(record, 'plan'),
    next: milliseconds(record.next_at),
    last: milliseconds(record.last_at),
  }
}

function milliseconds(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value * 1000 : undefined
}

function recordsOf(value: JsonValue): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function guidOf(record: JsonObject): string {
  return isJsonObject(record._meta) ? textOf(record._meta, 'guid') : ''
}

function textOf(record: JsonObject, field: string): string {
  const value = record[field]
  return typeof value === 'string' ? value : ''
}
