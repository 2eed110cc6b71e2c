import { valueAt } from '../../src/shared/field-path.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import type { Search } from '../../src/shared/query.ts'
import { compareScalars, compareSorted, matches } from '../../src/storage/search/evaluate-query.ts'
import {
  addToStatistics,
  emptyStatistics,
  isRelevanceOrder,
  rankedClauses,
  rankedPhrases,
  roundScore,
  textScore,
} from '../../src/storage/search/rank-text.ts'
import { type CursorPlace, placeOf, readCursor } from '../../src/storage/search/search-cursor.ts'
import { documentTokens } from '../../src/storage/search/text-tokens.ts'

type Compare = (a: JsonObject, b: JsonObject) => number

const REMOVED = ['_meta', 'removed']

/** The order of a search, but not by relevance: that depends on the whole collection (see {@link searchDocuments}). */
export function compareBy(search: Search): Compare {
  const order = compareBySort(search)
  return (a, b) => order(placeOf(search, a), placeOf(search, b))
}

/**
 * What a search finds among all documents of a storage, removed ones included: the reference for both engines. Slow on
 * purpose where that makes it plain.
 */
export function searchDocuments(documents: readonly JsonObject[], search: Search): JsonObject[] {
  const place = readCursor(search)
  const order = compareBySort(search)
  const found = documents.filter(
    (document) =>
      (search.includeRemoved || valueAt(document, REMOVED) === 0) &&
      matches(search.query, document) &&
      (place === undefined || order(placeOf(search, document), place) > 0),
  )
  found.sort(isRelevanceOrder(search) ? byRelevance(documents, search) : compareBy(search))
  return found.slice(search.offset, search.offset + search.limit)
}

function byRelevance(documents: readonly JsonObject[], search: Search): Compare {
  const phrases = rankedPhrases(rankedClauses(search.query))
  const statistics = emptyStatistics()
  for (const document of documents) addToStatistics(statistics, phrases, documentTokens(document))
  const scores = new Map<JsonObject, number>(
    documents.map((document) => [
      document,
      roundScore(textScore(statistics, phrases, documentTokens(document))),
    ]),
  )
  const newestFirst = compareBy(search)
  return (a, b) => (scores.get(a) ?? 0) - (scores.get(b) ?? 0) || newestFirst(a, b)
}

function compareBySort(search: Search): (a: CursorPlace, b: CursorPlace) => number {
  const tie = search.sort.at(-1)?.order === 'asc' ? 1 : -1
  return (a, b) => {
    for (const [index, key] of search.sort.entries()) {
      const left = a.values[index] ?? null
      const right = b.values[index] ?? null
      if (left === null || right === null) {
        if (left === right) continue
        return (left === null) === (key.missing === 'first') ? -1 : 1
      }
      const order = compareSorted(left, right, key.collation)
      if (order !== 0) return key.order === 'asc' ? order : -order
    }
    return tie * (a.cms - b.cms || compareScalars(a.guid, b.guid))
  }
}
