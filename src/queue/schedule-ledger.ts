/**
 * Schedules and their ticks, in two storages: both can be searched like documents, and a tick and its job are written in
 * one transaction.
 *
 * A schedule's record says when it fires next. A node moves that time on only if the record still has the version that it
 * has read; of several nodes one succeeds, and the others read again. In the same transaction the node writes one record
 * for each tick that has become due, and the job of each tick that runs. So a tick fires once, on any number of nodes.
 * A transaction does so for many schedules, in the order of their records: of two nodes one waits for the other, never
 * crosswise.
 *
 * A tick is
 * - planned: its job waits. - claimed: its job runs. - done: its job was done. - failed: its job is dead.
 * - caught_up: done, but it was late, because no node was up at its time.
 * - skipped: it had no job, because of the policies, or its job was cancelled.
 * The state of a job is read from the queue (`settle`), so it is also right when the node that ran the job was ended.
 */

import type { Schedule } from '../flows/background/schedules.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { type Query, type Search, search } from '../shared/query.ts'
import type { RecordPage } from '../shared/record-page.ts'
import { createAll } from '../storage/create-all.ts'
import { type Database, documentOf, type NewDocument, type Session } from '../storage/database.ts'
import { numberIn } from '../storage/document-fields.ts'
import { findWithTotal } from '../storage/find-documents.ts'
import type { NewJob } from '../storage/job.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import type { DueTick } from './due-ticks.ts'
import {
  described,
  guidOf,
  OPEN,
  recordsOf,
  type ScheduleRecord,
  scheduleRecord,
  seconds,
  textOf,
  tickDocument,
  tickJob,
  tickState,
} from './schedule-record.ts'

/** A new schedule, or one whose plan has changed. */
export interface Planning {
  readonly schedule: Schedule
  readonly plan: string
  readonly next: number | undefined
  /** undefined for a new one. */
  readonly record: ScheduleRecord | undefined
}

/** Ticks of a schedule that are due. */
export interface Firing {
  readonly schedule: Schedule
  readonly record: ScheduleRecord
  readonly ticks: readonly DueTick[]
  readonly next: number | undefined
  /** Jobs that tell flows of missed ticks. */
  readonly missed: readonly NewJob[]
}

/** How many ticks of a schedule wait or run. */
export type OpenTicks = ReadonlyMap<string, number>

/** Ticks in one transaction: on PostgreSQL it keeps their rows from others, and is some statements for each. */
const SETTLE_BATCH = 64
const READ_BATCH = 500
const PURGE_BATCH = 500
const DELETE_BATCH = 64

export class ScheduleLedger {
  readonly #database: Database

  private constructor(database: Database) {
    this.#database = database
  }

  static async open(database: Database): Promise<ScheduleLedger> {
    await database.ensure(systemStorages.schedules, { indexes: [{ fields: ['schedule'], unique: true }] })
    await database.ensure(systemStorages.ticks, {
      indexes: [
        { fields: ['schedule', 'planned_at'], unique: true },
        { fields: ['state', 'schedule'] },
        { fields: ['_meta.expiry'] },
      ],
    })
    return new ScheduleLedger(database)
  }

  /** By id, those that are stored. */
  async read(ids: readonly string[]): Promise<ReadonlyMap<string, ScheduleRecord>> {
    const records = new Map<string, ScheduleRecord>()
    for (let at = 0; at < ids.length; at += READ_BATCH) {
      const query = named(ids.slice(at, at + READ_BATCH))
      const found = await this.#database
        .session()
        .find(systemStorages.schedules, search({ query, limit: READ_BATCH }))
      for (const record of recordsOf(found.documents.value))
        records.set(textOf(record, 'schedule'), scheduleRecord(record))
    }
    return records
  }

  /** Of all or of none, one for each. Throws CONFLICT when another node was faster with one of them. */
  async plan(plannings: readonly Planning[]): Promise<ScheduleRecord[]> {
    return transact(this.#database, async (session) => {
      const created: NewDocument[] = []
      const records: (ScheduleRecord | undefined)[] = []
      for (const { schedule, plan, next, record } of plannings) {
        const fields = { ...described(schedule), plan, next_at: seconds(next) }
        if (record) records.push(await this.#update(session, record, fields))
        else {
          created.push({ mutations: setFields({ ...fields, last_at: null, lost_at: null }) })
          records.push(undefined)
        }
      }
      const { documents, refused } = await createAll(session, systemStorages.schedules, created)
      if (refused) throw refused
      const stored = documents.values()
      return records.flatMap((record) => {
        const document = record === undefined ? stored.next().value : undefined
        return record ?? (document ? scheduleRecord(documentOf(document)) : [])
      })
    })
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
    const query: Query = { kind: 'and', queries: [named([id]), toCome] }
    let restarted = record
    for (;;) {
      const found = await this.#database
        .session()
        .find(systemStorages.ticks, search({ query, limit: PURGE_BATCH }))
      const guids = recordsOf(found.documents.value).map(guidOf)
      const isLast = guids.length < PURGE_BATCH
      const fields = isLast ? { next_at: seconds(next), last_at: null } : {}
      restarted = await transact(this.#database, async (session) => {
        for (const guid of guids) await session.delete(systemStorages.ticks, guid)
        return this.#update(session, restarted, fields)
      })
      if (isLast) return restarted
    }
  }

  /**
   * The ticks with their jobs, those that tell flows of missed ones, and the times of the next ones: of all schedules or of none.
   * One record for each. Throws CONFLICT when another node was faster with one of them.
   */
  async fire(firings: readonly Firing[], now: number): Promise<ScheduleRecord[]> {
    try {
      return await this.#fire(firings, now)
    } catch (error) {
      const [firing] = firings
      if (firing === undefined || firings.length > 1 || !isConflict(error)) throw error
      const fired = await this.#firedAlready(firing)
      if (fired.size === 0) throw error
      const ticks = firing.ticks.filter(({ plannedAt }) => !fired.has(plannedAt))
      return this.#fire([{ ...firing, ticks }], now)
    }
  }

  /** The times of its ticks that have a record: fired before the clock was set back and the schedule planned again. */
  async #firedAlready({ schedule: { id }, ticks }: Firing): Promise<ReadonlySet<number>> {
    const values = ticks.map(({ plannedAt }) => Math.floor(plannedAt / 1000))
    const query: Query = {
      kind: 'and',
      queries: [named([id]), { kind: 'terms', field: 'planned_at', values }],
    }
    const found = await this.#database
      .session()
      .find(systemStorages.ticks, search({ query, limit: values.length }))
    return new Set(recordsOf(found.documents.value).map((tick) => numberIn(tick.planned_at) * 1000))
  }

  async #fire(firings: readonly Firing[], now: number): Promise<ScheduleRecord[]> {
    const ordered = firings.toSorted((a, b) => (a.record.guid < b.record.guid ? -1 : 1))
    const written = await transact(this.#database, async (session) => {
      const records = new Map<string, ScheduleRecord>()
      const ticks: NewDocument[] = []
      for (const { schedule, record, ticks: due, next, missed } of ordered) {
        const last = due.at(-1)?.plannedAt ?? record.last
        const lost = due.findLast(({ late, runs }) => late && !runs)
        const fields = {
          ...{ next_at: seconds(next), last_at: seconds(last) },
          ...(lost && { lost_at: seconds(lost.plannedAt) }),
        }
        records.set(record.guid, await this.#update(session, record, fields))
        for (const tick of due) {
          const job = tick.runs ? await session.enqueue(tickJob(schedule, tick)) : ''
          // Without a guid it has a job already, from a record of the schedule that is gone.
          if (job !== undefined) ticks.push(tickDocument(schedule, tick, job, now))
        }
        for (const job of missed) await session.enqueue(job)
      }
      const { refused } = await createAll(session, systemStorages.ticks, ticks)
      if (refused) throw refused
      return records
    })
    return firings.flatMap(({ record }) => written.get(record.guid) ?? [])
  }

  /** Schedules that are no more; their ticks stay. */
  async forget(records: readonly ScheduleRecord[]): Promise<void> {
    for (let at = 0; at < records.length; at += DELETE_BATCH)
      await transact(this.#database, async (session) => {
        for (const { guid } of records.slice(at, at + DELETE_BATCH))
          await session.delete(systemStorages.schedules, guid)
      })
  }

  /**
   * Stores the states of the jobs of open ticks: of these schedules, or of all. Gives how many ticks of each are still open.
   * Several nodes may do it at once: the result is the same, only the work is done twice.
   */
  async settle(ids?: readonly string[]): Promise<OpenTicks> {
    const open = new Map<string, number>()
    for (let at = 0; at < (ids?.length ?? 1); at += READ_BATCH)
      await this.#settle(ids?.slice(at, at + READ_BATCH), open)
    return open
  }

  async #settle(ids: readonly string[] | undefined, open: Map<string, number>): Promise<void> {
    const isOpen: Query = { kind: 'terms', field: 'state', values: OPEN }
    const query: Query = ids === undefined ? isOpen : { kind: 'and', queries: [isOpen, named(ids)] }
    let after: string | undefined
    do {
      const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
      const page = search({ query, sort, limit: SETTLE_BATCH, ...(after !== undefined && { after }) })
      const found = await this.#database.session().find(systemStorages.ticks, page)
      const ticks = recordsOf(found.documents.value)
      const states = await this.#database.capabilities.jobs.states(ticks.map((tick) => textOf(tick, 'job')))
      const changes: { readonly guid: string; readonly state: string }[] = []
      for (const tick of ticks) {
        const state = tickState(states.get(textOf(tick, 'job')), tick.late === true)
        const id = textOf(tick, 'schedule')
        if (OPEN.includes(state)) open.set(id, (open.get(id) ?? 0) + 1)
        if (state !== tick.state) changes.push({ guid: guidOf(tick), state })
      }
      after = found.next()
      if (changes.length > 0)
        await transact(this.#database, async (session) => {
          for (const { guid, state } of changes)
            await session.update(systemStorages.ticks, guid, setFields({ state }))
        })
    } while (after !== undefined)
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
        .find(systemStorages.ticks, search({ query, limit: PURGE_BATCH }))
      if (found.length === 0) return
      const guids = recordsOf(found.documents.value).map(guidOf)
      await transact(this.#database, async (session) => {
        for (const guid of guids) await session.delete(systemStorages.ticks, guid)
      })
    }
  }

  async search(
    storage: typeof systemStorages.schedules | typeof systemStorages.ticks,
    requested: Search,
  ): Promise<RecordPage> {
    const session = this.#database.session()
    const { found, total } = await findWithTotal(session, storage, requested)
    return { records: recordsOf(found.documents.value), total, next: found.next() }
  }

  async #update(session: Session, record: ScheduleRecord, fields: JsonObject): Promise<ScheduleRecord> {
    const { guid, updateHash } = record
    const written = await session.update(systemStorages.schedules, guid, setFields(fields), { updateHash })
    if (written.outcome !== 'written')
      throw new QuoinError('CONFLICT', 'Another node has changed the schedule.')
    return scheduleRecord(documentOf(written.document))
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof QuoinError && error.code === 'CONFLICT'
}

function named(ids: readonly string[]): Query {
  return { kind: 'terms', field: 'schedule', values: ids }
}
