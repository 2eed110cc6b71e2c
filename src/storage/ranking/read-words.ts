/** The words of a free-text index while one search looks at them. */
import type { RankedPhrase } from '../search/rank-text.ts'
import type { Postings } from './postings.ts'

export interface ReadWords {
  /** In the index, removed ones included. */
  readonly documents: number
  /** Tokens a document has on average. */
  readonly average: number
  /** Of one word, of all that begin so, or of words side by side. Throws EffortSpent. */
  of(phrase: RankedPhrase): Postings
  /** The words that may be this one, misspelled. Throws EffortSpent. */
  similarTo(token: string, distance: number): ReadonlySet<string>
  /** Says that these words are wanted together: what one search misses of them is read for those that come. */
  miss(tokens: Iterable<string>): void
  /** How many tokens each of these documents has. */
  lengths(rows: Int32Array): Int32Array
  /** Counts what the search does. Throws EffortSpent. */
  spend(units: number): void
}
