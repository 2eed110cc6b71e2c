/** The moment of a statement, and whether a storage was written since, for results that are given again. */
import { type CompiledSql, sql } from '../../search/compiled-sql.ts'
import type { Row } from '../core/rows.ts'
import { value } from './compiled-sql.ts'
import type { SearchTarget } from './search-target.ts'

export interface NotedMoment {
  /** As PostgreSQL writes it. */
  readonly snapshot: string
  /** Another one after the notes were lost. */
  readonly life: string
}

/** Noted writes that are looked at. More have come where nothing was asked for long, or a transaction is open for long. */
export const MOST_NOTED = 5_000

/** Two columns. */
export const NOTED_MOMENT = sql`pg_current_snapshot()::text AS snapshot, (SELECT life::text FROM noted_write_life) AS life`

/** undefined where the notes were lost. */
export function momentIn({ snapshot, life }: Row): NotedMoment | undefined {
  return typeof snapshot === 'string' && typeof life === 'string' ? { snapshot, life } : undefined
}

/** Whether no write to the storage was committed since that this statement would see. */
export function isUnchanged(target: Pick<SearchTarget, 'id'>, moment: NotedMoment): CompiledSql {
  const few = sql`count(*) < ${value(MOST_NOTED)}`
  return sql`(SELECT count(*) FILTER (WHERE ${isUnseen(target, moment)}) = 0 AND ${few} FROM (${notedSince(moment)}) AS later) AND ${isSameLife(moment)}`
}

/** Writes to all storages of which some were committed since: `xid`, `storage` and `guid`. Of {@link MOST_NOTED} there may be more. */
export function notedSince({ snapshot }: NotedMoment): CompiledSql {
  return sql`SELECT xid, storage, guid FROM noted_write WHERE xid >= pg_snapshot_xmin(${value(snapshot)}::pg_snapshot) ORDER BY xid LIMIT ${value(MOST_NOTED)}`
}

/** Of a row of {@link notedSince}: that it is of the storage, and was committed since. */
export function isUnseen({ id }: Pick<SearchTarget, 'id'>, { snapshot }: NotedMoment): CompiledSql {
  return sql`storage = ${value(id)} AND NOT pg_visible_in_snapshot(xid, ${value(snapshot)}::pg_snapshot)`
}

/** Whether the notes were not lost since. */
export function isSameLife({ life }: NotedMoment): CompiledSql {
  return sql`(SELECT life::text FROM noted_write_life) = ${value(life)}`
}
