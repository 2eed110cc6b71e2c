import { type Migration, migrate, readMigrations } from '../migrations.ts'
import { numberOf, type PostgresPool, textOf } from './postgres-connection.ts'

/** Any number that no other program on the database is likely to use. */
const LOCK = 7_102_026

export function postgresMigrations(): Promise<readonly Migration[]> {
  return readMigrations(new URL('./migrations/', import.meta.url))
}

/** All steps in one transaction, under a lock that the nodes share: of those that start together one migrates. */
export async function migratePostgres(pool: PostgresPool, steps: readonly Migration[]): Promise<void> {
  const transaction = await pool.transaction()
  try {
    await transaction.rows('SELECT pg_advisory_xact_lock($1)', [LOCK])
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
