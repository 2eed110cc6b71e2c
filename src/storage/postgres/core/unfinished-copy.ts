/**
 * The mark of a copy: that everything of an embedded Quoin is being copied into this database (`storage/copy`), or was.
 *
 * The table exists only where a copy was begun; it belongs to no step of the schema. A node first joins and then looks for
 * the mark; a copy first sets the mark and then looks for nodes. So one of the two always sees the other.
 */
import { QuoinError } from '../../../shared/errors.ts'
import { type PostgresConnection, textOf } from './rows.ts'

export interface Copy {
  /** What the embedded database is known by. */
  readonly source: string
  /** Where it was, for people. */
  readonly folder: string
  /** ISO dates. */
  readonly begun: string
  readonly finished: string | undefined
}

/** undefined if nothing was ever copied into this database. */
export async function readCopy(connection: PostgresConnection): Promise<Copy | undefined> {
  const [table] = await connection.rows(`SELECT to_regclass('copied_from') IS NOT NULL AS there`)
  if (table?.there !== true) return undefined
  const date = (column: string) =>
    `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS ${column}`
  const [row] = await connection.rows(
    `SELECT source, folder, ${date('begun')}, ${date('finished')} FROM copied_from`,
  )
  return (
    row && {
      source: textOf(row, 'source'),
      folder: textOf(row, 'folder'),
      begun: textOf(row, 'begun'),
      finished: row.finished === null ? undefined : textOf(row, 'finished'),
    }
  )
}

/** Sets the mark of a copy that is not finished, if there is none. False when there is one. */
export async function beginCopy(
  connection: PostgresConnection,
  source: string,
  folder: string,
): Promise<boolean> {
  await connection.run(`CREATE TABLE IF NOT EXISTS copied_from (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), source text NOT NULL, folder text NOT NULL,
    begun timestamptz NOT NULL DEFAULT now(), finished timestamptz)`)
  const insert = 'INSERT INTO copied_from (source, folder) VALUES ($1, $2) ON CONFLICT DO NOTHING'
  return (await connection.run(insert, [source, folder])) > 0
}

export async function finishCopy(connection: PostgresConnection): Promise<void> {
  await connection.run('UPDATE copied_from SET finished = now()')
}

/** Takes back a mark under which nothing was copied. */
export async function forgetCopy(connection: PostgresConnection): Promise<void> {
  await connection.run('DELETE FROM copied_from')
}

/** Throws UNAVAILABLE when half of a Quoin is in this database: to be asked by a node that has joined. */
export async function refuseUnfinishedCopy(connection: PostgresConnection): Promise<void> {
  const copy = await readCopy(connection)
  if (copy === undefined || copy.finished !== undefined) return
  throw new QuoinError(
    'UNAVAILABLE',
    `This database holds an unfinished migration from ${copy.folder}, begun ${copy.begun}. Run quoin migrate again until it says that it is done, then start the nodes.`,
  )
}
