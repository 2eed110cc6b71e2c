import { queryOptions } from '@tanstack/react-query'
import type { DocumentSearch } from '../../shared/api/data/documents.ts'
import type { AuditLog, SystemLog } from '../../shared/api/operate/logs.ts'
import type { NodeRecord } from '../../shared/api/operate/nodes.ts'
import type { Job, JobSummary, Queue, Schedule, Tick } from '../../shared/api/operate/queues.ts'
import type { UserLog } from '../../shared/api/people/users.ts'
import { requestKey } from '../../shared/failure.ts'
import { isJsonObject } from '../../shared/json.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import { apiTexts } from '../texts/sign-in.ts'
import { queryClient } from './query-client.ts'
import { call, search, searchByGet } from './request.ts'
import { saveChanges } from './save-changes.ts'

export const queuesQuery = queryOptions({
  queryKey: ['jobs', 'queues'],
  queryFn: ({ signal }) => call<Queue[]>('GET', '/queues', { signal }),
  refetchInterval: 5_000,
})

export function forgetJobs(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['jobs'] })
}

export function findJobs(body: DocumentSearch, signal?: AbortSignal): Promise<RecordPage<JobSummary>> {
  return search<JobSummary>('/queue/search', body, signal)
}

export function readJob(guid: string, signal: AbortSignal): Promise<Job> {
  return call<Job>('GET', `/queue/${guid}`, { signal })
}

export async function removeJob(guid: string): Promise<void> {
  await call('DELETE', `/queue/${guid}`)
}

/** `repeat`: what the run of a request has done may happen a second time. */
export async function requeueJob(guid: string, repeat = false): Promise<void> {
  await call('POST', `/queue/${guid}/requeue`, repeat ? { body: { repeat } } : {})
}

/** The same, of the request of a run. */
export async function sendRunAgain(run: string): Promise<void> {
  await call('POST', `/runs/${run}/send_again`, { body: { repeat: true } })
}

/** The dead letter of the request that a run has failed with behind its reply. */
export async function letterOfRun(run: string, signal: AbortSignal): Promise<Job | null> {
  const filters = { queue: '_requests', dedupe_key: requestKey(run) }
  const [letter] = (await findJobs({ filters, limit: 1 }, signal)).records
  return letter ? readJob(letter._meta.guid, signal) : null
}

export async function pauseQueue(name: string, paused: boolean): Promise<void> {
  await call('PUT', `/queues/${encodeURIComponent(name)}`, { body: { paused } })
  await forgetJobs()
}

/** How many of its jobs run at once; null: as many as there are. `shown`: what the field had. */
export async function limitQueue(
  name: string,
  concurrency: number | null,
  shown: number | null,
): Promise<void> {
  const path = `/queues/${encodeURIComponent(name)}`
  await saveChanges(
    path,
    { concurrency },
    { concurrency: shown },
    {
      read: async () => (await call<Queue[]>('GET', '/queues')).find((one) => one.name === name) ?? {},
    },
  )
  await forgetJobs()
}

/** Does something to every job that the filters find, a hundred at a time. Gives to how many. */
export async function eachJob(
  filters: Readonly<Record<string, string>>,
  work: (guid: string) => Promise<void>,
): Promise<number> {
  let done = 0
  const seen = new Set<string>()
  for (;;) {
    const { records } = await findJobs({ filters, limit: 100 })
    // What was worked on and is still found would be found for ever.
    const fresh = records.filter(({ _meta }) => !seen.has(_meta.guid))
    if (fresh.length === 0) break
    for (const { _meta } of fresh) {
      seen.add(_meta.guid)
      await work(_meta.guid)
      done++
    }
  }
  await forgetJobs()
  return done
}

export function findSchedules(body: DocumentSearch, signal: AbortSignal): Promise<RecordPage<Schedule>> {
  return searchByGet<Schedule>('/queue/schedules', body, signal)
}

export function findTicks(body: DocumentSearch, signal: AbortSignal): Promise<RecordPage<Tick>> {
  return search<Tick>('/queue/schedules/ticks/search', body, signal)
}

export function findSystemLogs(body: DocumentSearch, signal?: AbortSignal): Promise<RecordPage<SystemLog>> {
  return search<SystemLog>('/_system/systemlogs/search', body, signal)
}

export function findAuditLogs(body: DocumentSearch, signal: AbortSignal): Promise<RecordPage<AuditLog>> {
  return search<AuditLog>('/_system/auditlogs', body, signal)
}

export function findUserLogs(body: DocumentSearch, signal: AbortSignal): Promise<RecordPage<UserLog>> {
  return searchByGet<UserLog>('/_system/userlogs/search', body, signal)
}

export const nodesQuery = queryOptions({
  queryKey: ['nodes'],
  queryFn: ({ signal }) => call<NodeRecord[]>('GET', '/_system/nodes', { signal }),
  refetchInterval: 3_000,
})

/** The one record of a log that has this guid. */
export function oneOf<T>(find: (body: DocumentSearch, signal: AbortSignal) => Promise<RecordPage<T>>) {
  return async (guid: string, signal: AbortSignal): Promise<T> => {
    const { records } = await find({ filters: { '_meta.guid': guid }, limit: 1 }, signal)
    const [record] = records
    if (record === undefined) throw new Error(apiTexts.recordGone)
    return record
  }
}

/** The job that a record of the system log is about: one that is dead. */
export function jobOf({ value }: Pick<SystemLog, 'value'>): string | undefined {
  return isJsonObject(value) && typeof value.job === 'string' ? value.job : undefined
}
