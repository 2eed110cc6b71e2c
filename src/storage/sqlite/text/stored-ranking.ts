/**
 * The order of relevance where no words are in memory: in the search thread, for a transaction's own writes before words were
 * read, with removed documents, and for free text on one side of an "or". The scores are those of `rank-text.ts` everywhere.
 */
import type { Search } from '../../../shared/query.ts'
import { indexIn } from '../../ranking/postings.ts'
import { scoresOf } from '../../ranking/scores.ts'
import { union } from '../../ranking/text-candidates.ts'
import { isRelevanceOrder, type RankedPhrase, rankedClauses, rankedPhrases } from '../../search/rank-text.ts'
import type { Row, SqliteConnection } from '../core/sqlite-connection.ts'
import type { SearchTarget } from '../sql/search-target.ts'
import { compileFind } from '../sql/sqlite-query.ts'
import { rankedPage } from './ranked-find.ts'
import { type RankedWords, readWords } from './ranked-words.ts'
import { StoredWords } from './stored-words.ts'
import { readTotal, type TextTotal } from './text-totals.ts'

/** Of a search that was checked. undefined where it has no order of relevance, or there is no index of free text. */
export function storedRanking(
  connection: SqliteConnection,
  target: SearchTarget,
  search: Search,
  unsaved: TextTotal | undefined,
): Row | undefined {
  const { id, table, textTable } = target
  if (textTable === undefined || !isRelevanceOrder(search)) return undefined
  const phrases = rankedPhrases(rankedClauses(search.query))
  if (phrases.length === 0) return undefined
  const saved = readTotal(connection, id)
  const words = new StoredWords(
    { table, textTable },
    {
      documents: saved.documents + (unsaved?.documents ?? 0),
      tokens: saved.tokens + (unsaved?.tokens ?? 0),
    },
  )
  return (
    rankedPage(connection, { target, words }, search) ??
    scoredPage(connection, { target, words }, search, phrases)
  )
}

/** By a function that the statement calls for each document that it finds: others than those with the words may be found. */
function scoredPage(
  connection: SqliteConnection,
  { target, words }: { readonly target: SearchTarget; readonly words: RankedWords },
  search: Search,
  phrases: readonly RankedPhrase[],
): Row {
  const reading = readWords(connection, words)
  const rows = union(phrases.map((phrase) => reading.of(phrase).rows))
  const scores = scoresOf(reading, phrases, rows)
  const { sql, parameters } = compileFind(target, search)
  connection.scoreOf = (row) => scores[indexIn(rows, row)] ?? 0
  try {
    return connection.get(sql, ...parameters) ?? {}
  } finally {
    connection.scoreOf = undefined
  }
}
