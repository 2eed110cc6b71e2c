/**
 * Relevance as `rank-text.ts` has it. With a free-text index PostgreSQL computes it: `ts_rank_cd` with all weights 1 adds
 * one for each place where a phrase stands, which is the count that bm25 needs, and `text_total` knows the collection.
 * Without an index all documents are read and the reference ranks them.
 */
import { type CompiledSql, sql, TRUE } from '../../search/compiled-sql.ts'
import {
  addToStatistics,
  emptyStatistics,
  type RankedPhrase,
  SCORE_DIGITS,
  textScore,
} from '../../search/rank-text.ts'
import type { SearchEffort } from '../../search/search-effort.ts'
import type { PostgresConnection } from '../core/rows.ts'
import { numbers, texts } from './compiled-sql.ts'
import { eachTokens } from './decide-texts.ts'
import { phraseMatch } from './postgres-text-query.ts'
import type { SearchTarget } from './search-target.ts'

/** How a page comes in the order of relevance. */
export interface Relevance {
  /** Before the statement's SELECT: WITH's items. */
  readonly items: readonly CompiledSql[]
  readonly from: string
  /** Lower is better; what is equally good is equal. */
  readonly order: string
}

const UNIT = `1e${SCORE_DIGITS}`

/** For a storage with a free-text index. The arithmetic is that of `textScore`, step by step, so that the last bits agree. */
export function indexedRelevance(target: SearchTarget, phrases: readonly RankedPhrase[]): Relevance {
  const { id, table } = target
  return {
    items: [
      sql`collection AS MATERIALIZED (
        SELECT sum(documents)::float8 AS documents, nullif(sum(tokens), 0)::float8 / sum(documents)::float8 AS average
        FROM text_total WHERE storage = ${String(id)})`,
      sql`counted AS MATERIALIZED (
        SELECT match, number, (SELECT count(*) FROM ${table} WHERE tokens @@ match)::float8 AS hits
        FROM unnest(${texts(phrases.map(phraseMatch))}::tsquery[]) WITH ORDINALITY AS wanted(match, number))`,
      sql`phrase AS MATERIALIZED (
        SELECT match, CASE WHEN documents > hits * 2 THEN ln((documents - hits + 0.5) / (hits + 0.5)) ELSE 1e-6 END::float8 AS weight
        FROM collection, counted ORDER BY number)`,
    ],
    // OFFSET 0 keeps the planner from writing the count three times into the sum.
    from: `${table} CROSS JOIN LATERAL (
      SELECT sum(weight * ((count * 2.2::float8) / (count + 1.2::float8 * (0.25::float8 + (0.75::float8 * token_count) / average)))) AS score
      FROM collection, (SELECT weight, ts_rank_cd('{1,1,1,1}', tokens, match)::float8 AS count FROM phrase OFFSET 0) AS stands
      WHERE count > 0) AS ranked`,
    order: `floor(-coalesce(score, 0) * ${UNIT}::float8 + 0.5)`,
  }
}

/** For a storage without one. Reads every document twice. Throws UNAVAILABLE when that is more than the effort allows. */
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
    from: `${target.table} LEFT JOIN ranked ON scored_guid = guid`,
    order: 'coalesce(score, 0)',
  }
}
