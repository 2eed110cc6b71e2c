/** The tokens of a document that was written, in which many words are looked for. */
import { phraseCount } from '../../search/match-text.ts'
import type { RankedPhrase } from '../../search/rank-text.ts'

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
