/**
 * How long Quoin keeps records of its own that only grow (logs, recorded runs, the history of documents), and removed
 * documents. Their age is compared with what is allowed at present, so that a change counts for what is stored already.
 */

import type { Clock } from '../../shared/clock.ts'
import { yieldToEventLoop } from '../../shared/cooperative.ts'
import { search } from '../../shared/query.ts'
import type { Database } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { type PeriodicTask, periodicTask } from '../periodic-task.ts'
import type { SystemLog } from '../system-log.ts'
import { deleteRemoved } from './delete-removed.ts'

/** Seconds; 0 = for ever. */
export interface RetentionPeriods {
  readonly logs: number
  readonly runs: number
  readonly history: number
  /** Removed documents, from their removal on. */
  readonly removed: number
}

export interface RetentionParts {
  readonly database: Database
  readonly clock: Clock
  readonly log: Pick<SystemLog, 'write'>
  readonly retainedFor: () => RetentionPeriods
  /** Whether this node does what one node of the cluster should do. */
  readonly leads: () => Promise<boolean>
  /** Milliseconds from the end of one look to the next. */
  readonly every?: number
}

/** Deletes what is too old by now; gives how many records. Never throws: the log says what went wrong. */
export type Retention = PeriodicTask<number>

const EVERY = 60_000
/** Records in one transaction: all sessions share the writer, so it is never held for more than some milliseconds. */
const BATCH = 100

const { systemLogs, userLogs, runs, recordedRequests, history } = systemStorages
/** Seconds, of requests that are recorded to be repeated. */
const WEEK = 7 * 86_400
const periods: readonly (readonly [storage: string, seconds: (periods: RetentionPeriods) => number])[] = [
  [systemLogs, ({ logs }) => logs],
  [userLogs, ({ logs }) => logs],
  [runs, (all) => all.runs],
  [recordedRequests, () => WEEK],
  [history, (all) => all.history],
]

export function openRetention({
  database,
  clock,
  log,
  retainedFor,
  leads,
  every = EVERY,
}: RetentionParts): Retention {
  async function look(isClosed: () => boolean): Promise<number> {
    const now = Math.floor(clock() / 1000)
    let total = 0
    try {
      if (!(await leads())) return 0
      for (const [storage, secondsIn] of periods) {
        const seconds = secondsIn(retainedFor())
        if (seconds > 0 && database.has(storage))
          total += await deleteUntil(database, storage, now - seconds, isClosed)
      }
      const { removed } = retainedFor()
      if (removed > 0) total += await deleteRemoved({ database, log }, now - removed, isClosed)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      log.write({ level: 'error', message: `Old records could not be deleted: ${reason}` })
    }
    return total
  }

  return periodicTask(() => every, look)
}

/** Of one storage. The table's own index by creation finds the oldest without looking at the others. */
async function deleteUntil(
  database: Database,
  storage: string,
  oldest: number,
  isClosed: () => boolean,
): Promise<number> {
  const query = { kind: 'range', field: '_meta.created', bounds: { lte: oldest } } as const
  const sort = [{ field: '_meta.created', order: 'asc', missing: 'last' }] as const
  let count = 0
  while (!isClosed()) {
    const found = await database.session().find(storage, search({ query, sort, limit: BATCH }))
    if (found.length === 0) break
    const guids = documentsOf(found).map(guidOf)
    await transact(database, async (session) => {
      for (const guid of guids) await session.delete(storage, guid)
    })
    count += guids.length
    await yieldToEventLoop()
  }
  return count
}
