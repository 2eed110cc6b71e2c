/**
 * The database that is copied into. It must be empty, or hold what an unfinished copy of the same source has left; nothing
 * is ever written over anything else. While the copy goes on no node can start on it (see postgres/unfinished-copy.ts).
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../../shared/clock.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { Random } from '../../shared/guid.ts'
import { unreachable } from '../postgres/core/check-server.ts'
import { openPostgresPool } from '../postgres/core/postgres-connection.ts'
import { openPostgresParts, type PostgresParts } from '../postgres/core/postgres-parts.ts'
import type { PostgresConnection } from '../postgres/core/rows.ts'
import { beginCopy, type Copy, forgetCopy, readCopy } from '../postgres/core/unfinished-copy.ts'
import { LEASE_MS } from '../postgres/nodes/node-rows.ts'
import type { CopySource } from './copy-source.ts'

export interface TargetOptions {
  /** Straight to PostgreSQL, past a pooler. */
  readonly url: string
  readonly clock: Clock
  readonly random: Random
  readonly version: string
}

/** One for the lock, one for the transaction under it, and as many for single statements. */
const CONNECTIONS = 4
const LOOK_MS = 200

/** Marks the database as being copied into. Throws CONFLICT when it holds anything else, or nodes are running on it. */
export async function openCopyTarget(source: CopySource, options: TargetOptions): Promise<PostgresParts> {
  const before = await inspect(source, options.url)
  const { url, clock, random, version } = options
  const postgres = await openPostgresParts({
    url,
    clock,
    random,
    connections: CONNECTIONS,
    entity: 1,
    // Tells the next run that this one has ended, if it is killed.
    directory: source.directory,
    node: { name: 'quoin migrate', version },
    monotonic: () => performance.now(),
    wall: Date.now,
    load: () => 0,
    filling: true,
  })
  try {
    await beginCopy(postgres.pool, source.id, source.directory)
    // Another process may have begun a copy since.
    check(await readCopy(postgres.pool), source)
    // Again if another process gave up its copy and took the mark back.
    do {
      await awaitOthers(postgres).catch(async (error: unknown) => {
        if (before === undefined) await forgetCopy(postgres.pool)
        throw error
      })
    } while (await beginCopy(postgres.pool, source.id, source.directory))
    return postgres
  } catch (error) {
    await postgres.close()
    throw error
  }
}

/** Runs before anything is opened that would update the schema of a database that belongs to another Quoin. */
async function inspect(source: CopySource, url: string): Promise<Copy | undefined> {
  const pool = openPostgresPool({ url, connections: 2, pooled: false })
  try {
    const copy = await readCopy(pool).catch((error: unknown) => {
      throw unreachable(url, error)
    })
    if (copy !== undefined) check(copy, source)
    else if (await holdsData(pool))
      throw new QuoinError(
        'CONFLICT',
        'The database already holds data of a Quoin, and nothing is written over it. Make a new one (CREATE DATABASE …) and copy into that.',
      )
    return copy
  } finally {
    await pool.close()
  }
}

function check(copy: Copy | undefined, source: CopySource): void {
  if (copy?.source === source.id && copy.finished === undefined) return
  if (copy?.source === source.id)
    throw new QuoinError(
      'CONFLICT',
      `The migration from this folder into this database was finished ${copy.finished}; nothing is copied again. Start the nodes, or copy into a new database.`,
    )
  const state = copy?.finished === undefined ? 'an unfinished migration' : 'a migration'
  throw new QuoinError(
    'CONFLICT',
    `The database holds ${state} from another source (${copy?.folder}), and nothing is written over it. Make a new one (CREATE DATABASE …) and copy into that.`,
  )
}

async function holdsData(connection: PostgresConnection): Promise<boolean> {
  for (const table of ['storage', 'job', 'queue']) {
    const [known] = await connection.rows('SELECT to_regclass($1) IS NOT NULL AS there', [table])
    if (known?.there !== true) continue
    if ((await connection.rows(`SELECT 1 FROM ${table} LIMIT 1`)).length > 0) return true
  }
  return false
}

/** A node that has ended without a word has its lease for some seconds. */
async function awaitOthers({ cluster }: PostgresParts): Promise<void> {
  const late = performance.now() + LEASE_MS + 1_000
  for (;;) {
    const others = (await cluster.nodes()).filter(({ live, self }) => live && !self)
    if (others.length === 0) return
    if (performance.now() > late) {
      const names = others.map(({ name }) => name).join(', ')
      throw new QuoinError('CONFLICT', `The database is in use by ${names}. Stop what runs on it first.`)
    }
    await wait(LOOK_MS)
  }
}
