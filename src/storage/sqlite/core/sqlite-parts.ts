/** Opens what a SQLite storage stands on: the directory and its lock, the connections, the catalogue. */
import { mkdir, open as openFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, Timers } from '../../../shared/clock.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { pooledRandom } from '../../../shared/guid.ts'
import { lastTime, type StampOptions, stamps } from '../../document-session.ts'
import { checkQueue, type JobState, type QueueSettings, type QueueState, type Queues } from '../../job.ts'
import { type SlowLimits, searchAdvisor } from '../../search/search-advisor.ts'
import { searchCache } from '../cache/search-cache.ts'
import { SqliteJobs } from '../jobs/sqlite-jobs.ts'
import { ensureQueue, JobWork } from '../jobs/sqlite-jobs-claim.ts'
import { registerSearchFunctions } from '../sql/search-functions.ts'
import { SearchThread } from '../sql/search-thread.ts'
import { ROWS } from '../sql/sql-values.ts'
import { ensureTotals, ensureVocabulary } from '../text/sqlite-text-index.ts'
import { BALLAST_BYTES, Ballast } from './ballast.ts'
import { checkFiles } from './check-files.ts'
import type { SessionParts } from './session-parts.ts'
import { SqliteCatalogue } from './sqlite-catalogue.ts'
import {
  lockDirectory,
  migrateSqlite,
  numberOf,
  SqliteConnection,
  sqliteMigrations,
  textOf,
} from './sqlite-connection.ts'
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
    const tell = (message: string) => options.notice?.(message, false)
    if (noticed !== undefined) tell(noticed)
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
    const last = lastTime(newestTime(writing, catalogue), clock(), tell)
    const random = pooledRandom(options.random)
    const ballast = ballastOf(options, existing > 0)
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
    throw startProblem(path, error)
  }
}

/** `existing`: whether the database was there before this start. */
function ballastOf(
  { directory, synchronous = 'FULL', ballastBytes, random }: SqliteOptions,
  existing: boolean,
): Ballast | undefined {
  const bytes = ballastBytes ?? (synchronous === 'FULL' ? BALLAST_BYTES : 0)
  if (bytes <= 0) return undefined
  return new Ballast({ path: join(directory, 'ballast'), bytes, random, existing })
}

function startProblem(path: string, error: unknown): unknown {
  const reported = storageError(error)
  if (!(reported instanceof DamagedDatabase)) return reported
  const text = `${path} is damaged and cannot be opened: SQLite says "${reported.reason}". ${RESTORE}`
  return new QuoinError('UNAVAILABLE', text, { cause: error })
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

const PURGE_BATCH = 1000

export class SqliteQueues implements Queues {
  readonly #work: JobWork
  readonly #clock: Clock

  constructor(work: JobWork, clock: Clock) {
    this.#work = work
    this.#clock = clock
  }

  list(): readonly QueueState[] {
    const now = this.#clock()
    return this.#work.read((connection) => listQueues(connection, now))
  }

  configure(queue: string, settings: QueueSettings): Promise<QueueState> {
    checkQueue(queue, settings)
    const { paused, concurrency } = settings
    const now = this.#clock()
    return this.#work.write((connection, effect) => {
      effect.wrote = effect.wakes = true
      ensureQueue(connection, queue)
      if (paused !== undefined)
        connection.run('UPDATE queue SET paused = ? WHERE name = ?', paused ? 1 : 0, queue)
      if (concurrency !== undefined)
        connection.run('UPDATE queue SET concurrency = ? WHERE name = ?', concurrency, queue)
      const [state] = listQueues(connection, now, queue)
      if (state === undefined) throw new Error('The queue is not there.')
      return state
    })
  }

  async purge(doneBefore: number): Promise<number> {
    let purged = 0
    for (;;) {
      // In batches, so that others have the writer in between.
      const batch = await this.#work.write((connection, effect) => {
        const gone = connection.all(
          `DELETE FROM job WHERE id IN (SELECT id FROM job WHERE state = 'done' AND finished < ? LIMIT ${ROWS}) RETURNING id`,
          doneBefore,
          PURGE_BATCH,
        )
        effect.wrote = gone.length > 0
        return gone.length
      })
      purged += batch
      if (batch < PURGE_BATCH) break
    }
    await this.#work.write((connection, effect) => {
      const gone = connection.all(
        `DELETE FROM queue WHERE paused = 0 AND concurrency IS NULL
         AND NOT EXISTS (SELECT 1 FROM job WHERE job.queue = queue.name) RETURNING name`,
      )
      effect.wrote = gone.length > 0
    })
    return purged
  }
}

/** All queues by name, or the one that is named. Counts the jobs of each in an index: some 10 ms for 100,000. */
function listQueues(connection: SqliteConnection, now: number, only?: string): QueueState[] {
  const queues = connection.all(
    'SELECT name, paused, concurrency FROM queue WHERE ? IS NULL OR name = ? ORDER BY name',
    only ?? null,
    only ?? null,
  )
  return queues.map((row) => {
    const name = textOf(row, 'name')
    const counts = new Map(
      connection
        .all('SELECT state, count(*) AS n FROM job WHERE queue = ? GROUP BY state', name)
        .map((count) => [textOf(count, 'state'), numberOf(count, 'n')]),
    )
    const count = (state: JobState) => counts.get(state) ?? 0
    const oldest = connection.get(
      `SELECT run_at FROM job INDEXED BY job_due
       WHERE queue = ? AND state = 'waiting' AND held = 0 AND run_at <= ? ORDER BY run_at LIMIT 1`,
      name,
      now,
    )
    return {
      name,
      paused: numberOf(row, 'paused') === 1,
      concurrency: typeof row.concurrency === 'number' ? row.concurrency : null,
      waiting: count('waiting'),
      running: count('running'),
      done: count('done'),
      dead: count('dead'),
      oldest: oldest ? numberOf(oldest, 'run_at') : null,
    }
  })
}
