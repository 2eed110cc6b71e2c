/**
 * Relevance: bm25 as SQLite's FTS5 computes it, over all text of a document.
 *
 * What counts: the words and phrases that a hit should have, from every free-text clause outside `filter` and `not`, all
 * together as one list. A phrase with slop counts as its words, a misspelled word as it was typed, what stands behind a
 * minus does not count. Clauses on named fields are ranked over all text too: the statistics of one field would need an
 * index of its own.
 *
 * The collection that the statistics are over is all documents of the storage, soft-deleted ones included.
 */
import type { Query, Search } from '../../shared/query.ts'
import { phraseCount, textQuery } from './match-text.ts'
import type { TextPhrase, TextQuery } from './simple-query-string.ts'

export type RankedPhrase = Pick<TextPhrase, 'tokens' | 'prefix'>

export interface TextClause {
  readonly fields: readonly string[]
  readonly text: string
}

/** The free-text clauses that count for the order. */
export function rankedClauses(query: Query): TextClause[] {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.queries.flatMap(rankedClauses)
    case 'simple_query_string':
      return [query]
    default:
      return []
  }
}

export function isRelevanceOrder(search: Pick<Search, 'query' | 'sort'>): boolean {
  return search.sort.length === 0 && rankedClauses(search.query).length > 0
}

export function rankedPhrases(clauses: readonly TextClause[]): RankedPhrase[] {
  return clauses.flatMap((clause) => positivePhrases(textQuery(clause.text)))
}

function positivePhrases(query: TextQuery): RankedPhrase[] {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.parts.flatMap(positivePhrases)
    case 'fuzzy':
      return [{ tokens: [query.token], prefix: false }]
    case 'phrase':
      return query.slop > 0 ? query.tokens.map((token) => ({ tokens: [token], prefix: false })) : [query]
    default:
      return []
  }
}

export interface TextStatistics {
  documents: number
  tokens: number
  /** In how many documents each phrase is. */
  readonly hits: number[]
}

export function emptyStatistics(): TextStatistics {
  return { documents: 0, tokens: 0, hits: [] }
}

export function addToStatistics(
  statistics: TextStatistics,
  phrases: readonly RankedPhrase[],
  tokens: readonly string[],
): void {
  statistics.documents += 1
  statistics.tokens += tokens.length
  phrases.forEach((phrase, index) => {
    statistics.hits[index] = (statistics.hits[index] ?? 0) + phraseCount(phrase, tokens, 1)
  })
}

const K1 = 1.2
const B = 0.75

/** As FTS5 gives it: the better, the lower; 0 for a document without any of the phrases. */
export function textScore(
  statistics: TextStatistics,
  phrases: readonly RankedPhrase[],
  tokens: readonly string[],
): number {
  const average = statistics.tokens / statistics.documents
  let score = 0
  phrases.forEach((phrase, index) => {
    const count = phraseCount(phrase, tokens)
    if (count === 0) return
    const weight = phraseWeight(statistics.documents, statistics.hits[index] ?? 0)
    score += weighCount(weight, count, tokens.length / average)
  })
  return -score
}

/** What a phrase is worth that is in `hits` of the documents: the rarer, the more. */
export function phraseWeight(documents: number, hits: number): number {
  const rarity = Math.log((documents - hits + 0.5) / (hits + 0.5))
  // FTS5's own floor: a word in more than half of the documents must not count against one.
  return rarity > 0 ? rarity : 1e-6
}

/** What it adds to a document that has it `count` times. `length`: of the document, by the average. */
export function weighCount(weight: number, count: number, length: number): number {
  return weight * ((count * (K1 + 1)) / (count + K1 * (1 - B + B * length)))
}

/** More than it adds to any document. */
export function mostWeight(weight: number): number {
  return weight * (K1 + 1)
}

/**
 * Digits after the point that are compared. Sums in another order differ in the last bits, and what is equally good must
 * be equal, because ties are newest first. FTS5's floor of 1e-6 needs more than six.
 */
export const SCORE_DIGITS = 9

export function roundScore(score: number): number {
  return Math.round(score * 10 ** SCORE_DIGITS) / 10 ** SCORE_DIGITS
}
