import type { Clock } from '../../shared/clock.ts'
import { search } from '../../shared/query.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { guidOf, numberIn } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'

const EVERY = 60_000
/** Documents in one transaction: all sessions share the writer of SQLite. */
const BATCH = 100

export interface LimitPurge {
  /** Deletes the windows that are over; gives how many. Never throws: what is left is deleted next time. */
  run(): Promise<number>
  close(): Promise<void>
}

/** Deletes counts of `_limits` whose window is over, once a minute. */
export function openLimitPurge({ database, clock }: { database: Database; clock: Clock }): LimitPurge {
  let closed = false
  let running: Promise<number> = Promise.resolve(0)

  async function purge(): Promise<number> {
    let total = 0
    try {
      while (!closed) {
        const now = clock()
        const guids = await overGuids(database, now)
        total += await transact(database, (session) => deleteOver(session, guids, now))
        if (guids.length < BATCH) break
      }
    } catch {
      // A full disk, or a database that is away: the rows cost space and nothing else.
    }
    return total
  }

  const run = () => {
    running = running.then(purge)
    return running
  }
  const timer = setInterval(run, EVERY).unref()
  return {
    run,
    async close() {
      closed = true
      clearInterval(timer)
      await running
    },
  }
}

/** In the order of their guids, as they are counted: two transactions never wait for each other. */
async function overGuids(database: Database, now: number): Promise<readonly string[]> {
  const query = { kind: 'range', field: 'until', bounds: { lte: now } } as const
  const sort = [{ field: 'until', order: 'asc', missing: 'last' }] as const
  const found = await database.session().find(systemStorages.limits, search({ query, sort, limit: BATCH }))
  return documentsOf(found).map(guidOf).toSorted()
}

async function deleteOver(session: Session, guids: readonly string[], now: number): Promise<number> {
  let deleted = 0
  for (const guid of guids) {
    // A window may have begun since it was found.
    const allows = (stored: Parameters<typeof documentOf>[0]) => numberIn(documentOf(stored).until) <= now
    const { outcome } = await session.delete(systemStorages.limits, guid, { allows })
    if (outcome === 'written') deleted += 1
  }
  return deleted
}
