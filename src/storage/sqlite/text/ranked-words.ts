/** Where the words of a free-text index stand, for ranking: in memory (`text-postings.ts`), or read for one search. */
import type { Postings, ReadWords } from '../../ranking/postings.ts'
import { phraseCount } from '../../search/match-text.ts'
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

// The tokens of a document that was written, in which many words are looked for.

/** From so many tokens on, they are counted once for all words: 2,000 words, each looked for in 50,000 tokens, took 0.3 s. */
const MANY_TOKENS = 200

export class CountedText {
  readonly tokens: readonly string[]
  #counts: Map<string, number> | undefined

  constructor(tokens: readonly string[]) {
    this.tokens = tokens
  }

  /** How often it has the phrase. */
  count(phrase: RankedPhrase): number {
    if (this.tokens.length < MANY_TOKENS) return phraseCount(phrase, this.tokens)
    const counts = this.#counted()
    const whole = phrase.prefix ? phrase.tokens.slice(0, -1) : phrase.tokens
    if (whole.some((token) => !counts.has(token))) return 0
    const [only = ''] = phrase.tokens
    if (whole.length === 1 && phrase.tokens.length === 1) return counts.get(only) ?? 0
    return phraseCount(phrase, this.tokens)
  }

  #counted(): ReadonlyMap<string, number> {
    if (this.#counts) return this.#counts
    const counts = new Map<string, number>()
    for (const token of this.tokens) counts.set(token, (counts.get(token) ?? 0) + 1)
    this.#counts = counts
    return counts
  }
}
