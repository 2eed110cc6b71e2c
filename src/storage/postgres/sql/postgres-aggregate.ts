/** An aggregate in one statement, besides those that decide free texts. */
import { type Aggregate, MOST_GROUPS } from '../../aggregate/aggregate.ts'
import { checkAggregate } from '../../aggregate/check-aggregate.ts'
import {
  type Aggregated,
  finishAggregate,
  type RawGroup,
  tooManyGroups,
} from '../../aggregate/finish-aggregate.ts'
import { type CompiledSql, sql } from '../../search/compiled-sql.ts'
import { EFFORT_ON_POSTGRES, SearchEffort } from '../../search/search-effort.ts'
import type { PostgresConnection, Row } from '../core/rows.ts'
import { type CellColumn, cellColumns, cellOf } from './aggregate-cells.ts'
import { type GroupColumn, groupColumn, keyOf } from './aggregate-groups.ts'
import { type AggregateFields, aggregateFields, aggregateSource, askedOf } from './aggregate-source.ts'
import { decideTexts } from './decide-texts.ts'
import { FALSE_KEY, statement, TRUE_KEY } from './field-sql.ts'
import { type Decisions, question } from './search-plan.ts'
import type { SearchTarget } from './search-target.ts'

// An aggregate as a query that gives a row for each group. Sums are of `numeric`, from the text of each JSON number, so they are exact.

/**
 * Columns: `k0`, `k1` … are the keys of a group, and those of its cells.
 * Both forms stand there (`search-plan.ts`); one is carried out. `OFFSET 0` keeps the choice outside of each: the other one then
 * does not begin, and starts no workers, which took 15 ms.
 */
function compileAggregate(target: SearchTarget, aggregate: Aggregate, decided: Decisions): CompiledSql {
  const fields = aggregateFields(aggregate, target.columns)
  const asked = askedOf(target, aggregate, fields)
  const exact = groupsSql(target, aggregate, { fields, decided, plain: new Set() })
  if (asked.length === 0) return exact
  const plain = groupsSql(target, aggregate, { fields, decided, plain: new Set(asked) })
  return sql`WITH asked AS MATERIALIZED (SELECT ${question(target, asked)} AS plain)
    SELECT * FROM (${plain} OFFSET 0) AS plain_groups WHERE (SELECT plain FROM asked)
    UNION ALL SELECT * FROM (${exact} OFFSET 0) AS exact_groups WHERE (SELECT NOT plain FROM asked)`
}

function groupsSql(
  target: SearchTarget,
  aggregate: Aggregate,
  form: {
    readonly fields: AggregateFields
    readonly decided: Decisions
    readonly plain: ReadonlySet<string>
  },
): CompiledSql {
  const { fields } = form
  const cells = aggregate.values.flatMap((measure, at) =>
    cellColumns(measure.field === undefined ? undefined : fields.measured(measure.field), measure, at),
  )
  const mayMerge = cells.every(({ merged }) => merged !== undefined)
  const groups = aggregate.groups.map((group, at) => ({
    name: `k${at}`,
    ...groupColumn(group, fields.column(group.field), mayMerge),
  }))
  const source = sql`(${aggregateSource(target, aggregate, form)}) AS documents`
  const [only, ...more] = groups
  if (only?.plainKey !== undefined && more.length === 0 && form.plain.size > 0)
    return byKeySql(only, only.plainKey, cells, source)
  return groups.some(({ key }) => key !== undefined)
    ? mergedSql(groups, cells, source)
    : groupedSql(groups, cells, source, sent)
}

function rawGroup({ groups, values }: Aggregate, row: Row): RawGroup {
  return {
    keys: groups.map((group, at) => keyOf(row, group, at)),
    cells: values.map((measure, at) => cellOf(row, measure, at)),
  }
}

interface NamedGroup extends GroupColumn {
  readonly name: string
}

const sent = ({ sent: shown = (figure) => figure }: CellColumn, figure: string) => shown(figure)

/**
 * Of one field without odd values: by its key as the index has it, which PostgreSQL need not hash. Only true, false, 1 and 0 are groups by more
 * than their keys, and documents with these are read again, if there are any. Counts of a million documents take 0.66 of the processor time.
 */
function byKeySql(
  group: NamedGroup,
  key: string,
  cells: readonly CellColumn[],
  source: CompiledSql,
): CompiledSql {
  const isShared = (read: string) => `${read} IN ('${FALSE_KEY}', '${TRUE_KEY}')`
  const byKey = groupedSql([{ ...group, bucket: { sql: key, parameters: [] } }], cells, source, sent)
  const shared = groupedSql([group], cells, sql`${source} WHERE ${isShared(key)}`, sent)
  return sql`WITH keys AS MATERIALIZED (${byKey})
    SELECT * FROM keys WHERE (${isShared(group.name)}) IS NOT TRUE
    UNION ALL SELECT * FROM (${shared} OFFSET 0) AS shared
    WHERE (SELECT EXISTS (SELECT FROM keys WHERE ${isShared(group.name)}))`
}

/** Documents by their buckets, then those by their keys. */
function mergedSql(
  groups: readonly NamedGroup[],
  cells: readonly CellColumn[],
  source: CompiledSql,
): CompiledSql {
  const buckets = bucketsSql(groups, cells, source)
  const keys = groups.map(({ name, key }): NamedGroup => {
    const bucket = key ? key(name) : { sql: name, parameters: [] }
    return { name, bucket, key: undefined }
  })
  const merged = cells.map((cell) => ({ ...cell, of: cell.merged ?? cell.of }))
  // `OFFSET 0`: the key of a bucket is for the groups of these, and not for each document.
  return groupedSql(keys, merged, sql`(${buckets} OFFSET 0) AS buckets`, sent)
}

/**
 * Those of documents with an instant, and of all others: of the first of the groups that tells them apart. One pass counts both, and the others
 * are read again only if there are any: months of a million instants take 0.75 of the processor time of two passes.
 */
function bucketsSql(
  groups: readonly NamedGroup[],
  cells: readonly CellColumn[],
  source: CompiledSql,
): CompiledSql {
  const whole = (of: readonly NamedGroup[], where: string) =>
    groupedSql(of, cells, sql`${source}${where}`, (_, figure) => figure)
  const parted = groups.find(({ instants }) => instants)
  if (parted?.instants === undefined) return whole(groups, '')
  const { number, bucket, isOther } = parted.instants
  const { name } = parted
  const numbered = groups.map((group) =>
    group === parted ? { ...group, bucket: { sql: number, parameters: [] } } : group,
  )
  const columns = [...groups, ...cells].map((column) =>
    column === parted ? `${bucket(name)} AS ${name}` : column.name,
  )
  return sql`WITH instants AS MATERIALIZED (${whole(numbered, '')})
    SELECT ${columns.join(', ')} FROM instants WHERE ${name} IS NOT NULL
    UNION ALL SELECT * FROM (${whole(groups, ` WHERE ${isOther}`)} OFFSET 0) AS others
    WHERE (SELECT EXISTS (SELECT FROM instants WHERE ${name} IS NULL))`
}

function groupedSql(
  groups: readonly NamedGroup[],
  cells: readonly CellColumn[],
  source: CompiledSql,
  shown: (cell: CellColumn, figure: string) => string,
): CompiledSql {
  const columns = [
    ...groups.map(({ name, bucket }) => sql`${bucket} AS ${name}`),
    ...cells.map((cell): CompiledSql => ({ sql: `${shown(cell, cell.of)} AS ${cell.name}`, parameters: [] })),
  ]
  const by = groups.length === 0 ? '' : ` GROUP BY ${groups.map((_, at) => at + 1).join(', ')}`
  return sql`SELECT ${list(columns)} FROM ${source}${by}`
}

function list(parts: readonly CompiledSql[]): CompiledSql {
  const [first, ...rest] = parts
  return first ? rest.reduce((joined, part) => sql`${joined}, ${part}`, first) : sql``
}

/** Throws INVALID_QUERY. */
export async function aggregateDocuments(
  connection: PostgresConnection,
  target: SearchTarget,
  aggregate: Aggregate,
): Promise<Aggregated> {
  checkAggregate(aggregate)
  const requested = { query: aggregate.query, includeRemoved: false }
  const decided = await decideTexts(connection, target, requested, new SearchEffort(EFFORT_ON_POSTGRES))
  const grouped = compileAggregate(target, aggregate, decided)
  const { text, values } = statement(sql`${grouped} LIMIT ${String(MOST_GROUPS + 1)}`)
  const rows = await connection.rows(text, values)
  if (rows.length > MOST_GROUPS) return tooManyGroups
  return finishAggregate(
    aggregate,
    rows.map((row) => rawGroup(aggregate, row)),
  )
}
