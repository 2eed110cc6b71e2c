import { queryOptions } from '@tanstack/react-query'
import type { NodeRecord } from '../../shared/api/nodes.ts'
import { queryClient } from './query-client.ts'
import type { AuditLog, Job, JobWithData, Queue, Schedule, SystemLog, Tick, UserLog } from './records.ts'
import { call, type Page, type SearchBody, search, searchByGet } from './request.ts'

export const queuesQuery = queryOptions({
  queryKey: ['jobs', 'queues'],
  queryFn: ({ signal }) => call<Queue[]>('GET', '/queues', { signal }),
  refetchInterval: 5_000,
})

export function forgetJobs(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['jobs'] })
}

export function findJobs(body: SearchBody, signal?: AbortSignal): Promise<Page<Job>> {
  return search<Job>('/queue/search', body, signal)
}

export function readJob(guid: string, signal: AbortSignal): Promise<JobWithData> {
  return call<JobWithData>('GET', `/queue/${guid}`, { signal })
}

export async function removeJob(guid: string): Promise<void> {
  await call('DELETE', `/queue/${guid}`)
}

export async function requeueJob(guid: string): Promise<void> {
  await call('POST', `/queue/${guid}/requeue`)
}

export async function steerQueue(
  name: string,
  change: { readonly paused?: boolean; readonly concurrency?: number | null },
): Promise<void> {
  await call('PUT', `/queues/${encodeURIComponent(name)}`, { body: change })
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

export function findSchedules(body: SearchBody, signal: AbortSignal): Promise<Page<Schedule>> {
  return searchByGet<Schedule>('/queue/schedules', body, signal)
}

export function findTicks(body: SearchBody, signal: AbortSignal): Promise<Page<Tick>> {
  return search<Tick>('/queue/schedules/ticks/search', body, signal)
}

export function findSystemLogs(body: SearchBody, signal?: AbortSignal): Promise<Page<SystemLog>> {
  return search<SystemLog>('/_system/systemlogs/search', body, signal)
}

export function findAuditLogs(body: SearchBody, signal: AbortSignal): Promise<Page<AuditLog>> {
  return search<AuditLog>('/_system/auditlogs', body, signal)
}

export function findUserLogs(body: SearchBody, signal: AbortSignal): Promise<Page<UserLog>> {
  return searchByGet<UserLog>('/_system/userlogs/search', body, signal)
}

export const nodesQuery = queryOptions({
  queryKey: ['nodes'],
  queryFn: ({ signal }) => call<NodeRecord[]>('GET', '/_system/nodes', { signal }),
  refetchInterval: 3_000,
})

/** The one record of a log that has this guid. */
export function oneOf<T>(find: (body: SearchBody, signal: AbortSignal) => Promise<Page<T>>) {
  return async (guid: string, signal: AbortSignal): Promise<T> => {
    const { records } = await find({ filters: { '_meta.guid': guid }, limit: 1 }, signal)
    const [record] = records
    if (record === undefined) throw new Error('This record is no longer there: logs are kept for 30 days.')
    return record
  }
}
