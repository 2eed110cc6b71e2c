/**
 * What transactions have written, noted by the database itself for the storages that have the trigger: so no writer can leave
 * it out, neither one of an older version nor one by hand. A node asks what has come since a snapshot.
 *
 * Rows and not a counter: one row that all writers raise would let them wait for each other, and a serializable run fail.
 * A noted write costs the database one more insert for each document, into a table without a log.
 */

import { numberOf, type PostgresConnection, textOf } from '../core/rows.ts'
import { MOST_NOTED } from '../sql/noted-moment.ts'

export interface LaterWrites {
  /** Of the moment of the answer, as PostgreSQL writes it. */
  readonly snapshot: string
  /** Another one after the notes were lost; undefined: they were, just now. */
  readonly life: string | undefined
  /** Storage and guid of each document that a transaction has written which the earlier snapshot does not show. */
  readonly written: readonly (readonly [storage: number, guid: string])[] | 'too many'
}

/** What was written since a snapshot; nothing if none is given. In one statement, so of the moment of the new snapshot. */
export async function laterWrites(
  connection: PostgresConnection,
  since: string | undefined,
): Promise<LaterWrites> {
  const [row = {}] = await connection.rows(LATER_WRITES, [since ?? null])
  const written = row.written === null ? [] : writtenOf(JSON.parse(textOf(row, 'written')))
  return {
    snapshot: textOf(row, 'snapshot'),
    life: row.life === null ? undefined : textOf(row, 'life'),
    written: numberOf(row, 'looked') === MOST_NOTED ? 'too many' : written,
  }
}

/** A transaction that the snapshot shows has a number below its xmin, or is not among those that were under way. */
const LATER_WRITES = `
  WITH later AS MATERIALIZED (
    SELECT xid, storage, guid FROM noted_write WHERE xid >= pg_snapshot_xmin($1::pg_snapshot) ORDER BY xid LIMIT ${MOST_NOTED}),
  unseen AS MATERIALIZED (
    SELECT DISTINCT storage, guid FROM later WHERE NOT pg_visible_in_snapshot(xid, $1::pg_snapshot))
  SELECT pg_current_snapshot()::text AS snapshot,
    (SELECT life::text FROM noted_write_life) AS life,
    (SELECT count(*) FROM later) AS looked,
    (SELECT json_agg(json_build_array(storage, guid))::text FROM unseen) AS written`

/** Lets nodes see by a new life that notes were lost. Whichever node comes first makes it. */
export async function beginLife(connection: PostgresConnection): Promise<void> {
  await connection.run('INSERT INTO noted_write_life DEFAULT VALUES ON CONFLICT DO NOTHING')
}

function writtenOf(value: unknown): (readonly [number, string])[] {
  if (!Array.isArray(value)) throw new TypeError('Noted writes are no list.')
  return value.map((one: unknown) => {
    const [storage, guid] = Array.isArray(one) ? one : []
    if (typeof storage !== 'number' || typeof guid !== 'string')
      throw new TypeError('A noted write has no storage.')
    return [storage, guid] as const
  })
}
