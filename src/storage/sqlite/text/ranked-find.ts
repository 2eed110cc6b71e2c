/**
 * The best hits of a free text: scores are computed for all hits, and only the best are read from the database, which then
 * decides what words cannot (other filters, named fields, what was removed) and puts what is equally good in order. If too
 * few are left, more are read.
 *
 * Of 100,000 documents, with words in memory: a word in 90,000 of them takes 2 ms where FTS5 reads 100 for its ranking.
 */
import type { Query, Search } from '../../../shared/query.ts'
import { indexIn } from '../../ranking/postings.ts'
import { leadingRows, type Scored, scoreAt, scoresOf, splitAt } from '../../ranking/scores.ts'
import { candidatesOfAll, onlyText, textPlan } from '../../ranking/text-candidates.ts'
import { type CompiledSql, joinWith, sql, TRUE } from '../../search/compiled-sql.ts'
import { isRelevanceOrder, rankedPhrases, type TextClause } from '../../search/rank-text.ts'
import { numberOf, type Row, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { ROWS, rows, type SearchTarget, value } from '../sql/sql-values.ts'
import { condition } from '../sql/sqlite-condition.ts'
import { markedFind } from './marked-search.ts'
import { type RankedWords, readWords } from './ranked-words.ts'
import { postingsOf } from './text-postings.ts'

/** At first this many times the page is read, and eight times as many whenever too few of them are left. */
const AHEAD = 2
const AHEAD_AT_LEAST = 50
const MORE = 8
/** Equally good hits that are put in order by reading all of them; of more only the newest are read. */
const MANY_TIES = 2_000
/**
 * One row, `documents` and `length`, as of a compiled search. undefined where postings do not serve: then the search is
 * one statement, as any other. Of a search that was checked. `settled`: no transaction is open, so nothing that the connection sees may be undone.
 */
export function rankedFind(
  connection: SqliteConnection,
  entry: StorageEntry,
  search: Search,
  settled: boolean,
): Row | undefined {
  if (!isRelevanceOrder(search)) return markedFind(connection, entry, search, settled)
  if (search.includeRemoved) return undefined
  const postings = postingsOf(connection, entry, settled)
  if (postings === undefined) return undefined
  postings.settle(connection, settled)
  return rankedPage(connection, { target: entry, words: postings }, search)
}

/** As above, from these words. undefined where the documents that are found may have none of them. */
export function rankedPage(
  connection: SqliteConnection,
  { target, words }: { readonly target: SearchTarget; readonly words: RankedWords },
  search: Search,
): Row | undefined {
  const plan = textPlan(search.query)
  if (plan === undefined) return undefined
  const phrases = rankedPhrases(plan.clauses)
  if (phrases.length === 0) return undefined
  const reading = readWords(connection, words)
  const reader = { connection, target, search }
  const isPresent = search.includeRemoved ? [] : [sql`removed = 0`]
  const allOf = (queries: readonly Query[]) =>
    allTrue([...isPresent, ...queries.map((query) => condition(target, query))])
  const text = onlyText(plan)
  const ahead = aheadOf(search)
  const leading = text && leadingRows(reading, text, ahead)
  const first = leading && readFirst(reader, leading, allOf(plan.others), ahead)
  if (first?.isFull) return first.row
  const candidates = candidatesOfAll(reading, plan.clauses)
  if (candidates === undefined) return undefined
  const { rows } = candidates
  const scores = scoresOf(reading, phrases, rows)
  const undecided = candidates.exact ? [] : plan.clauses.map(asQuery)
  return readBest(reader, { rows, scores }, allOf([...plan.others, ...undecided]))
}

function allTrue(conditions: readonly CompiledSql[]): CompiledSql {
  const where = conditions.filter((one) => one !== TRUE)
  return where.length === 0 ? TRUE : joinWith('AND', where)
}

function asQuery({ fields, text }: TextClause): Query {
  return { kind: 'simple_query_string', fields, text }
}

interface Reader {
  readonly connection: SqliteConnection
  readonly target: SearchTarget
  readonly search: Search
}

/** Hits that are read at first. */
function aheadOf({ limit, offset }: Search): number {
  return Math.max((limit + offset) * AHEAD, AHEAD_AT_LEAST)
}

function readBest(reader: Reader, scored: Scored, where: CompiledSql): Row {
  for (let ahead = aheadOf(reader.search); ; ahead *= MORE) {
    const { row, isFull, isAll } = readFirst(reader, scored, where, ahead)
    if (isFull || isAll) return row
  }
}

/** The page among the best `ahead`, which there may be too few of for it. */
function readFirst(
  { connection, target, search }: Reader,
  scored: Scored,
  where: CompiledSql,
  ahead: number,
): { readonly row: Row; readonly isFull: boolean; readonly isAll: boolean } {
  const least = scoreAt(scored.scores, ahead)
  const { better, equal } = splitAt(scored, least)
  // No index holds what was removed in the order in which it was made.
  const many = equal.length > MANY_TIES && !search.includeRemoved
  const ties = many ? newestOf(connection, target, equal, ahead) : equal
  const ranked = [...better, ...Array.from(ties, (row) => [row, least] as const)]
  const page = pageSql(target, search, ranked, where)
  const row = connection.get(page.sql, ...page.parameters) ?? {}
  return {
    row,
    isFull: numberOf(row, 'length') >= search.limit,
    isAll: least === Number.NEGATIVE_INFINITY || ranked.length === scored.rows.length,
  }
}

/** The newest present ones of many rows: by walking all documents, newest first, until there are enough of them. */
function newestOf(
  connection: SqliteConnection,
  { table }: SearchTarget,
  rows: Int32Array,
  most: number,
): Int32Array {
  const newest: number[] = []
  for (let walked = 0, step = 500; ; walked += step, step *= 2) {
    const row = connection.get(
      `SELECT json_group_array(id) AS ids FROM (SELECT id FROM ${table} WHERE removed = 0 ORDER BY created DESC, guid DESC LIMIT ${ROWS} OFFSET ${ROWS})`,
      step,
      walked,
    )
    const ids: readonly number[] = JSON.parse(textOf(row ?? {}, 'ids'))
    for (const id of ids) {
      if (indexIn(rows, id) >= 0) newest.push(id)
      if (newest.length >= most) return Int32Array.from(newest)
    }
    // All that are present: those that were removed are not found anyway.
    if (ids.length < step) return rows
  }
}

function pageSql(
  { table }: SearchTarget,
  search: Search,
  ranked: readonly (readonly [number, number])[],
  where: CompiledSql,
): CompiledSql {
  const list = value(JSON.stringify(ranked))
  // Renamed, because json_each has columns that documents have too.
  const best = sql`(SELECT value ->> 0 AS ranked_id, value ->> 1 AS score FROM json_each(${list}))`
  return sql`SELECT '[' || ifnull(group_concat(doc, ','), '') || ']' AS documents, count(*) AS length FROM (SELECT doc FROM ${best} CROSS JOIN ${table} ON id = ranked_id WHERE ${where} ORDER BY score DESC, created DESC, guid DESC LIMIT ${rows(search.limit)} OFFSET ${rows(search.offset)})`
}
