import type { Clock } from '../../../shared/clock.ts'
import { type Migration, migrate, readMigrations } from '../../migrations.ts'
import { numberOf, type SqliteConnection, textOf } from './sqlite-connection.ts'

export function sqliteMigrations(): Promise<readonly Migration[]> {
  return readMigrations(new URL('./migrations/', import.meta.url))
}

/** The directory's lock is held, so no other process migrates at the same time. */
export async function migrateSqlite(
  connection: SqliteConnection,
  steps: readonly Migration[],
  clock: Clock,
): Promise<void> {
  await migrate(steps, {
    applied() {
      connection.exec(`CREATE TABLE IF NOT EXISTS migration (
        number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied INTEGER NOT NULL
      ) STRICT`)
      return connection
        .all('SELECT number, checksum FROM migration ORDER BY number')
        .map((row) => ({ number: numberOf(row, 'number'), checksum: textOf(row, 'checksum') }))
    },
    apply(step) {
      connection.exec('BEGIN IMMEDIATE')
      try {
        connection.exec(step.sql)
        connection.run(
          'INSERT INTO migration (number, name, checksum, applied) VALUES (?, ?, ?, ?)',
          step.number,
          step.name,
          step.checksum,
          Math.floor(clock() / 1000),
        )
        connection.exec('COMMIT')
      } catch (error) {
        if (connection.inTransaction) connection.exec('ROLLBACK')
        throw error
      }
    },
  })
}
