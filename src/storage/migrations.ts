/**
 * Brings a database's own tables (not the builders' documents) to the shape that this version of Quoin needs. Steps are
 * files `0001-what-it-does.sql`, numbered without gaps. A step that has been released never changes: its checksum is kept
 * with the database. A difference stops the start, since the shape of the tables would then be unknown.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { QuoinError } from '../shared/errors.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'

export interface Migration {
  readonly number: number
  /** File name. */
  readonly name: string
  readonly sql: string
  /** SHA-256 of the SQL, in hex. */
  readonly checksum: string
}

export interface AppliedMigration {
  readonly number: number
  readonly checksum: string
}

/** What an engine gives the runner. A caller that other processes can meet here holds a lock around {@link migrate}. */
export interface MigrationTarget {
  /** The steps that the database has, by number. Makes the table that holds them if there is none. */
  applied(): MaybePromise<readonly AppliedMigration[]>
  /** Runs a step and notes it, with the time, in one transaction. */
  apply(step: Migration): MaybePromise<void>
}

export async function readMigrations(folder: URL): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name, index) => {
      const number = Number(/^(\d{4})-/.exec(name)?.[1])
      if (number !== index + 1) throw new Error(`The migration ${name} should have the number ${index + 1}.`)
      const sql = await readFile(new URL(name, folder), 'utf8')
      return { number, name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

/** Applies what is missing, in order. Throws UNAVAILABLE, having changed nothing, if the database is not one of ours. */
export async function migrate(steps: readonly Migration[], target: MigrationTarget): Promise<void> {
  const applied = await target.applied()
  for (const { number, checksum } of applied) {
    const step = steps[number - 1]
    if (step === undefined)
      throw new QuoinError(
        'UNAVAILABLE',
        `The database was made by a newer Quoin: it has schema ${number}, this version knows ${steps.length}. Start the newer version, or restore a backup.`,
      )
    if (step.checksum !== checksum)
      throw new QuoinError(
        'UNAVAILABLE',
        `The migration ${step.name} is not the one that this database was made with. Restore the file, or a backup.`,
      )
  }
  for (const step of steps.slice(applied.length)) await target.apply(step)
}
