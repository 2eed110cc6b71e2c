/**
 * A page in the order of relevance, from an index of free text. To rank a document PostgreSQL reads it, so the search is estimated first:
 *
 * - It finds few documents: all of them are ranked.
 * - It finds many: those with a word that is not frequent, and the newest of the others (`boundedRelevance`).
 * - So few of them are among the newest documents of the storage that they do not fill the page, as with a phrase of frequent words that hardly
 *   ever stand side by side: all are ranked where that is not too much, else the search is refused.
 */
import type { Search } from '../../../shared/query.ts'
import type { RankedPhrase } from '../../search/rank-text.ts'
import { tooManyToRank } from '../../search/search-effort.ts'
import { numberOf, type PostgresConnection, type Row } from '../core/rows.ts'
import {
  boundedRelevance,
  indexedRelevance,
  type RankedCondition,
  type Relevance,
} from './postgres-relevance.ts'
import type { SearchTarget } from './search-target.ts'
import { estimateText, type TextBounds } from './text-estimate.ts'

export interface RankedSearch {
  readonly target: SearchTarget
  readonly search: Search
  readonly found: RankedCondition
  readonly phrases: readonly RankedPhrase[]
  readonly bounds: TextBounds
}

/** `look`: the row of the search in this order. Throws SEARCH_TOO_COSTLY. */
export async function rankIndexed(
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
    const wanted = search.limit + search.offset
    const newest = wanted <= bounds.newest ? bounds.newest : bounds.newestOfFarPages
    const row = await look(boundedRelevance(target, estimated, found, { ...bounds, newest }))
    const isFull = numberOf(row, 'length') >= search.limit
    // Or they were looked for in all documents.
    if (isFull || numberOf(row, 'indexed') <= bounds.lookedAt) return row
  }
  const all = documents <= bounds.ranked ? await ofAll(bounds.ranked) : undefined
  if (all) return all
  throw tooManyToRank(bounds.ranked)
}
