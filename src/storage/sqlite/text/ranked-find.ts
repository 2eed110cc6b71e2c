/**
 * The best hits of a free text: scores are computed for all hits, and only the best are read from the database, which then
 * decides what words cannot (other filters, named fields, what was removed) and puts what is equally good in order. If too
 * few are left, more are read.
 *
 * Of 100,000 documents, with words in memory: a word in 90,000 of them takes 2 ms where FTS5 reads 100 for its ranking.
 */
import type { Query, Search } from '../../../shared/query.ts'
import { type CompiledSql, joinWith, sql, TRUE } from '../../search/compiled-sql.ts'
import { textQuery } from '../../search/match-text.ts'
import {
  isRelevanceOrder,
  phraseWeight,
  type RankedPhrase,
  rankedClauses,
  rankedPhrases,
  SCORE_DIGITS,
  type TextClause,
  weighCount,
} from '../../search/rank-text.ts'
import { numberOf, type Row, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { ROWS, rows } from '../sql/row-count.ts'
import type { SearchTarget } from '../sql/search-target.ts'
import { value } from '../sql/sql-values.ts'
import { condition } from '../sql/sqlite-condition.ts'
import { markedFind } from './marked-search.ts'
import type { RankedWords } from './ranked-words.ts'
import { type Candidates, candidatesOf } from './text-candidates.ts'
import { indexIn, postingsOf } from './text-postings.ts'

interface Plan {
  readonly clauses: readonly TextClause[]
  /** What else must hold. */
  readonly others: readonly Query[]
}

interface Scored {
  readonly rows: Int32Array
  readonly scores: Float64Array
}

/** At first this many times the page is read, and eight times as many whenever too few of them are left. */
const AHEAD = 2
const AHEAD_AT_LEAST = 50
const MORE = 8
/** Equally good hits that are put in order by reading all of them; of more only the newest are read. */
const MANY_TIES = 2_000
/** Scores that are computed in the time of one unit of effort. */
const ROWS_A_UNIT = 10
/** Of counts and lengths below these, scores are worked out once where there are more documents than that: 32 KB a phrase. */
const COUNTS = 8
const LENGTHS = 512

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
  const plan = planOf(search.query)
  if (plan === undefined) return undefined
  const phrases = rankedPhrases(plan.clauses)
  if (phrases.length === 0) return undefined
  const candidates = candidatesOfAll(connection, words, plan.clauses)
  if (candidates === undefined) return undefined
  const { rows } = candidates
  const scores = scoresOf(connection, words, phrases, rows)
  const undecided = candidates.exact ? [] : plan.clauses.map(asQuery)
  const conditions = [...plan.others, ...undecided].map((query) => condition(target, query))
  if (!search.includeRemoved) conditions.unshift(sql`removed = 0`)
  const where = conditions.filter((one) => one !== TRUE)
  return readBest(
    connection,
    target,
    search,
    { rows, scores },
    where.length === 0 ? TRUE : joinWith('AND', where),
  )
}
/** Free-text clauses that must all hold, and other conditions; undefined for any other shape. */
function planOf(query: Query): Plan | undefined {
  if (query.kind === 'simple_query_string')
    return query.fields.some((field) => field === '_meta' || field.startsWith('_meta.'))
      ? undefined
      : { clauses: [query], others: [] }
  if (query.kind === 'and') {
    const plans = query.queries.map(planOf)
    const known = plans.filter((plan) => plan !== undefined)
    if (known.length < plans.length) return undefined
    return {
      clauses: known.flatMap(({ clauses }) => clauses),
      others: known.flatMap(({ others }) => others),
    }
  }
  // Free text on one side of an "or" counts for the order too, and finds what the other side does not.
  if (query.kind === 'or' && rankedClauses(query).length > 0) return undefined
  return { clauses: [], others: [query] }
}

function asQuery({ fields, text }: TextClause): Query {
  return { kind: 'simple_query_string', fields, text }
}

function candidatesOfAll(
  connection: SqliteConnection,
  words: RankedWords,
  clauses: readonly TextClause[],
): Candidates | undefined {
  const parsed = clauses.map(({ text }) => textQuery(text))
  const negations = clauses.every(({ fields }) => fields.length === 0)
  const whole = parsed.length === 1 ? parsed[0] : ({ kind: 'and', parts: parsed } as const)
  const found = whole && candidatesOf({ connection, words }, whole, negations)
  return found && { ...found, exact: found.exact && negations }
}

/** Of each row: the better, the higher; whole numbers, so that what is equally good is equal. */
export function scoresOf(
  connection: SqliteConnection,
  words: RankedWords,
  phrases: readonly RankedPhrase[],
  rows: Int32Array,
): Float64Array {
  const scores = new Float64Array(rows.length)
  const { average, documents } = words
  const lengths = words.lengths(connection, rows)
  for (const phrase of phrases) {
    const { rows: hits, counts } = words.of(connection, phrase)
    const weigh = weighing(phraseWeight(documents, hits.length), average, rows.length)
    connection.effort?.spend((hits.length + rows.length) / ROWS_A_UNIT)
    if (hits === rows) {
      for (let at = 0; at < rows.length; at++)
        scores[at] = (scores[at] ?? 0) + weigh(counts[at] ?? 0, lengths[at] ?? 0)
      continue
    }
    let at = 0
    for (let index = 0; index < rows.length; index++) {
      const row = rows[index] ?? 0
      while (at < hits.length && (hits[at] ?? 0) < row) at++
      if (hits[at] === row) scores[index] = (scores[index] ?? 0) + weigh(counts[at] ?? 0, lengths[index] ?? 0)
    }
  }
  const digits = 10 ** SCORE_DIGITS
  for (let index = 0; index < scores.length; index++)
    scores[index] = Math.round((scores[index] ?? 0) * digits)
  return scores
}

type Weighing = (count: number, length: number) => number

/** What a phrase adds, by how often it is there and how many tokens the document has: many documents are alike in both. */
function weighing(weight: number, average: number, documents: number): Weighing {
  const worked: Weighing = (count, length) => weighCount(weight, count, length / average)
  if (documents < COUNTS * LENGTHS) return worked
  const known = new Float64Array(COUNTS * LENGTHS)
  return (count, length) => {
    if (count >= COUNTS || length >= LENGTHS) return worked(count, length)
    const place = count * LENGTHS + length
    const score = known[place] ?? 0
    if (score > 0) return score
    known[place] = worked(count, length)
    return known[place] ?? 0
  }
}

function readBest(
  connection: SqliteConnection,
  target: SearchTarget,
  search: Search,
  scored: Scored,
  where: CompiledSql,
): Row {
  const wanted = search.limit + search.offset
  for (let ahead = Math.max(wanted * AHEAD, AHEAD_AT_LEAST); ; ahead *= MORE) {
    const least = scoreAt(scored.scores, ahead)
    const { better, equal } = splitAt(scored, least)
    // No index holds what was removed in the order in which it was made.
    const many = equal.length > MANY_TIES && !search.includeRemoved
    const ties = many ? newestOf(connection, target, equal, ahead) : equal
    const whole = least === Number.NEGATIVE_INFINITY
    const page = pageSql(
      target,
      search,
      [...better, ...Array.from(ties, (row) => [row, least] as const)],
      where,
    )
    const row = connection.get(page.sql, ...page.parameters) ?? {}
    const full = numberOf(row, 'length') >= search.limit
    if (full || whole || better.length + ties.length === scored.rows.length) return row
  }
}

/** The score of the n-th best; -Infinity if there are no more than n, so that all are better. */
function scoreAt(scores: Float64Array, n: number): number {
  if (scores.length <= n) return Number.NEGATIVE_INFINITY
  // The n best so far, the worst of them on top.
  const heap = scores.slice(0, n)
  const sink = (from: number) => {
    const moved = heap[from] ?? 0
    let at = from
    for (let child = 2 * at + 1; child < n; child = 2 * at + 1) {
      if (child + 1 < n && (heap[child + 1] ?? 0) < (heap[child] ?? 0)) child++
      if ((heap[child] ?? 0) >= moved) break
      heap[at] = heap[child] ?? 0
      at = child
    }
    heap[at] = moved
  }
  for (let at = (n >> 1) - 1; at >= 0; at--) sink(at)
  for (let index = n; index < scores.length; index++) {
    if ((scores[index] ?? 0) <= (heap[0] ?? 0)) continue
    heap[0] = scores[index] ?? 0
    sink(0)
  }
  return heap[0] ?? Number.NEGATIVE_INFINITY
}

function splitAt(
  { rows, scores }: Scored,
  least: number,
): { readonly better: (readonly [number, number])[]; readonly equal: Int32Array } {
  const better: (readonly [number, number])[] = []
  const equal = new Int32Array(rows.length)
  let size = 0
  for (let index = 0; index < rows.length; index++) {
    const score = scores[index] ?? 0
    if (score > least) better.push([rows[index] ?? 0, score])
    else if (score === least) equal[size++] = rows[index] ?? 0
  }
  return { better, equal: equal.subarray(0, size) }
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
