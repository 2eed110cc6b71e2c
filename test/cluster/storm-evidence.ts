/** What is in the cluster after a storm, read through its own endpoints, and held against what its clients were told. */
import { setTimeout as wait } from 'node:timers/promises'
import { isJsonObject, type JsonObject } from '../../src/shared/json.ts'
import { objectsOf } from '../end-to-end/harness.ts'
import { manage, searchAll } from './call-node.ts'
import type { NoteClients } from './note-clients.ts'
import { handledStorage, noteStorage, tickedStorage } from './storm-blueprints.ts'

export interface NoteFigures {
  readonly acknowledged: number
  /** Acknowledged notes that are not there. */
  readonly missing: number
  /** Notes that were sent and not acknowledged, and how many of those are not there: a client in a hurry loses so many. */
  readonly unanswered: number
  readonly unansweredMissing: number
  /** Notes there, acknowledged or not, that were never handled. */
  readonly unhandled: number
  /** Handlings beyond the first of each note. */
  readonly repeats: number
}

export interface TickFigures {
  readonly schedules: number
  /** Ticks in the ledger. */
  readonly ticks: number
  /** Seconds between the first and the last tick of a schedule without a tick. */
  readonly gaps: number
  /** Ticks beyond the first of the same schedule and second. */
  readonly doubles: number
  /** Ticks whose job is not there, is another tick's, or is not done. */
  readonly undone: number
  /** Jobs of ticks that are no tick's. */
  readonly strays: number
  /** Ticks that left no document, and documents beyond the first of each. */
  readonly unwritten: number
  readonly repeats: number
  /** Ticks that were caught up. */
  readonly late: number
  /** Seconds by which the last tick of the slowest schedule misses the end of the storm. */
  readonly behind: number
}

export interface Asked {
  readonly address: string
  readonly token: string
}

const SETTLE_MS = 120_000

/** Waits until everything that was begun up to `until` (Unix seconds) is over. Gives the milliseconds, or 'never'. */
export async function settled(asked: Asked, until: number): Promise<number | 'never'> {
  const began = performance.now()
  while (performance.now() - began < SETTLE_MS) {
    if (await isSettled(asked, until)) return Math.round(performance.now() - began)
    await wait(500)
  }
  return 'never'
}

async function isSettled({ address, token }: Asked, until: number): Promise<boolean> {
  const count = async (path: string, filters: JsonObject) => {
    const { body } = await manage(address, path, { method: 'POST', token, body: { count: true, filters } })
    return isJsonObject(body) ? body.count : undefined
  }
  // The schedules go on: on a busy machine there is no moment at which no job waits.
  const jobs = { queue: 'default', status: ['waiting', 'running'], '_meta.created': { lte: until } }
  if ((await count('/queue/search', jobs)) !== 0) return false
  const schedules = objectsOf((await manage(address, '/queue/schedules?limit=1000', { token })).body)
  if (schedules.some(({ last_at: last }) => typeof last !== 'number' || last < until)) return false
  const ticks = { planned_at: { lte: until }, state: ['planned', 'claimed'] }
  return (await count('/queue/schedules/ticks/search', ticks)) === 0
}

export async function noteFigures(asked: Asked, clients: NoteClients): Promise<NoteFigures> {
  const notes = await documents(asked, noteStorage)
  const handled = countsOf(await documents(asked, handledStorage), 'note')
  const guids = new Set(notes.map(guidOf))
  const keys = new Set(notes.map(({ key }) => key))
  const { acknowledged, unanswered } = clients
  return {
    acknowledged: acknowledged.size,
    missing: count(acknowledged.keys(), (guid) => !guids.has(guid)),
    unanswered: unanswered.size,
    unansweredMissing: count(unanswered, (key) => !keys.has(key)),
    unhandled: count(guids, (guid) => !handled.has(guid)),
    repeats: sum(handled.values(), (times) => times - 1),
  }
}

/** Of ticks up to `until`, Unix seconds. */
export async function tickFigures(asked: Asked, until: number): Promise<TickFigures> {
  const { address, token } = asked
  const jobs = await searchAll(address, '/queue/search', token, { type: 'tick' })
  const ledger = await searchAll(address, '/queue/schedules/ticks/search', token)
  const written = countsOf(await documents(asked, tickedStorage), 'job')
  const status = new Map(jobs.map((job) => [guidOf(job), job.status]))
  const known = countsOf(ledger, 'job')
  const ticks = ledger.filter((tick) => numberOf(tick.planned_at) <= until)
  const seconds = Map.groupBy(ticks, ({ schedule }) => schedule)
  const times = [...seconds.values()].map((each) => each.map((tick) => numberOf(tick.planned_at)))
  const isDone = ({ job, state }: JsonObject) =>
    status.get(String(job)) === 'done' &&
    known.get(String(job)) === 1 &&
    ['done', 'caught_up'].includes(String(state))
  return {
    schedules: seconds.size,
    ticks: ticks.length,
    gaps: sum(times, (each) => Math.max(...each) - Math.min(...each) + 1 - new Set(each).size),
    doubles: sum(times, (each) => each.length - new Set(each).size),
    undone: count(ticks, (tick) => !isDone(tick)),
    strays: count(status.keys(), (job) => !known.has(job)),
    unwritten: count(ticks, ({ job }) => !written.has(String(job))),
    repeats: sum(written.values(), (each) => each - 1),
    late: count(ticks, ({ late }) => late === true),
    behind: Math.max(...times.map((each) => until - Math.max(...each))),
  }
}

/** Jobs that will not be tried again. */
export async function deadJobs({ address, token }: Asked): Promise<string[]> {
  const dead = await searchAll(address, '/queue/search', token, { status: 'dead' })
  return dead.map(({ title, error }) => `${title}: ${error}`)
}

async function documents({ address, token }: Asked, storage: string): Promise<JsonObject[]> {
  const body = { filters: { name: storage } }
  const [found] = objectsOf(
    (await manage(address, '/_system/storages/search', { method: 'POST', token, body })).body,
  )
  if (!found) throw new Error(`There is no storage ${storage}.`)
  return searchAll(address, `/_system/storages/${guidOf(found)}/documents/search`, token)
}

function countsOf(records: readonly JsonObject[], field: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const record of records) {
    const value = String(record[field])
    counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return counts
}

function guidOf({ _meta }: JsonObject): string {
  const guid = isJsonObject(_meta) ? _meta.guid : undefined
  if (typeof guid !== 'string') throw new TypeError('A record without a guid.')
  return guid
}

function numberOf(value: unknown): number {
  if (typeof value !== 'number') throw new TypeError('A tick without a time.')
  return value
}

function count<T>(items: Iterable<T>, is: (item: T) => boolean): number {
  return sum(items, (item) => (is(item) ? 1 : 0))
}

function sum<T>(items: Iterable<T>, of: (item: T) => number): number {
  let total = 0
  for (const item of items) total += of(item)
  return total
}
