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
export function isUnchanged({ id }: Pick<SearchTarget, 'id'>, { snapshot, life }: NotedMoment): CompiledSql {
  const since = sql`${value(snapshot)}::pg_snapshot`
  const unseen = sql`storage = ${value(id)} AND NOT pg_visible_in_snapshot(xid, ${since})`
  const later = sql`SELECT xid, storage FROM noted_write WHERE xid >= pg_snapshot_xmin(${since}) ORDER BY xid LIMIT ${value(MOST_NOTED)}`
  const few = sql`count(*) < ${value(MOST_NOTED)}`
  return sql`(SELECT count(*) FILTER (WHERE ${unseen}) = 0 AND ${few} FROM (${later}) AS later) AND (SELECT life::text FROM noted_write_life) = ${value(life)}`
}
