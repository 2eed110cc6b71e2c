/** Opens what a PostgreSQL storage stands on: the pools, the tables, the catalogue, and this node's place in the cluster. */

import { setTimeout as wait } from 'node:timers/promises'
import { guidSource, pooledRandom } from '../../../shared/guid.ts'
import { lastTime, type StampOptions, stamps } from '../../document-session.ts'
import { type Migration, migrate, readMigrations } from '../../migrations.ts'
import { type SlowLimits, searchAdvisor, slowLimits } from '../../search/search-advisor.ts'
import { PostgresJobs } from '../jobs/postgres-jobs.ts'
import { JOB_CHANNEL, JobEvents, PostgresQueues } from '../jobs/postgres-jobs-queues.ts'
import type { LeaseClocks } from '../nodes/lease-clock.ts'
import { type NodeFolder, openNodeFolder } from '../nodes/node-folder.ts'
import { APPLIED_CHANNEL, CHANGE_CHANNEL, leaveNode } from '../nodes/node-rows.ts'
import { openLeaseConnection, openNotifications } from '../nodes/notifications.ts'
import { PostgresCluster } from '../nodes/postgres-cluster.ts'
import { batchedReads } from './batched-reads.ts'
import { checkServer, startProblem } from './check-server.ts'
import { clusterLock, type WithClusterLock, WritesUnderWay } from './cluster-lock.ts'
import { PostgresCatalogue, type StorageEntry } from './postgres-catalogue.ts'
import { openPostgresPool, type PostgresPool } from './postgres-connection.ts'
import { isLocked } from './postgres-errors.ts'
import type { SessionParts } from './postgres-session.ts'
import { rowTurns } from './row-turns.ts'
import { numberOf, type PostgresConnection, textOf } from './rows.ts'
import { refuseUnfinishedCopy } from './unfinished-copy.ts'

export interface PostgresOptions extends StampOptions, LeaseClocks {
  readonly url: string
  /** Past a pooler, for messages; `url` if not given. */
  readonly listenUrl?: string
  /** Connections of the node besides the one for messages: at least 2. */
  readonly connections: number
  /** As the other nodes see this one. */
  readonly node: { readonly name: string; readonly version: string }
  /** This node's own, where a start finds that the node before it has ended. Without it that one's lease is waited for. */
  readonly directory?: string
  /** 0 to 1. */
  readonly load: () => number
  /** Gets the errors of work that no caller waits for. */
  readonly report?: (error: unknown) => void
  /** Told what administrators have to know of the database and its clocks. */
  readonly notice?: (message: string, isDamaged: boolean) => void
  readonly slowSearches?: SlowLimits
  /** Steps of the schema; those of this version if not given. For tests, which play the next version. */
  readonly migrations?: readonly Migration[]
  /** Only for the copy of another Quoin into this database (`storage/copy`). */
  readonly filling?: true
}

export interface PostgresParts extends Omit<SessionParts, 'totals' | 'aggregates' | 'words'> {
  readonly queues: PostgresQueues
  readonly withClusterLock: WithClusterLock
  /** Leaves the cluster, and lets go of the connections. */
  close(): Promise<void>
}

/** What the catalogue's changes are announced under; no storage has such a name. */
export const CATALOGUE = 'catalogue'

/** Throws UNAVAILABLE when the database does not answer, is not fit, or was made by a newer Quoin. */
export async function openPostgresParts(options: PostgresOptions): Promise<PostgresParts> {
  const pool = openPostgresPool({
    ...options,
    pooled: options.listenUrl !== undefined,
    patient: options.filling,
  })
  const lease = openLeaseConnection(options.listenUrl ?? options.url)
  let folder: NodeFolder | undefined
  try {
    await checkServer(pool, options.url)
    await migratePostgres(pool, options.migrations ?? (await postgresMigrations()))
    const random = pooledRandom(options.random)
    const newGuid = guidSource(options.clock, random)
    const catalogue = new PostgresCatalogue(pool.reading)
    const { clock } = options
    const news = new JobEvents(pool, newGuid())
    const jobs = new PostgresJobs({ pool, clock, guid: newGuid, news })
    const queues = new PostgresQueues({ pool, clock, news })
    const guid = newGuid()
    // Before the node joins the cluster: a process that finds the guid in the folder finds it in the cluster or nowhere.
    folder = options.directory === undefined ? undefined : await openNodeFolder(options.directory, guid)
    if (folder?.ended !== undefined) await leaveNode(pool, folder.ended)
    const cluster = new PostgresCluster({
      connection: pool,
      reading: pool.reading,
      lease,
      node: { guid, ...options.node },
      clocks: options,
      load: options.load,
      ...(options.report && { report: options.report }),
      ...(options.notice && { notice: options.notice }),
    })
    const writes = new WritesUnderWay()
    cluster.watch(CATALOGUE, async () => {
      if (await catalogue.reload()) await writes.settled()
    })
    await catalogue.reload()
    const newest = await newestTime(pool.reading, catalogue.all())
    const last = lastTime(newest, clock(), (message) => options.notice?.(message, false))
    await cluster.open()
    if (!options.filling)
      await refuseUnfinishedCopy(pool).catch(async (error: unknown) => {
        await cluster.close().catch(() => undefined)
        throw error
      })
    const notifications = openNotifications(
      options.listenUrl ?? options.url,
      [CHANGE_CHANNEL, APPLIED_CHANNEL, JOB_CHANNEL],
      (channel, from) => {
        if (channel === undefined || channel === JOB_CHANNEL) news.heard(from)
        if (channel !== JOB_CHANNEL) cluster.hear(channel)
      },
    )
    return {
      pool,
      catalogue,
      cluster,
      jobs,
      queues,
      observers: new Map(),
      writes,
      ...{ rows: rowTurns(), clock },
      gets: batchedReads(pool.reading),
      // Four times the embedded engine's: the way to the server and back, and waiting for a connection, count too.
      advisor: searchAdvisor(options.clock, options.slowSearches ?? { ...slowLimits, milliseconds: 20 }),
      stamps: stamps({ ...options, random, last }),
      withClusterLock: clusterLock(pool),
      async close() {
        await notifications.close()
        await cluster.close().catch((error: unknown) => options.report?.(error))
        await Promise.all([pool.close(), lease.close()])
        folder?.close()
      },
    }
  } catch (error) {
    await Promise.all([pool.close(), lease.close()])
    folder?.close()
    throw startProblem(options.url, error)
  }
}

/** Tables in one statement: planning it takes most of a millisecond for each on a new connection, which reads their indexes. */
const MOST_TABLES = 200

/** The time of the newest document, by one look at an index for each storage whose file is not empty. */
async function newestTime(
  connection: PostgresConnection,
  entries: readonly StorageEntry[],
): Promise<number | undefined> {
  const filled = await connection.rows(
    // One that is divided into partitions has no file of its own. The size is asked for what is joined, not for each relation.
    `SELECT name FROM unnest($1::text[]) AS name JOIN pg_class ON pg_class.oid = to_regclass(name)
      WHERE relkind = 'p' OR pg_relation_size(to_regclass(name)) > 0`,
    [entries.map(({ table }) => table)],
  )
  const times: number[] = []
  for (let at = 0; at < filled.length; at += MOST_TABLES) {
    const looks = filled
      .slice(at, at + MOST_TABLES)
      .map(({ name }) => `SELECT max(created) AS time FROM ${name} WHERE removed = 0`)
    const rows = await connection.rows(
      `SELECT max(time) AS time FROM (${looks.join(' UNION ALL ')}) AS newest`,
    )
    for (const row of rows) if (row.time !== null) times.push(numberOf(row, 'time'))
  }
  return times.length === 0 ? undefined : Math.max(...times)
}

// The schema's steps on PostgreSQL. In a rolling upgrade the first node of the new version applies them while nodes of the
// version before go on with the tables (docs/growing.md says what a step must therefore not do).
//
// A step that changes a table waits for the transactions that use it, and every later transaction waits behind the step.
// If that lasted longer than a lease, the older nodes would stop answering. So a step waits a second at most; then all of
// it is undone, the other transactions go on, and it is tried again.

/** Any number that no other program on the database is likely to use. */
const LOCK = 7_102_026
/** Far below the lease of a node. */
const LOCK_MS = 1_000
const PAUSE_MS = 250
const TRIES = 30

export function postgresMigrations(): Promise<readonly Migration[]> {
  return readMigrations(new URL('./migrations/', import.meta.url))
}

/** All steps in one transaction, under a lock that the nodes share: of those that start together one migrates. */
export async function migratePostgres(pool: PostgresPool, steps: readonly Migration[]): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await migrateOnce(pool, steps)
      return
    } catch (error) {
      if (!isLocked(error) || tries === TRIES) throw error
    }
    await wait(PAUSE_MS)
  }
}

async function migrateOnce(pool: PostgresPool, steps: readonly Migration[]): Promise<void> {
  const transaction = pool.transaction()
  try {
    await transaction.rows('SELECT pg_advisory_xact_lock($1)', [LOCK])
    // From here on: another node that migrates is waited for.
    await transaction.script(`SET LOCAL lock_timeout = ${LOCK_MS}`)
    await migrate(steps, {
      async applied() {
        await transaction.run(`CREATE TABLE IF NOT EXISTS migration (
          number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied timestamptz NOT NULL DEFAULT now())`)
        const rows = await transaction.rows('SELECT number, checksum FROM migration ORDER BY number')
        return rows.map((row) => ({ number: numberOf(row, 'number'), checksum: textOf(row, 'checksum') }))
      },
      async apply(step) {
        await transaction.script(step.sql)
        await transaction.run('INSERT INTO migration (number, name, checksum) VALUES ($1, $2, $3)', [
          step.number,
          step.name,
          step.checksum,
        ])
      },
    })
    await transaction.commit()
  } catch (error) {
    await transaction.rollback()
    throw error
  }
}
