/** The page of a search whose best hits are known, and whether nothing was written since the moment of which they are. */
import type { Search } from '../../../shared/query.ts'
import { type CompiledSql, sql } from '../../search/compiled-sql.ts'
import { numberOf, type PostgresConnection, textOf } from '../core/rows.ts'
import { numbers, oneRow, texts, value } from '../sql/compiled-sql.ts'
import { isUnchanged, type NotedMoment } from '../sql/noted-moment.ts'
import { whereSql } from '../sql/postgres-query.ts'
import { UNDECIDED } from '../sql/search-plan.ts'
import type { SearchTarget } from '../sql/search-target.ts'
import type { RankedHit } from './rank-in-memory.ts'

export interface PageHits {
  readonly hits: readonly RankedHit[]
  /** Of which they are. */
  readonly moment: NotedMoment
}

export interface RankedPage {
  /** A JSON array. */
  readonly documents: string
  readonly length: number
}

/** undefined: something was written since. */
export async function rankedPage(
  connection: PostgresConnection,
  target: SearchTarget,
  search: Search,
  found: PageHits,
): Promise<RankedPage | undefined> {
  const row = await oneRow(connection, pageSql(target, search, found))
  if (row.same !== true) return undefined
  return { documents: textOf(row, 'documents'), length: numberOf(row, 'length') }
}

function pageSql(target: SearchTarget, search: Search, { hits, moment }: PageHits): CompiledSql {
  const guids = texts(hits.map(({ guid }) => guid))
  const scores = numbers(
    hits.map(({ score }) => score),
    'float8',
  )
  const where = whereSql(
    { target, decided: UNDECIDED, plain: new Set() },
    search.query,
    search.includeRemoved,
  )
  const page = sql`SELECT doc FROM unnest(${guids}, ${scores}) AS scored(scored_guid, score) JOIN ${target.table} ON guid = scored_guid
    WHERE ${where} ORDER BY score DESC, created DESC, guid DESC LIMIT ${value(search.limit)} OFFSET ${value(search.offset)}`
  return sql`SELECT '[' || coalesce(string_agg(doc::text, ','), '') || ']' AS documents, count(*)::integer AS length, ${isUnchanged(target, moment)} AS same FROM (${page}) AS page`
}
