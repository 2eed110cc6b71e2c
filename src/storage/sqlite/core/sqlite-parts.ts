/** Opens what a SQLite storage stands on: the directory and its lock, the connections, the catalogue. */
import { mkdir, open as openFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Timers } from '../../../shared/clock.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { pooledRandom } from '../../../shared/guid.ts'
import { lastTime, type StampOptions, stamps } from '../../document-session.ts'
import { type SlowLimits, searchAdvisor } from '../../search/search-advisor.ts'
import { searchCache } from '../cache/search-cache.ts'
import { SqliteJobs } from '../jobs/sqlite-jobs.ts'
import { JobWork } from '../jobs/sqlite-jobs-claim.ts'
import { SqliteQueues } from '../jobs/sqlite-jobs-queues.ts'
import { registerSearchFunctions } from '../sql/search-functions.ts'
import { SearchThread } from '../sql/search-thread.ts'
import { ensureVocabulary } from '../text/sqlite-text-index.ts'
import { ensureTotals } from '../text/text-totals.ts'
import { BALLAST_BYTES, Ballast } from './ballast.ts'
import { checkFiles } from './check-files.ts'
import type { SessionParts } from './session-segment.ts'
import { SqliteCatalogue } from './sqlite-catalogue.ts'
import { lockDirectory, migrateSqlite, SqliteConnection, sqliteMigrations } from './sqlite-connection.ts'
import { DamagedDatabase, storageError } from './sqlite-errors.ts'
import { SqliteWriter } from './sqlite-writer.ts'
import { SlowUnits } from './unit-reads.ts'

export interface SqliteOptions extends StampOptions {
  /** Where `quoin.db` is. Made if missing, for its owner only. */
  readonly directory: string
  /** OFF loses what was acknowledged when the power fails: only for tests, which it makes faster. */
  readonly synchronous?: 'FULL' | 'OFF'
  /** Size of the file that keeps room for a full disk; 0 = none, as for tests that do not wait for the disk. */
  readonly ballastBytes?: number
  readonly slowSearches?: SlowLimits
  /** Open a database although a part of it is lost: see `check-files.ts`. */
  readonly acceptLoss?: boolean
  /** Told what administrators have to know of the files. */
  readonly notice?: (message: string, isDamaged: boolean) => void
  /** Of the writer; the process's, if not given. */
  readonly timers?: Timers
}

export interface SqliteParts extends SessionParts {
  readonly queues: SqliteQueues
  /** Waits for those who have the writer or wait for it, and for their commit; then lets go of the files. */
  close(): Promise<void>
}

/** Throws UNAVAILABLE when another process uses the directory, or a newer Quoin made what is in it. */
export async function openSqliteParts(options: SqliteOptions): Promise<SqliteParts> {
  const { directory, clock, synchronous = 'FULL' } = options
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, 'quoin.db')
  const existing = (await stat(path).catch(() => undefined))?.size ?? 0
  await makeFiles(directory, [join(directory, 'quoin.lock')])
  const unlock = lockDirectory(directory)
  const connections: SqliteConnection[] = []
  try {
    const noticed = checkFiles({ directory, acceptLoss: options.acceptLoss ?? false, now: clock() })
    if (noticed !== undefined) options.notice?.(noticed, false)
    await makeFiles(directory, [path])
    const connect = (readOnly: boolean) => {
      const connection = new SqliteConnection({ path, readOnly, synchronous })
      connections.push(connection)
      registerSearchFunctions(connection)
      return connection
    }
    const writing = connect(false)
    await migrateSqlite(writing, await sqliteMigrations(), clock)
    ensureVocabulary(writing)
    ensureTotals(writing)
    const catalogue = new SqliteCatalogue()
    catalogue.load(writing)
    const reader = connect(true)
    const last = lastTime(newestTime(writing, catalogue), clock(), (message) =>
      options.notice?.(message, false),
    )
    const random = pooledRandom(options.random)
    const bytes = options.ballastBytes ?? (synchronous === 'FULL' ? BALLAST_BYTES : 0)
    const ballast =
      bytes > 0
        ? new Ballast({
            path: join(directory, 'ballast'),
            bytes,
            random: options.random,
            existing: existing > 0,
          })
        : undefined
    const writer = new SqliteWriter(writing, ballast, options.timers)
    writer.damageFound = (damage) => options.notice?.(damageText(path, damage), true)
    const thread = new SearchThread(path, writer.noteFailure)
    const jobWork = new JobWork({ writer, reader })
    return {
      writer,
      reader,
      thread,
      slowUnits: new SlowUnits(),
      catalogue,
      observers: new Map(),
      results: searchCache(),
      advisor: searchAdvisor(clock, options.slowSearches),
      stamps: stamps({ ...options, random, last }),
      jobs: new SqliteJobs(jobWork, clock, random),
      queues: new SqliteQueues(jobWork, clock),
      async close() {
        await thread.close()
        reader.close()
        // The last connection to close writes the log back into the database file and removes it.
        await writer.close()
        await ballast?.close()
        unlock()
      },
    }
  } catch (error) {
    for (const connection of connections) connection.close()
    unlock()
    const reported = storageError(error)
    if (!(reported instanceof DamagedDatabase)) throw reported
    const text = `${path} is damaged and cannot be opened: SQLite says "${reported.reason}". ${RESTORE}`
    throw new QuoinError('UNAVAILABLE', text, { cause: error })
  }
}

/** One look at an index for each storage: 3 ms of 1,000. */
function newestTime(connection: SqliteConnection, catalogue: SqliteCatalogue): number | undefined {
  const times = catalogue.names().flatMap((name) => {
    const { table } = catalogue.entry(name)
    const newest = connection.get(`SELECT max(created) AS time FROM ${table} WHERE removed = 0`)?.time
    return typeof newest === 'number' ? [newest] : []
  })
  return times.length === 0 ? undefined : times.reduce((a, b) => Math.max(a, b))
}

const RESTORE =
  'Put a backup back with "quoin restore <folder> --force", which keeps these files in a folder beside it.'

/** For the log of the node. */
function damageText(path: string, damage: DamagedDatabase): string {
  return `${path} is damaged: SQLite says "${damage.reason}". Writes are refused from now on; what can be read is served. Stop Quoin. ${RESTORE}`
}

/** Empty files that only their owner can read; SQLite gives its log the same rights. Their names are on disk before use. */
async function makeFiles(directory: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) await openFile(path, 'a', 0o600).then((file) => file.close())
  const folder = await openFile(directory, 'r')
  await folder.sync().finally(() => folder.close())
}
