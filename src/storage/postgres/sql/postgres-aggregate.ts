/**
 * An aggregate as one SQL statement that gives a row for each group. Sums are of `numeric`, from the text of each JSON number, so
 * they are exact.
 */
import { type Aggregate, MOST_GROUPS } from '../../aggregate/aggregate.ts'
import { checkAggregate } from '../../aggregate/check-aggregate.ts'
import { type Aggregated, finishAggregate, tooManyGroups } from '../../aggregate/finish-aggregate.ts'
import { type CompiledSql, sql } from '../../search/compiled-sql.ts'
import { EFFORT_OF_A_SEARCH, SearchEffort } from '../../search/search-effort.ts'
import type { PostgresConnection } from '../core/rows.ts'
import { type CellColumn, cellColumns, cellOf } from './aggregate-cells.ts'
import { type GroupColumn, groupColumn, keyOf } from './aggregate-groups.ts'
import { aggregateFields, aggregateSource } from './aggregate-source.ts'
import { statement } from './compiled-sql.ts'
import { decideTexts } from './decide-texts.ts'
import type { Decisions } from './search-plan.ts'
import type { SearchTarget } from './search-target.ts'

/** Throws INVALID_QUERY. */
export async function aggregateDocuments(
  connection: PostgresConnection,
  target: SearchTarget,
  aggregate: Aggregate,
): Promise<Aggregated> {
  checkAggregate(aggregate)
  const decided = await decideTexts(connection, target, aggregate.query, new SearchEffort(EFFORT_OF_A_SEARCH))
  const { text, values } = statement(compileAggregate(target, aggregate, decided))
  const rows = await connection.rows(text, values)
  if (rows.length > MOST_GROUPS) return tooManyGroups
  return finishAggregate(
    aggregate,
    rows.map((row) => ({
      keys: aggregate.groups.map((group, at) => keyOf(row, group, at)),
      cells: aggregate.values.map((measure, at) => cellOf(row, measure, at)),
    })),
  )
}

/** Columns: `k0`, `k1` … are the keys of a group, and those of its cells. */
function compileAggregate(target: SearchTarget, aggregate: Aggregate, decided: Decisions): CompiledSql {
  const fields = aggregateFields(aggregate)
  const cells = aggregate.values.flatMap((measure, at) =>
    cellColumns(measure.field === undefined ? undefined : fields.json(measure.field), measure, at),
  )
  const mayMerge = cells.every(({ merged }) => merged !== undefined)
  const groups = aggregate.groups.map((group) => groupColumn(group, fields.column(group.field), mayMerge))
  const source = aggregateSource(target, aggregate, fields, decided)
  const grouped = groups.some(({ key }) => key !== undefined)
    ? mergedSql(groups, cells, source)
    : groupedSql(groups, cells, sql`(${source}) AS documents`, sent)
  return sql`${grouped} LIMIT ${String(MOST_GROUPS + 1)}`
}

const sent = ({ sent: shown = (figure) => figure }: CellColumn, figure: string) => shown(figure)

/** Documents by their buckets, then those by their keys. */
function mergedSql(
  groups: readonly GroupColumn[],
  cells: readonly CellColumn[],
  source: CompiledSql,
): CompiledSql {
  const buckets = groupedSql(groups, cells, sql`(${source}) AS documents`, (_, figure) => figure)
  const keys = groups.map(({ key }, at): GroupColumn => {
    const bucket = `k${at}`
    return { bucket: key ? key(bucket) : { sql: bucket, parameters: [] }, key: undefined }
  })
  const merged = cells.map((cell) => ({ ...cell, of: cell.merged ?? cell.of }))
  // `OFFSET 0`: the key of a bucket is for the groups of these, and not for each document.
  return groupedSql(keys, merged, sql`(${buckets} OFFSET 0) AS buckets`, sent)
}

function groupedSql(
  groups: readonly GroupColumn[],
  cells: readonly CellColumn[],
  source: CompiledSql,
  shown: (cell: CellColumn, figure: string) => string,
): CompiledSql {
  const columns = [
    ...groups.map(({ bucket }, at) => sql`${bucket} AS k${String(at)}`),
    ...cells.map((cell): CompiledSql => ({ sql: `${shown(cell, cell.of)} AS ${cell.name}`, parameters: [] })),
  ]
  const by = groups.length === 0 ? '' : ` GROUP BY ${groups.map((_, at) => at + 1).join(', ')}`
  return sql`SELECT ${list(columns)} FROM ${source}${by}`
}

function list(parts: readonly CompiledSql[]): CompiledSql {
  const [first, ...rest] = parts
  return first ? rest.reduce((joined, part) => sql`${joined}, ${part}`, first) : sql``
}
