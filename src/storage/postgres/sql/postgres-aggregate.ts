/** An aggregate in one statement, besides those that decide free texts. */
import { type Aggregate, MOST_GROUPS } from '../../aggregate/aggregate.ts'
import { checkAggregate } from '../../aggregate/check-aggregate.ts'
import { type Aggregated, finishAggregate, tooManyGroups } from '../../aggregate/finish-aggregate.ts'
import { sql } from '../../search/compiled-sql.ts'
import { EFFORT_ON_POSTGRES, SearchEffort } from '../../search/search-effort.ts'
import type { PostgresConnection } from '../core/rows.ts'
import { compileAggregate, rawGroup } from './compile-aggregate.ts'
import { statement } from './compiled-sql.ts'
import { decideTexts } from './decide-texts.ts'
import type { SearchTarget } from './search-target.ts'

/** Throws INVALID_QUERY. */
export async function aggregateDocuments(
  connection: PostgresConnection,
  target: SearchTarget,
  aggregate: Aggregate,
): Promise<Aggregated> {
  checkAggregate(aggregate)
  const wanted = { query: aggregate.query, includeRemoved: false }
  const decided = await decideTexts(connection, target, wanted, new SearchEffort(EFFORT_ON_POSTGRES))
  const grouped = compileAggregate(target, aggregate, decided)
  const { text, values } = statement(sql`${grouped} LIMIT ${String(MOST_GROUPS + 1)}`)
  const rows = await connection.rows(text, values)
  if (rows.length > MOST_GROUPS) return tooManyGroups
  return finishAggregate(
    aggregate,
    rows.map((row) => rawGroup(aggregate, row)),
  )
}
