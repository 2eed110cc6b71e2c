/** A search on a connection, as a page of stored documents. */
import { isJsonObject, type JsonObject } from '../../../shared/json.ts'
import type { Query, Search } from '../../../shared/query.ts'
import type { Found } from '../../database.ts'
import { indexIn, type Postings, wordOf } from '../../ranking/postings.ts'
import { scoresOf } from '../../ranking/scores.ts'
import { union } from '../../ranking/text-candidates.ts'
import { checkSearch } from '../../search/check-search.ts'
import { isRelevanceOrder, type RankedPhrase, rankedClauses, rankedPhrases } from '../../search/rank-text.ts'
import { StoredJson } from '../../stored-json.ts'
import { numberOf, type Row, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import { rankedPage } from '../text/ranked-find.ts'
import { type RankedWords, readWords } from '../text/ranked-words.ts'
import { readLengths, readTotal, type TextTotal } from '../text/sqlite-text-index.ts'
import { type PlacedText, readPlaces } from '../text/text-places.ts'
import { readSimilar } from '../text/text-vocabulary.ts'
import type { SearchTarget } from './sql-values.ts'
import { compileCount, compileFind, cursorBehind } from './sqlite-query.ts'

/** `unsaved`: what the connection's own transaction has changed of the totals that rank free text. Throws INVALID_QUERY. */
export function findDocuments(
  connection: SqliteConnection,
  target: SearchTarget,
  search: Search,
  unsaved?: TextTotal,
): Found {
  checkSearch(search)
  const ranked = storedRanking(connection, target, search, unsaved)
  if (ranked) return pageOf(ranked, search)
  const { sql, parameters } = compileFind(target, search)
  return pageOf(connection.get(sql, ...parameters) ?? {}, search)
}

export function countDocuments(
  connection: SqliteConnection,
  target: SearchTarget,
  query: Query,
  includeRemoved: boolean,
): number {
  const { sql, parameters } = compileCount(target, query, includeRemoved)
  return numberOf(connection.get(sql, ...parameters) ?? {}, 'n')
}

/** A row with the documents as a JSON array, and how many they are. */
export function pageOf(row: Row, search: Search): Found {
  const length = numberOf(row, 'length')
  const documents = new StoredJson(textOf(row, 'documents'))
  return {
    documents,
    length,
    next: () => (length === 0 || length < search.limit ? undefined : cursorBehind(search, lastOf(documents))),
  }
}

/** Looking for it in the page is cheap beside asking SQLite for it in every search; few callers want a cursor. */
function lastOf(documents: StoredJson): JsonObject {
  const last = documents.lastDocument()
  if (!isJsonObject(last)) throw new TypeError('A page holds documents.')
  return last
}

// The order of relevance where no words are in memory: in the search thread, for a transaction's own writes before words were
// read, with removed documents, and for free text on one side of an "or". The scores are those of `rank-text.ts` everywhere.

// Words and lengths for one search, read from the free-text index: where none are in memory. It
// takes about as long as FTS5 needs for `bm25()` (75 ms for a word that stands in 83,000 of 100,000 documents), and unlike
// that one it knows how many documents there are (`sqlite-text-index.ts`). Right for as long as the connection sees one moment.

/** Effort of reading a length: 0.25 µs. */
const LENGTH = 5

class StoredWords implements RankedWords {
  readonly documents: number
  readonly average: number
  readonly #text: PlacedText
  readonly #postings = new Map<string, Postings>()
  readonly #similar = new Map<string, ReadonlySet<string>>()

  constructor(names: Pick<PlacedText, 'table' | 'textTable'>, { documents, tokens }: TextTotal) {
    this.#text = { ...names, documents }
    this.documents = documents
    this.average = tokens / documents
  }

  of(connection: SqliteConnection, phrase: RankedPhrase): Postings {
    const key = wordOf(phrase)
    const postings = this.#postings.get(key) ?? readPlaces(connection, this.#text, phrase)
    this.#postings.set(key, postings)
    return postings
  }

  similarTo(connection: SqliteConnection, token: string, distance: number): ReadonlySet<string> {
    const key = `${token} ${distance}`
    const words =
      this.#similar.get(key) ?? new Set(readSimilar(connection, this.#text.textTable, token, distance))
    this.#similar.set(key, words)
    return words
  }

  lengths(connection: SqliteConnection, rows: Int32Array): Int32Array {
    connection.effort?.spend(rows.length * LENGTH)
    return readLengths(connection, this.#text.textTable, rows)
  }
}

/** Of a search that was checked. undefined where it has no order of relevance, or there is no index of free text. */
function storedRanking(
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
