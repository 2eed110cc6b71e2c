/** Where the words of a free-text index stand, for ranking: in memory (`text-postings.ts`), or read for one search. */
import type { Postings, ReadWords } from '../../ranking/postings.ts'
import type { RankedPhrase } from '../../search/rank-text.ts'
import type { SqliteConnection } from '../core/sqlite-connection.ts'

export interface RankedWords {
  /** In the index, removed ones included. */
  readonly documents: number
  /** Tokens a document has on average. */
  readonly average: number
  /** Of one word, of all that begin so, or of words side by side. Throws EffortSpent. */
  of(connection: SqliteConnection, phrase: RankedPhrase): Postings
  /** The words that may be this one, misspelled. Throws EffortSpent. */
  similarTo(connection: SqliteConnection, token: string, distance: number): ReadonlySet<string>
  /** Says that these words are wanted together: what one search misses of them is read for those that come. */
  miss?(tokens: Iterable<string>): void
  /** How many tokens each of these documents has. */
  lengths(connection: SqliteConnection, rows: Int32Array): Int32Array
}

/** As one search looks at them, on a connection and with what is left of its effort. */
export function readWords(connection: SqliteConnection, words: RankedWords): ReadWords {
  return {
    documents: words.documents,
    average: words.average,
    of: (phrase) => words.of(connection, phrase),
    similarTo: (token, distance) => words.similarTo(connection, token, distance),
    miss: (tokens) => words.miss?.(tokens),
    lengths: (rows) => words.lengths(connection, rows),
    spend: (units) => connection.effort?.spend(units),
  }
}
