/**
 * How many documents have a free text, as PostgreSQL's statistics tell, before any of them is read: its planner says so in 1 to 5 ms. To rank one
 * document costs 3 to 20 µs, so what a search will cost is known before it costs anything.
 */
import { type CompiledSql, FALSE, sql } from '../../search/compiled-sql.ts'
import type { RankedPhrase } from '../../search/rank-text.ts'
import type { PostgresConnection } from '../core/rows.ts'
import { oneRow, value } from './field-sql.ts'
import { wordsMatch } from './postgres-text-query.ts'
import type { SearchTarget } from './search-target.ts'

/** Documents that a search reads to rank them. Tests have fewer. */
export interface TextBounds {
  /** A word or phrase in more documents is frequent: they are not counted, and not all of them are ranked. */
  readonly frequent: number
  /** All words and phrases of a search that are not frequent have so many together. */
  readonly together: number
  /** Of the documents that have frequent words only, so many of the newest are ranked, and for far pages so many. */
  readonly newest: number
  readonly newestOfFarPages: number
  /** They are looked for among so many of the newest documents of the storage. */
  readonly lookedAt: number
  /** Where they do not fill the page, all are ranked if there are no more than this. 0.3 s on an idle machine. */
  readonly ranked: number
}

export const TEXT_BOUNDS: TextBounds = {
  frequent: 10_000,
  together: 20_000,
  newest: 1_000,
  newestOfFarPages: 20_000,
  lookedAt: 100_000,
  ranked: 50_000,
}

/** A word or phrase of a search. */
export interface EstimatedPhrase {
  readonly phrase: RankedPhrase
  readonly isFrequent: boolean
  /** Documents that have it, of a phrase: all of its words. Of words that stand together more often than others, fewer than there are. */
  readonly documents: number
  /** So many are looked at to count them. */
  readonly most: number
}

export interface TextEstimate {
  /** That the search finds. */
  readonly documents: number
  readonly phrases: readonly EstimatedPhrase[]
}

/** `where`: what the search finds. */
export async function estimateText(
  connection: PostgresConnection,
  target: Pick<SearchTarget, 'table'>,
  where: CompiledSql,
  phrases: readonly RankedPhrase[],
  bounds: TextBounds,
): Promise<TextEstimate> {
  const conditions = phrases.map((phrase) => sql`tokens @@ ${value(wordsMatch(phrase))}::tsquery`)
  const [documents = 0, ...counts] = await estimateRows(connection, target, [where, ...conditions])
  return { documents, phrases: withFrequent(phrases, counts, bounds) }
}

/** Whether not all documents with these phrases are ranked. */
export async function hasFrequent(
  connection: PostgresConnection,
  target: Pick<SearchTarget, 'table'>,
  phrases: readonly RankedPhrase[],
  bounds: TextBounds,
): Promise<boolean> {
  const estimate = await estimateText(connection, target, FALSE, phrases, bounds)
  return estimate.phrases.some(({ isFrequent }) => isFrequent)
}

/** The phrases of a search that are in too many documents to read all of them, and the others. */
function withFrequent(
  phrases: readonly RankedPhrase[],
  counts: readonly number[],
  { frequent, together }: TextBounds,
): readonly EstimatedPhrase[] {
  const all = phrases.map((phrase, at) => ({ phrase, documents: counts[at] ?? 0 }))
  const rare = new Set<RankedPhrase>()
  let left = together
  for (const { phrase, documents } of all.toSorted((a, b) => a.documents - b.documents)) {
    left -= documents
    if (documents <= frequent && left >= 0) rare.add(phrase)
  }
  const share = Math.ceil(together / Math.max(1, rare.size))
  return all.map((one) => ({
    ...one,
    isFrequent: !rare.has(one.phrase),
    most: share + Math.ceil(2 * one.documents),
  }))
}

/** For each condition, how many rows the planner expects. */
export async function estimateRows(
  connection: PostgresConnection,
  { table }: Pick<SearchTarget, 'table'>,
  conditions: readonly CompiledSql[],
): Promise<readonly number[]> {
  // Each as an item of its own, whose name is in the plan: the planner leaves out parts of a union that find nothing.
  const items = conditions.map(
    (condition, at) => sql`e${String(at)} AS MATERIALIZED (SELECT 1 AS n FROM ${table} WHERE ${condition})`,
  )
  const joined = items.reduce((all, item) => sql`${all}, ${item}`)
  const all = conditions.map((_, at) => `SELECT n FROM e${at}`).join(' UNION ALL ')
  const row = await oneRow(connection, sql`EXPLAIN (FORMAT JSON) WITH ${joined} ${all}`)
  const plan = row['QUERY PLAN']
  const rows = new Map(itemsOf(typeof plan === 'string' ? JSON.parse(plan) : plan))
  return conditions.map((_, at) => rows.get(`CTE e${at}`) ?? 0)
}

/** The items of WITH that a plan has, with the rows that are expected of each. */
function itemsOf(plan: unknown): readonly (readonly [name: string, rows: number])[] {
  if (Array.isArray(plan)) return plan.flatMap(itemsOf)
  if (typeof plan !== 'object' || plan === null) return []
  const node: Readonly<Record<string, unknown>> = { ...plan }
  const { 'Subplan Name': name, 'Plan Rows': rows } = node
  const own = typeof name === 'string' && typeof rows === 'number' ? [[name, rows] as const] : []
  return [...own, ...itemsOf(node.Plan), ...itemsOf(node.Plans)]
}
