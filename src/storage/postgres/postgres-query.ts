/**
 * A search as one SQL statement. Searches that differ only in values give the same text, so that prepared statements can
 * be kept by text.
 */
import { isJsonObject } from '../../shared/json.ts'
import type { Query, Search } from '../../shared/query.ts'
import { checkQuery, checkSearch } from '../check-search.ts'
import { type CompiledSql, joinWith, sql, TRUE } from '../compiled-sql.ts'
import { isRelevanceOrder, rankedClauses, rankedPhrases } from '../rank-text.ts'
import { readCursor, writeCursor } from '../search-cursor.ts'
import type { Found } from '../storage.ts'
import { StoredJson } from '../stored-json.ts'
import { statement, value } from './compiled-sql.ts'
import { decideTexts } from './decide-texts.ts'
import { allPlain, jsonField } from './field-sql.ts'
import { condition } from './postgres-condition.ts'
import { numberOf, type PostgresConnection, textOf } from './postgres-connection.ts'
import { type Walk, walksOf } from './postgres-order.ts'
import { indexedRelevance, type Relevance, readRelevance } from './postgres-relevance.ts'
import { askedFields, type Decisions, type SearchPlan } from './search-plan.ts'
import type { SearchTarget } from './search-target.ts'

/** Throws INVALID_QUERY. */
export async function findDocuments(
  connection: PostgresConnection,
  target: SearchTarget,
  search: Search,
): Promise<Found> {
  checkSearch(search)
  readCursor(search)
  const decided = await decideTexts(connection, target, search.query)
  const relevance = await relevanceOf(connection, target, search)
  const { text, values } = statement(compileFind(target, search, decided, relevance))
  const [row] = await connection.rows(text, values)
  if (!row) throw new TypeError('A search gave no row.')
  const documents = new StoredJson(textOf(row, 'documents'))
  const length = numberOf(row, 'length')
  return { documents, length, next: () => cursorBehind(search, documents, length) }
}

/** How many documents match. Throws INVALID_QUERY. */
export async function countDocuments(
  connection: PostgresConnection,
  target: SearchTarget,
  query: Query,
  includeRemoved: boolean,
): Promise<number> {
  checkQuery(query)
  const decided = await decideTexts(connection, target, query)
  const { text, values } = statement(compileCount(target, query, includeRemoved, decided))
  const [row] = await connection.rows(text, values)
  return row ? numberOf(row, 'n') : 0
}

/** One row: `documents`, a JSON array of the documents' texts in the order of the search, and `length`, how many. */
export function compileFind(
  target: SearchTarget,
  search: Search,
  decided: Decisions,
  relevance?: Relevance,
): CompiledSql {
  const parts = relevance
    ? rankedParts(target, search, decided, relevance)
    : walkedParts(target, search, decided)
  const items = parts.items.length === 0 ? '' : sql`WITH ${list(parts.items, ', ')} `
  // The aggregate takes the rows as they come: a subquery with LIMIT is never run in parallel pieces, and the parts of
  // UNION ALL come one after the other. postgres-query.property.test.ts holds PostgreSQL to it.
  return sql`${items}SELECT '[' || coalesce(string_agg(doc::text, ','), '') || ']' AS documents, count(*)::integer AS length FROM (${pageOf(parts.selects, search)}) AS page`
}

/** One row: `n`, how many documents match. */
function compileCount(
  target: SearchTarget,
  query: Query,
  includeRemoved: boolean,
  decided: Decisions,
): CompiledSql {
  const count = (plan: SearchPlan): CompiledSql =>
    sql`(SELECT count(*) FROM ${target.table} WHERE ${whereSql(plan, query, includeRemoved)})`
  const asked = askedFields(target, query)
  const exact = count({ target, decided, plain: new Set() })
  if (asked.length === 0) return sql`SELECT ${exact}::integer AS n`
  const plain = count({ target, decided, plain: new Set(asked) })
  return sql`SELECT (CASE WHEN ${question(target, asked)} THEN ${plain} ELSE ${exact} END)::integer AS n`
}

function pageOf(selects: readonly CompiledSql[], { limit, offset }: Search): CompiledSql {
  const page = sql`LIMIT ${value(limit)} OFFSET ${value(offset)}`
  if (selects.length === 1) return sql`${list(selects, '')} ${page}`
  const bounded = selects.map((select) => sql`(${select} LIMIT ${value(limit + offset)})`)
  return sql`${list(bounded, ' UNION ALL ')} ${page}`
}

/** One after the other they are the search's documents. */
interface Parts {
  /** Of WITH. */
  readonly items: readonly CompiledSql[]
  readonly selects: readonly CompiledSql[]
}

function walkedParts(target: SearchTarget, search: Search, decided: Decisions): Parts {
  const asked = askedFields(target, search.query, search.sort)
  const exact: SearchPlan = { target, decided, plain: new Set() }
  if (asked.length === 0) return { items: [], selects: walks(exact, search, TRUE) }
  const plain: SearchPlan = { target, decided, plain: new Set(asked) }
  return {
    items: [sql`asked AS MATERIALIZED (SELECT ${question(target, asked)} AS plain)`],
    selects: [
      ...walks(plain, search, sql`(SELECT plain FROM asked)`),
      ...walks(exact, search, sql`(SELECT NOT plain FROM asked)`),
    ],
  }
}

function walks(plan: SearchPlan, search: Search, gate: CompiledSql): CompiledSql[] {
  const found = whereSql(plan, search.query, search.includeRemoved)
  return walksOf(plan, search, readCursor(search)).map(({ where, order }: Walk) => {
    const all = allOf([gate, found, where])
    return sql`SELECT doc FROM ${plan.target.table} WHERE ${all} ORDER BY ${order}`
  })
}

function rankedParts(
  target: SearchTarget,
  search: Search,
  decided: Decisions,
  { items, from, order }: Relevance,
): Parts {
  const where = whereSql({ target, decided, plain: new Set() }, search.query, search.includeRemoved)
  const select = sql`SELECT doc FROM ${from} WHERE ${where} ORDER BY ${order}, created DESC, guid DESC`
  return { items, selects: [select] }
}

async function relevanceOf(
  connection: PostgresConnection,
  target: SearchTarget,
  search: Search,
): Promise<Relevance | undefined> {
  if (!isRelevanceOrder(search)) return undefined
  const phrases = rankedPhrases(rankedClauses(search.query))
  if (phrases.length === 0) return undefined
  return target.textReady ? indexedRelevance(target, phrases) : readRelevance(connection, target, phrases)
}

function whereSql(plan: SearchPlan, query: Query, includeRemoved: boolean): CompiledSql {
  const found = condition(plan, query)
  // Written so, because the table's indexes hold present documents only.
  return includeRemoved ? found : allOf([sql`removed = 0`, found])
}

function question(target: SearchTarget, fields: readonly string[]): CompiledSql {
  return sql`${fields.map((field) => allPlain(target.table, jsonField(field))).join(' AND ')}`
}

function allOf(conditions: readonly CompiledSql[]): CompiledSql {
  return joinWith(
    'AND',
    conditions.filter((one) => one !== TRUE),
  )
}

function list(parts: readonly CompiledSql[], separator: string): CompiledSql {
  return parts.reduce((joined, part) => sql`${joined}${separator}${part}`)
}

/** The cursor behind the last document of a full page; undefined in relevance order. */
function cursorBehind(search: Search, documents: StoredJson, length: number): string | undefined {
  if (length === 0 || length < search.limit || !Array.isArray(documents.value)) return undefined
  const last: unknown = documents.value.at(-1)
  return isJsonObject(last) ? writeCursor(search, last) : undefined
}
