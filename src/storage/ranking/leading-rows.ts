/**
 * The best hits of an "or" of words, without a look at most documents: what has none of the rarer words can get no more than the frequent ones
 * are worth together, and where that is less than what the n-th best has, it is not among the best n.
 *
 * In a million documents `the | anaconda` is half a million scores, and this way the 500 of `anaconda`.
 */
import { mostWeight, phraseWeight, type RankedPhrase, SCORE_DIGITS } from '../search/rank-text.ts'
import type { TextQuery } from '../search/simple-query-string.ts'
import type { ReadWords } from './read-words.ts'
import { type Scored, scoreAt, scoresOf } from './scores.ts'
import { union } from './text-candidates.ts'

type LedWords = Pick<ReadWords, 'documents' | 'average' | 'of' | 'lengths' | 'spend'>

/** Fewer are all scored in a tenth of a millisecond. */
const MANY = 1_000

/**
 * Among them are the best n of all that the text finds, with all that are as good as the n-th. undefined: look at all. `forget`
 * gives a score below all others to what is not to be counted.
 */
export function leadingRows(
  words: LedWords,
  query: TextQuery,
  n: number,
  forget: (scored: Scored) => void = () => undefined,
): Scored | undefined {
  const phrases = alternatives(query)
  if (phrases === undefined || n === 0) return undefined
  const rarest = phrases
    .map((phrase) => ({ rows: words.of(phrase).rows, phrase }))
    .toSorted((a, b) => a.rows.length - b.rows.length)
  const weights = rarest.map(({ rows }) => phraseWeight(words.documents, rows.length))
  if (rarest.reduce((sum, { rows }) => sum + rows.length, 0) < MANY) return undefined
  // A document of average length that has the rarest word once is worth its weight.
  const count = leastLeading(weights)
  if (count === rarest.length) return undefined
  const leading = rarest.slice(0, count).map(({ rows }) => rows)
  const rows = union(leading)
  const scores = scoresOf(words, phrases, rows)
  forget({ rows, scores })
  const others = weights.slice(count).reduce((sum, weight) => sum + mostWeight(weight), 0)
  // One more, for the last bits of a sum.
  return Math.ceil(others * 10 ** SCORE_DIGITS) + 1 < scoreAt(scores, n) ? { rows, scores } : undefined
}

/** How many of the rarest words lead, so that the others together are worth less than the rarest one. */
function leastLeading(weights: readonly number[]): number {
  const [rarest = 0] = weights
  let others = 0
  let count = weights.length
  while (count > 1) {
    others += mostWeight(weights[count - 1] ?? 0)
    if (others >= rarest) break
    count -= 1
  }
  return count
}

/** Words and phrases of which one is enough. As they are written: the same word twice counts twice. */
function alternatives(query: TextQuery): readonly RankedPhrase[] | undefined {
  if (query.kind !== 'or') return undefined
  const phrases = query.parts.map((part) => {
    if (part.kind === 'or') return alternatives(part)
    return part.kind === 'phrase' && part.slop === 0 ? [part] : undefined
  })
  const known = phrases.filter((part) => part !== undefined)
  return known.length < phrases.length ? undefined : known.flat()
}
