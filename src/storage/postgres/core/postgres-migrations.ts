/**
 * The schema's steps on PostgreSQL. In a rolling upgrade the first node of the new version applies them while nodes of the
 * version before go on with the tables (docs/growing.md says what a step must therefore not do).
 *
 * A step that changes a table waits for the transactions that use it, and every later transaction waits behind the step.
 * If that lasted longer than a lease, the older nodes would stop answering. So a step waits a second at most; then all of
 * it is undone, the other transactions go on, and it is tried again.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { type Migration, migrate, readMigrations } from '../../migrations.ts'
import type { PostgresPool } from './postgres-connection.ts'
import { isLocked } from './postgres-errors.ts'
import { numberOf, textOf } from './rows.ts'

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
