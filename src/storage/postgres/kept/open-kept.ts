/** What nodes on PostgreSQL need to keep what they have read: versions, and notes of writes that are forgotten in time. */
import { isOwnStorage } from '../../own-storages.ts'
import { CATALOGUE, type PostgresOptions, type PostgresParts } from '../core/postgres-parts.ts'
import { KeptWords } from '../words/kept-words.ts'
import { forgetNotedWrites } from './forget-noted-writes.ts'
import { KeptAggregates } from './kept-aggregates.ts'
import { KeptTotals } from './kept-totals.ts'
import { noteWhenWanted } from './note-when-wanted.ts'
import { noteWrites } from './note-writes.ts'
import { beginLife } from './noted-writes.ts'
import { PostgresReadVersions } from './postgres-read-versions.ts'

const FORGET_EVERY_MS = 60_000
const FOLLOW_EVERY_MS = 20_000

export interface Kept {
  readonly versions: PostgresReadVersions
  readonly totals: KeptTotals
  readonly aggregates: KeptAggregates
  readonly words: KeptWords
  close(): Promise<void>
}

/** `change`: does what changes the catalogue, one node at a time, unless the database is being closed. */
export function openKept(
  parts: PostgresParts,
  clocks: PostgresOptions,
  change: <T>(work: () => Promise<T>) => Promise<T>,
): Kept {
  const { pool, catalogue, cluster } = parts
  const report = clocks.report ?? (() => undefined)
  const want = noteWhenWanted({ note: (name) => change(() => noteWrites(parts, name)), clocks, report })
  const common = {
    clocks,
    wanted(storage: string, milliseconds?: number) {
      // Those are written to all the time, and read by people.
      if (!isOwnStorage(storage)) want(storage, milliseconds)
    },
    beginLife: () => beginLife(pool),
  }
  const versions = new PostgresReadVersions({
    reading: pool.reading,
    find: (storage) => catalogue.find(storage),
    ...common,
  })
  const totals = new KeptTotals(common)
  const aggregates = new KeptAggregates(versions, common)
  const words = new KeptWords({ pool, report, ...common })
  const unwatch = cluster.watch(CATALOGUE, (changed) => {
    if (changed !== undefined) return
    // The node has come back, perhaps to another server.
    versions.forget()
    aggregates.forget()
    words.forget()
  })
  const forgetting = repeated(forgetNotedWrites({ connection: pool, clocks }), FORGET_EVERY_MS, report)
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
