import type { Index } from '../../document-index.ts'
import { type CompiledSql, sql } from '../../search/compiled-sql.ts'
import type { Row } from '../core/rows.ts'
import { type KeyColumns, value } from './field-sql.ts'

/** What a search runs on. */
export interface SearchTarget {
  readonly id: number
  readonly table: string
  /** Whether `tokens` and `token_count` of all documents are filled. */
  readonly textReady: boolean
  /** Whether the database notes each write (`cache/change-log.ts`). */
  readonly noted: boolean
  /** Another storage. */
  readonly other?: ((storage: string) => SearchTarget | undefined) | undefined
  /** Of these fields all documents have key columns. */
  readonly columns: KeyColumns
  /** Those that are there and valid, by name. */
  readonly indexes: ReadonlyMap<string, Index>
}

// The moment of a statement, and whether a storage was written since, for results that are given again.

export interface Snapshot {
  /** As PostgreSQL writes it. */
  readonly snapshot: string
  /** Another one after the notes were lost. */
  readonly epoch: string
}

/** Noted writes that are looked at. More have come where nothing was asked for long, or a transaction is open for long. */
export const MAX_CHANGES = 5_000

/** Two columns. */
export const SNAPSHOT_COLUMNS = sql`pg_current_snapshot()::text AS snapshot, (SELECT life::text FROM noted_write_life) AS epoch`

/** undefined where the notes were lost. */
export function snapshotIn({ snapshot, epoch }: Row): Snapshot | undefined {
  return typeof snapshot === 'string' && typeof epoch === 'string' ? { snapshot, epoch } : undefined
}

/** Whether no write to the storage was committed since that this statement would see. */
export function isUnchanged(target: Pick<SearchTarget, 'id'>, moment: Snapshot): CompiledSql {
  const few = sql`count(*) < ${value(MAX_CHANGES)}`
  return sql`(SELECT count(*) FILTER (WHERE ${isUnseen(target, moment)}) = 0 AND ${few} FROM (${changesSince(moment)}) AS later) AND ${isSameEpoch(moment)}`
}

/** Writes to all storages of which some were committed since: `xid`, `storage` and `guid`. Of {@link MAX_CHANGES} there may be more. */
export function changesSince({ snapshot }: Snapshot): CompiledSql {
  return sql`SELECT xid, storage, guid FROM noted_write WHERE xid >= pg_snapshot_xmin(${value(snapshot)}::pg_snapshot) ORDER BY xid LIMIT ${value(MAX_CHANGES)}`
}

/** Of a row of {@link changesSince}: that it is of the storage, and was committed since. */
export function isUnseen({ id }: Pick<SearchTarget, 'id'>, { snapshot }: Snapshot): CompiledSql {
  return sql`storage = ${value(id)} AND NOT pg_visible_in_snapshot(xid, ${value(snapshot)}::pg_snapshot)`
}

/** Whether the notes were not lost since. */
export function isSameEpoch({ epoch }: Snapshot): CompiledSql {
  return sql`(SELECT life::text FROM noted_write_life) = ${value(epoch)}`
}
