/**
 * Relevance as `rank-text.ts` has it. With a free-text index PostgreSQL computes it: `ts_rank_cd` with all weights 1 adds
 * one for each place where a phrase stands, which is the count that bm25 needs, and `text_total` knows the collection.
 * Without an index all documents are read and the reference ranks them.
 */
import { type CompiledSql, joinWith, sql, TRUE } from '../../search/compiled-sql.ts'
import {
  addToStatistics,
  emptyStatistics,
  type RankedPhrase,
  SCORE_DIGITS,
  textScore,
} from '../../search/rank-text.ts'
import type { SearchEffort } from '../../search/search-effort.ts'
import type { PostgresConnection } from '../core/rows.ts'
import { eachTokens } from './decide-texts.ts'
import { numbers, texts, value } from './field-sql.ts'
import { phraseMatch, wordsMatch } from './postgres-text-query.ts'
import type { SearchTarget } from './search-target.ts'
import type { EstimatedPhrase, TextBounds } from './text-estimate.ts'

/** How a page comes in the order of relevance. */
export interface Relevance {
  /** Before the statement's SELECT: WITH's items. */
  readonly items: readonly CompiledSql[]
  /** What is in the page, as SQL. */
  readonly document: string
  readonly from: string
  /** `from` holds what the search finds, where this is true, and nothing else. */
  readonly isFound?: string
  /** Further columns of the row. */
  readonly tells?: CompiledSql
  /** Lower is better; what is equally good is equal. */
  readonly order: string
}

const UNIT = `1e${SCORE_DIGITS}`

/** What a search finds. */
export interface RankedCondition {
  readonly where: CompiledSql
  /** The same with the words of a phrase in place of the phrase: the index alone knows these documents. */
  readonly words: CompiledSql
}

/** For a storage with a free-text index: of all documents, but for what is more than `most`. `looked` is how many have the words. */
export function indexedRelevance(
  target: SearchTarget,
  phrases: readonly EstimatedPhrase[],
  { where, words }: RankedCondition,
  most: number,
): Relevance {
  const rows = sql`SELECT * FROM ${target.table} WHERE ${words} LIMIT ${value(most + 1)}`
  return scored(target, phrases, {
    documents: sql`SELECT guid, created, CASE WHEN ${where} THEN ${SCORE} END AS score FROM (${rows}) AS worded`,
    tells: sql`(SELECT count(*) FROM scored)::integer AS looked`,
  })
}

/**
 * The same for a search that finds very many documents: ranked are all that have a word or phrase that is not frequent, and the newest of the
 * others. Those are looked for in the newest documents of the storage, of which there may be too few.
 */
export function boundedRelevance(
  target: SearchTarget,
  phrases: readonly EstimatedPhrase[],
  { where, words }: RankedCondition,
  { newest, lookedAt, together }: Pick<TextBounds, 'newest' | 'lookedAt' | 'together'>,
): Relevance {
  const { table } = target
  const latest = sql`SELECT * FROM ${table} WHERE removed = 0 ORDER BY created DESC, guid DESC LIMIT ${value(lookedAt)}`
  const rows = sql`SELECT * FROM (${latest}) AS latest WHERE ${where} ORDER BY created DESC, guid DESC LIMIT ${value(newest)}`
  const score = (found: CompiledSql) => sql`SELECT guid, created, ${SCORE} AS score FROM (${found}) AS found`
  const rare = phrases.filter(({ isFrequent }) => !isFrequent)
  const hasRare = (match: (phrase: RankedPhrase) => string) =>
    joinWith(
      'OR',
      rare.map(({ phrase }) => sql`tokens @@ ${value(match(phrase))}::tsquery`),
    )
  const worded = sql`SELECT * FROM ${table} WHERE ${words} AND ${hasRare(wordsMatch)} LIMIT ${value(together)}`
  const withRare = sql`SELECT * FROM (${worded}) AS worded WHERE ${where} AND ${hasRare(phraseMatch)}`
  return scored(target, phrases, {
    documents: rare.length === 0 ? score(rows) : sql`(${score(rows)}) UNION (${score(withRare)})`,
    tells: sql`(SELECT documents FROM collection) AS indexed`,
  })
}

/** The arithmetic is that of `textScore`, step by step, so that the last bits agree. OFFSET 0 keeps the planner from writing the count three times into the sum. */
const SCORE = `coalesce((SELECT sum(weight * ((count * 2.2::float8) / (count + 1.2::float8 * (0.25::float8 + (0.75::float8 * token_count) / average))))
  FROM collection, (SELECT weight, ts_rank_cd('{1,1,1,1}', tokens, match)::float8 AS count FROM phrase OFFSET 0) AS stands WHERE count > 0), 0)`

/** What `documents` finds and ranks: rows of guid, created and score, which is NULL for what is not found. */
function scored(
  { id, table }: SearchTarget,
  phrases: readonly EstimatedPhrase[],
  { documents, tells }: { readonly documents: CompiledSql; readonly tells: CompiledSql },
): Relevance {
  const matches = texts(phrases.map(({ phrase }) => phraseMatch(phrase)))
  const words = texts(phrases.map(({ phrase }) => wordsMatch(phrase)))
  // Of what is frequent PostgreSQL's statistics say how many there are: to count 100,000 takes 0.2 s.
  const known = phrases.map((one) => (one.isFrequent ? one.documents : -1))
  const most = phrases.map((one) => one.most)
  return {
    items: [
      sql`collection AS MATERIALIZED (
        SELECT sum(documents)::float8 AS documents, nullif(sum(tokens), 0)::float8 / sum(documents)::float8 AS average
        FROM text_total WHERE storage = ${String(id)})`,
      sql`counted AS MATERIALIZED (
        SELECT match, number, CASE WHEN known >= 0 THEN known ELSE (
          SELECT count(*) FROM (SELECT tokens FROM ${table} WHERE tokens @@ words LIMIT most) AS worded WHERE tokens @@ match)::float8 END AS hits
        FROM unnest(${matches}::tsquery[], ${words}::tsquery[], ${numbers(known, 'float8')}, ${numbers(most, 'bigint')})
          WITH ORDINALITY AS wanted(match, words, known, most, number))`,
      sql`phrase AS MATERIALIZED (
        SELECT match, CASE WHEN documents > hits * 2 THEN ln((documents - hits + 0.5) / (hits + 0.5)) ELSE 1e-6 END::float8 AS weight
        FROM collection, counted ORDER BY number)`,
      sql`scored AS MATERIALIZED (${documents})`,
    ],
    // Of the page alone, behind its order.
    document: `(SELECT doc FROM ${table} WHERE guid = scored.guid) AS doc`,
    from: 'scored',
    isFound: 'score IS NOT NULL',
    tells,
    order: `floor(-score * ${UNIT}::float8 + 0.5)`,
  }
}

/** For a storage without one. Reads every document twice. Throws SEARCH_TOO_COSTLY when that is more than the effort allows. */
export async function readRelevance(
  connection: PostgresConnection,
  target: SearchTarget,
  phrases: readonly RankedPhrase[],
  effort: SearchEffort,
): Promise<Relevance> {
  const statistics = emptyStatistics()
  const all = { where: TRUE, fields: [], effort }
  await eachTokens(connection, target, all, (_, tokens) => {
    effort.spend(tokens.length * phrases.length)
    addToStatistics(statistics, phrases, tokens)
  })
  const guids: string[] = []
  const scores: number[] = []
  await eachTokens(connection, target, all, (guid, tokens) => {
    effort.spend(tokens.length * phrases.length)
    const score = Math.round(textScore(statistics, phrases, tokens) * 10 ** SCORE_DIGITS)
    if (score === 0) return
    guids.push(guid)
    scores.push(score)
  })
  const list = sql`ranked AS MATERIALIZED (SELECT * FROM unnest(${texts(guids)}, ${numbers(scores, 'float8')}) AS scored(scored_guid, score))`
  return {
    items: [list],
    document: 'doc',
    from: `${target.table} LEFT JOIN ranked ON scored_guid = guid`,
    order: 'coalesce(score, 0)',
  }
}
