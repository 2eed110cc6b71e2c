/** Records of schedules and of their ticks, as they are stored. Times are whole seconds there, and milliseconds in code. */
import type { Schedule } from '../flows/background/schedules.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import type { NewDocument } from '../storage/database.ts'
import { type JobState, type NewJob, scheduleQueue } from '../storage/job.ts'
import type { DueTick } from './due-ticks.ts'

export interface ScheduleRecord {
  readonly guid: string
  readonly updateHash: string
  /** What the times were worked out from. */
  readonly plan: string
  /** Milliseconds; undefined = never. */
  readonly next: number | undefined
  readonly last: number | undefined
}

/** States of ticks that wait or run. */
export const OPEN = ['planned', 'claimed']
const KEEP_SECONDS = 30 * 86_400

export function scheduleRecord(record: JsonObject): ScheduleRecord {
  const meta = isJsonObject(record._meta) ? record._meta : {}
  return {
    guid: guidOf(record),
    updateHash: textOf(meta, 'update_hash'),
    plan: textOf(record, 'plan'),
    next: milliseconds(record.next_at),
    last: milliseconds(record.last_at),
  }
}

export function described(schedule: Schedule): JsonObject {
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

/** `job`: the guid of its job; '' for one that does not run. */
export function tickDocument(
  { id, blueprint, block }: Schedule,
  { plannedAt, late, runs }: DueTick,
  job: string,
  now: number,
): NewDocument {
  const state = runs ? 'planned' : 'skipped'
  const fields = { schedule: id, blueprint, block, planned_at: seconds(plannedAt), late, state, job }
  return { mutations: setFields(fields), options: { expiry: Math.floor(now / 1000) + KEEP_SECONDS } }
}

export function tickJob(schedule: Schedule, { plannedAt, late }: DueTick): NewJob {
  const { id, blueprint, block, title, overlap, retries } = schedule
  return {
    queue: scheduleQueue,
    kind: 'tick',
    requested: true,
    ...retries,
    title,
    payload: { schedule: id, blueprint, block, planned_at: plannedAt, late },
    runAt: plannedAt,
    dedupeKey: `${id}@${plannedAt}`,
    // Late ones come one after the other also where `skip` would not let them wait.
    ...(overlap !== 'allow' && { orderKey: id }),
  }
}

/** Of a tick, by that of its job. */
export function tickState(job: JobState | undefined, late: boolean): string {
  // A job that is done is kept longer than it takes to get here: one that is gone was cancelled.
  if (job === undefined) return 'skipped'
  const states = { waiting: 'planned', running: 'claimed', done: late ? 'caught_up' : 'done', dead: 'failed' }
  return states[job]
}

export function seconds(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.floor(ms / 1000)
}

function milliseconds(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value * 1000 : undefined
}

export function recordsOf(value: JsonValue): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

export function guidOf(record: JsonObject): string {
  return isJsonObject(record._meta) ? textOf(record._meta, 'guid') : ''
}

export function textOf(record: JsonObject, field: string): string {
  const value = record[field]
  return typeof value === 'string' ? value : ''
}
