/**
 * Deletes documents whose `_meta.expiry` has passed. Until then, a minute at most, searches still find them: a condition
 * on the time in every search would cost every search, and no result could be kept.
 */

import type { Clock } from '../shared/clock.ts'
import { yieldToEventLoop } from '../shared/cooperative.ts'
import { search } from '../shared/query.ts'
import { type Attempt, refusalOf, transactEach } from '../storage/create-all.ts'
import type { Database, Session } from '../storage/database.ts'
import { guidOf } from '../storage/document-fields.ts'
import type { Needs } from '../storage/document-index.ts'
import { documentsOf } from '../storage/find-documents.ts'
import { isOwnStorage } from '../storage/system-storages.ts'
import { type PeriodicTask, periodicTask } from './periodic-task.ts'
import type { SystemLog } from './system-log.ts'

/** Every storage of a builder has it. Most documents never expire: they are at one end of the index, and cost little. */
export const expiryNeeds: Needs = { indexes: [{ fields: ['_meta.expiry'] }] }

/** Deletes what has expired by now; gives how many documents. Never throws: the log says what went wrong. */
export type ExpiryPurge = PeriodicTask<number>

export interface ExpiryPurgeOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: SystemLog
  /** Milliseconds from the end of one purge to the next. */
  readonly every?: number
}

const EVERY = 60_000
/** Documents in one transaction: all sessions share the writer, so it is never held for more than some milliseconds. */
const BATCH = 100
/** A page cannot begin further behind. */
const MAX_CACHED = 10_000

export function openExpiryPurge({ database, clock, log, every = EVERY }: ExpiryPurgeOptions): ExpiryPurge {
  async function purge(isClosed: () => boolean): Promise<number> {
    let total = 0
    for (const name of database.names()) {
      if (isClosed() || isOwnStorage(name)) continue
      try {
        const count = await purgeStorage(database, name, Math.floor(clock() / 1000), isClosed)
        total += count
        const documents = count === 1 ? 'document' : 'documents'
        if (count > 0)
          log.write({
            level: 'info',
            message: `${count} expired ${documents} of the storage ${name} deleted.`,
          })
      } catch (error) {
        // A storage that was dropped meanwhile is no news.
        if (!database.has(name)) continue
        const reason = error instanceof Error ? error.message : String(error)
        log.write({ level: 'error', message: `Expired documents of ${name} could not be deleted: ${reason}` })
      }
    }
    return total
  }

  return periodicTask(() => every, purge)
}

async function purgeStorage(
  database: Database,
  name: string,
  now: number,
  isOver: () => boolean,
): Promise<number> {
  // Storages made before there was a purge get the index here; for the others it is a look into a map.
  await database.ensure(name, expiryNeeds)
  const query = { kind: 'range', field: '_meta.expiry', bounds: { gte: 0, lte: now } } as const
  const sort = [{ field: '_meta.expiry', order: 'asc', missing: 'last' }] as const
  let count = 0
  // Those that other documents refer to stay until these are gone.
  let remaining = 0
  while (!isOver() && remaining <= MAX_CACHED) {
    const found = await database
      .session()
      .find(name, search({ query, sort, limit: BATCH, offset: remaining, includeRemoved: true }))
    if (found.length === 0) break
    const guids = documentsOf(found).map(guidOf)
    const deleted = await transactEach(database, async (session, attempt) => {
      let written = 0
      for (const guid of guids) if (await isDeleted(session, { name, guid, attempt })) written += 1
      return written
    })
    count += deleted
    remaining += guids.length - deleted
    await yieldToEventLoop()
  }
  return count
}

interface Expired {
  readonly name: string
  readonly guid: string
  readonly attempt: Attempt
}

/** One that others refer to, or whose referrers cannot be changed, stays. */
async function isDeleted(session: Session, { name, guid, attempt }: Expired): Promise<boolean> {
  try {
    return (await attempt(guid, () => session.delete(name, guid))).outcome === 'written'
  } catch (error) {
    refusalOf(error)
    return false
  }
}
