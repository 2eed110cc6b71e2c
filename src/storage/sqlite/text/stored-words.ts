/**
 * Words and lengths for one search, read from the free-text index: where none are in memory. It
 * takes about as long as FTS5 needs for `bm25()` (75 ms for a word that stands in 83,000 of 100,000 documents), and unlike
 * that one it knows how many documents there are (`text-totals.ts`). Right for as long as the connection sees one moment.
 */
import { type Postings, wordOf } from '../../ranking/postings.ts'
import type { RankedPhrase } from '../../search/rank-text.ts'
import type { SqliteConnection } from '../core/sqlite-connection.ts'
import type { RankedWords } from './ranked-words.ts'
import { readLengths } from './text-lengths.ts'
import { type PlacedText, readPlaces } from './text-places.ts'
import type { TextTotal } from './text-totals.ts'
import { readSimilar } from './text-vocabulary.ts'

/** Effort of reading a length: 0.25 µs. */
const LENGTH = 5

export class StoredWords implements RankedWords {
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
