/** What nodes on PostgreSQL need to keep what they have read: versions, and notes of writes that are forgotten in time. */
import { isOwnStorage } from '../../system-storages.ts'
import { changing } from '../core/postgres-ensure.ts'
import { isLocked } from '../core/postgres-errors.ts'
import { CATALOGUE, type PostgresOptions, type PostgresParts } from '../core/postgres-parts.ts'
import type { PostgresConnection } from '../core/rows.ts'
import { FullTextCache } from '../fulltext/full-text-cache.ts'
import { CachedAggregates, CachedTotals } from './cached-aggregates.ts'
import { deleteOldChanges, openChangeTracking, startEpoch } from './change-log.ts'
import { PostgresReadVersions } from './postgres-read-versions.ts'

// Gives the table of a storage the trigger that notes what is written (`change-log.ts`).

/** The trigger waits for transactions that have written to the table, and later ones wait behind it, no longer than this. */
const LOCK_MS = 200
/** From now on, all writes to the storage are noted, and all nodes know. false: long writes are in the way, or it is gone. */
async function noteWrites(parts: PostgresParts, name: string): Promise<boolean> {
  await parts.catalogue.reload()
  const entry = parts.catalogue.find(name)
  if (entry === undefined || entry.noted) return entry !== undefined
  const { id, table } = entry
  try {
    await changing(parts, async (transaction) => {
      await transaction.script(`SET LOCAL lock_timeout = ${LOCK_MS}`)
      await refuseOtherNumbers(transaction)
      await transaction.script(
        `CREATE TRIGGER ${table}_noted AFTER INSERT OR DELETE OR UPDATE OF doc ON ${table}
          FOR EACH ROW EXECUTE FUNCTION quoin_note_write(${id})`,
      )
      // So that what is read next can be kept.
      await startEpoch(transaction)
      await transaction.run('UPDATE storage SET noted = true WHERE id = $1', [id])
    })
    return true
  } catch (error) {
    if (isLocked(error)) return false
    throw error
  }
}

/** Databases that only speak PostgreSQL's language may number transactions otherwise, or not at all. */
async function refuseOtherNumbers(transaction: PostgresConnection): Promise<void> {
  const [row] = await transaction.rows(
    `SELECT pg_current_xact_id() >= pg_snapshot_xmin(pg_current_snapshot())
      AND NOT pg_visible_in_snapshot(pg_current_xact_id(), pg_current_snapshot()) AS ordinary`,
  )
  if (row?.ordinary !== true)
    throw new Error('This database does not number its transactions as PostgreSQL does.')
}

const FORGET_EVERY_MS = 60_000
const FOLLOW_EVERY_MS = 20_000

export interface ReadCache {
  readonly versions: PostgresReadVersions
  readonly totals: CachedTotals
  readonly aggregates: CachedAggregates
  readonly words: FullTextCache
  close(): Promise<void>
}

/** `change`: does what changes the catalogue, one node at a time, unless the database is being closed. */
export function openReadCache(
  parts: PostgresParts,
  clocks: PostgresOptions,
  change: <T>(work: () => Promise<T>) => Promise<T>,
): ReadCache {
  const { pool, catalogue, cluster } = parts
  const report = clocks.report ?? (() => undefined)
  const want = openChangeTracking({ note: (name) => change(() => noteWrites(parts, name)), clocks, report })
  const common = {
    clocks,
    requestTracking(storage: string, milliseconds?: number) {
      // Those are written to all the time, and read by people.
      if (!isOwnStorage(storage)) want(storage, milliseconds)
    },
    startEpoch: () => startEpoch(pool),
  }
  const versions = new PostgresReadVersions({
    reading: pool.reading,
    find: (storage) => catalogue.find(storage),
    ...common,
  })
  const totals = new CachedTotals(common)
  const aggregates = new CachedAggregates(versions, common)
  const words = new FullTextCache({ pool, report, ...common })
  const unwatch = cluster.watch(CATALOGUE, (changed) => {
    if (changed !== undefined) return
    // The node has come back, perhaps to another server.
    versions.forget()
    aggregates.forget()
    words.forget()
  })
  const forgetting = repeated(deleteOldChanges({ connection: pool, clocks }), FORGET_EVERY_MS, report)
  const following = repeated(() => words.follow(), FOLLOW_EVERY_MS, report)
  return {
    versions,
    totals,
    aggregates,
    words,
    async close() {
      unwatch()
      await Promise.all([forgetting.end(), following.end(), words.close()])
    },
  }
}

/** Not while the one before is under way. */
function repeated(work: () => Promise<void>, every: number, report: (error: unknown) => void) {
  let last: Promise<void> | undefined
  const timer = setInterval(() => {
    last ??= work()
      .catch(report)
      .finally(() => {
        last = undefined
      })
  }, every).unref()
  return {
    async end() {
      clearInterval(timer)
      await last
    },
  }
}
