import type { Runs } from '../flows/run-pipeline.ts'
import { plannedTimes } from '../queue/planned-times.ts'
import type { Backups } from '../records/backups/backups.ts'
import type { OptionSettings } from '../records/settings/option-settings.ts'
import { search } from '../shared/query.ts'
import type { Database } from '../storage/database.ts'
import { numberIn } from '../storage/document-fields.ts'
import { documentsOf } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import type { Background } from './background.ts'

/** What is asked of a space that is open: a part of what `openQuoin` gives. */
export interface SpaceWork {
  readonly runs: Pick<Runs, 'underWay'>
  readonly background: Pick<Background, 'queue'>
  readonly backups: Backups | undefined
  readonly database: Database
  readonly settings: Pick<OptionSettings, 'get'>
}

/** What is due and does not run waits: a job for another one, or for a queue that is paused. */
const STUCK_MS = 60_000

/** Whether something goes on in it that no request waits for. */
export function isBusy({ runs, background, backups }: SpaceWork): boolean {
  return runs.underWay() > 0 || (background.queue?.running ?? 0) > 0 || backups?.running() !== undefined
}

/** When something is to be done that no request asks for, in milliseconds since 1970; infinite for never. */
export async function nextWork(
  { database, settings }: SpaceWork,
  timeZone: string,
  now: number,
): Promise<number> {
  const { jobs } = database.capabilities
  const waiting = await jobs.search(
    search({
      query: { kind: 'term', field: 'status', value: 'waiting' },
      sort: [{ field: 'scheduled_for', order: 'asc', missing: 'last' }],
      limit: 1,
    }),
  )
  const planned = await database.session().find(
    systemStorages.schedules,
    search({
      query: { kind: 'exists', field: 'next_at' },
      sort: [{ field: 'next_at', order: 'asc', missing: 'last' }],
      limit: 1,
    }),
  )
  const schedules = documentsOf(planned).map((record) => numberIn(record.next_at) * 1000)
  const times = [...waiting.records.map(({ runAt }) => runAt), ...schedules]
  const cron = settings.get('QUOIN_BACKUP_SCHEDULE').value ?? ''
  const backup = cron === '' ? undefined : plannedTimes({ cron, timeZone })?.next(now)
  const due = times.map((time) => (time <= now ? now + STUCK_MS : time))
  return Math.min(...due, backup ?? Number.POSITIVE_INFINITY)
}
