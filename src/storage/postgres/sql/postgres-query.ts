/**
 * A search as one SQL statement. Searches that differ only in values give the same text, so that prepared statements can
 * be kept by text.
 */
import { isJsonObject } from '../../../shared/json.ts'
import type { Query, Search } from '../../../shared/query.ts'
import type { Found, FoundWithTotal } from '../../database.ts'
import { checkQuery, checkSearch } from '../../search/check-search.ts'
import { type CompiledSql, joinWith, sql, TRUE } from '../../search/compiled-sql.ts'
import { isRelevanceOrder, type RankedPhrase, rankedClauses, rankedPhrases } from '../../search/rank-text.ts'
import { readCursor, writeCursor } from '../../search/search-cursor.ts'
import { EFFORT_ON_POSTGRES, SearchEffort, tooManyToRank } from '../../search/search-effort.ts'
import { StoredJson } from '../../stored-json.ts'
import { numberOf, type PostgresConnection, type Row, textOf } from '../core/rows.ts'
import { decidesFirst, decideTexts } from './decide-texts.ts'
import { oneRow, value } from './field-sql.ts'
import { condition } from './postgres-condition.ts'
import { type Walk, walksOf } from './postgres-order.ts'
import {
  boundedRelevance,
  indexedRelevance,
  type RankedCondition,
  type Relevance,
  readRelevance,
} from './postgres-relevance.ts'
import { askedFields, type Decisions, question, type SearchPlan } from './search-plan.ts'
import {
  isUnchanged,
  type SearchTarget,
  SNAPSHOT_COLUMNS,
  type Snapshot,
  snapshotIn,
} from './search-target.ts'
import { estimateText, TEXT_BOUNDS, type TextBounds } from './text-estimate.ts'

/** Whether `findDocuments` sends several statements: then they need a snapshot, else one statement is one. */
export function readsMoreThanOnce(target: SearchTarget, search: Pick<Search, 'query' | 'sort'>): boolean {
  return decidesFirst(target, search.query) || (!target.textReady && rankedOrder(search).length > 0)
}

/** Throws INVALID_QUERY. */
export async function findDocuments(
  connection: PostgresConnection,
  target: SearchTarget,
  search: Search,
  bounds = TEXT_BOUNDS,
): Promise<Found> {
  return foundIn(await foundRow(connection, target, search, bounds, (find) => find), search)
}

/** A total, and the moment of which it is. */
export interface CountedTotal {
  readonly total: number
  readonly moment: Snapshot
}

/**
 * The same and how many match on all pages, in one statement. `known`: a total that still holds if no write to the storage was
 * noted since. Throws INVALID_QUERY.
 */
export async function findWithTotal(
  connection: PostgresConnection,
  target: SearchTarget,
  search: Search,
  known?: CountedTotal,
): Promise<FoundWithTotal & { readonly moment: Snapshot | undefined }> {
  const { query, limit, offset, after, includeRemoved } = search
  // Where the last page tells the total, PostgreSQL does not work out the subquery.
  const isLastPage = sql`length < ${value(limit)} AND (length > 0 OR ${value(offset)} = 0)`
  const cases = [
    ...(after === undefined ? [sql`WHEN ${isLastPage} THEN length + ${value(offset)}`] : []),
    ...(known ? [sql`WHEN ${isUnchanged(target, known.moment)} THEN ${value(known.total)}::integer`] : []),
  ]
  const moment = target.noted ? sql`, ${SNAPSHOT_COLUMNS}` : sql``
  const row = await foundRow(connection, target, search, TEXT_BOUNDS, (find, decided) => {
    const count = compileCount(target, query, includeRemoved, decided)
    const total = cases.length === 0 ? sql`(${count})` : sql`CASE ${list(cases, ' ')} ELSE (${count}) END`
    return sql`SELECT found.*, ${total} AS total${moment} FROM (${find}) AS found`
  })
  return { found: foundIn(row, search), total: numberOf(row, 'total'), moment: snapshotIn(row) }
}

/** The row of a search. `whole`: the statement, of the one that finds. */
async function foundRow(
  connection: PostgresConnection,
  target: SearchTarget,
  search: Search,
  bounds: TextBounds,
  whole: (find: CompiledSql, decided: Decisions) => CompiledSql,
): Promise<Row> {
  checkSearch(search)
  readCursor(search)
  const effort = new SearchEffort(EFFORT_ON_POSTGRES)
  const decided = await decideTexts(connection, target, search, effort)
  const look = (relevance?: Relevance) =>
    oneRow(connection, whole(compileFind(target, search, decided, relevance), decided))
  const phrases = rankedOrder(search)
  if (phrases.length === 0) return look()
  if (!target.textReady) return look(await readRelevance(connection, target, phrases, effort))
  const plan: SearchPlan = { target, decided, plain: new Set() }
  const found = {
    where: whereSql(plan, search.query, search.includeRemoved),
    words: whereSql({ ...plan, wordsOnly: true }, search.query, search.includeRemoved),
  }
  return rankIndexed(connection, { target, search, found, phrases, bounds }, look)
}

function foundIn(row: Row, search: Search): Found {
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
  const effort = new SearchEffort(EFFORT_ON_POSTGRES)
  const decided = await decideTexts(connection, target, { query, includeRemoved }, effort)
  return numberOf(await oneRow(connection, compileCount(target, query, includeRemoved, decided)), 'n')
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
  const more = relevance?.tells ? sql`, ${relevance.tells}` : ''
  return sql`${items}SELECT '[' || coalesce(string_agg(doc::text, ','), '') || ']' AS documents, count(*)::integer AS length${more} FROM (${pageOf(parts.selects, search)}) AS page`
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
  { items, document, from, order, isFound }: Relevance,
): Parts {
  const plan: SearchPlan = { target, decided, plain: new Set() }
  const where = isFound ?? whereSql(plan, search.query, search.includeRemoved)
  const select = sql`SELECT ${document} FROM ${from} WHERE ${where} ORDER BY ${order}, created DESC, guid DESC`
  return { items, selects: [select] }
}

/** What a page in the order of relevance is ranked by; nothing if it has another order. */
function rankedOrder(search: Pick<Search, 'query' | 'sort'>): readonly RankedPhrase[] {
  return isRelevanceOrder(search) ? rankedPhrases(rankedClauses(search.query)) : []
}

/** A condition for documents that match. */
export function whereSql(plan: SearchPlan, query: Query, includeRemoved: boolean): CompiledSql {
  const found = condition(plan, query)
  // Written so, because the table's indexes hold present documents only.
  return includeRemoved ? found : allOf([sql`removed = 0`, found])
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
  if (length === 0 || length < search.limit) return undefined
  const last = documents.lastDocument()
  return isJsonObject(last) ? writeCursor(search, last) : undefined
}

// A page in the order of relevance, from an index of free text. To rank a document PostgreSQL reads it, so the search is estimated first:
// - It finds few documents: all of them are ranked.
// - It finds many: those with a word that is not frequent, and the newest of the others (`boundedRelevance`).
// - So few of them are among the newest documents of the storage that they do not fill the page, as with a phrase of frequent words that hardly
// ever stand side by side: all are ranked where that is not too much, else the search is refused.

export interface RankedSearch {
  readonly target: SearchTarget
  readonly search: Search
  readonly found: RankedCondition
  readonly phrases: readonly RankedPhrase[]
  readonly bounds: TextBounds
}

/** `look`: the row of the search in this order. Throws SEARCH_TOO_COSTLY. */
async function rankIndexed(
  connection: PostgresConnection,
  { target, search, found, phrases, bounds }: RankedSearch,
  look: (relevance: Relevance) => Promise<Row>,
): Promise<Row> {
  const { documents, phrases: estimated } = await estimateText(
    connection,
    target,
    found.words,
    phrases,
    bounds,
  )
  // Words that stand together more often than others are in more documents than was estimated.
  const ofAll = async (most: number) => {
    const row = await look(indexedRelevance(target, estimated, found, most))
    return numberOf(row, 'looked') <= most ? row : undefined
  }
  const few = documents <= bounds.frequent ? await ofAll(bounds.together) : undefined
  if (few) return few
  // No index holds removed documents in the order in which they were made.
  if (!search.includeRemoved) {
    const requested = search.limit + search.offset
    const newest = requested <= bounds.newest ? bounds.newest : bounds.newestOfFarPages
    const row = await look(boundedRelevance(target, estimated, found, { ...bounds, newest }))
    const isFull = numberOf(row, 'length') >= search.limit
    // Or they were looked for in all documents.
    if (isFull || numberOf(row, 'indexed') <= bounds.lookedAt) return row
  }
  const all = documents <= bounds.ranked ? await ofAll(bounds.ranked) : undefined
  if (all) return all
  throw tooManyToRank(bounds.ranked)
}
