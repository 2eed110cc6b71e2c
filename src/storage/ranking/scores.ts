/** How good the hits of a free text are, and which are the best: walks over arrays. */
import { mostWeight, phraseWeight, type RankedPhrase, SCORE_DIGITS, weighCount } from '../search/rank-text.ts'
import type { TextQuery } from '../search/simple-query-string.ts'
import type { ReadWords } from './postings.ts'
import { union } from './text-candidates.ts'

export interface Scored {
  readonly rows: Int32Array
  readonly scores: Float64Array
}

type ScoredWords = Pick<ReadWords, 'documents' | 'average' | 'of' | 'lengths' | 'spend'>

/** Scores that are computed in the time of one unit of effort. */
const ROWS_A_UNIT = 10
/** Of counts and lengths below these, scores are worked out once where there are more documents than that: 32 KB a phrase. */
const COUNTS = 8
const LENGTHS = 512

/** Of each row: the better, the higher; whole numbers, so that what is equally good is equal. */
export function scoresOf(
  words: ScoredWords,
  phrases: readonly RankedPhrase[],
  rows: Int32Array,
): Float64Array {
  const scores = new Float64Array(rows.length)
  const { average, documents } = words
  const lengths = words.lengths(rows)
  for (const phrase of phrases) {
    const { rows: hits, counts } = words.of(phrase)
    const weigh = weighing(phraseWeight(documents, hits.length), average, rows.length)
    words.spend((hits.length + rows.length) / ROWS_A_UNIT)
    if (hits === rows) {
      for (let at = 0; at < rows.length; at++)
        scores[at] = (scores[at] ?? 0) + weigh(counts[at] ?? 0, lengths[at] ?? 0)
      continue
    }
    let at = 0
    for (let index = 0; index < rows.length; index++) {
      const row = rows[index] ?? 0
      while (at < hits.length && (hits[at] ?? 0) < row) at++
      if (hits[at] === row) scores[index] = (scores[index] ?? 0) + weigh(counts[at] ?? 0, lengths[index] ?? 0)
    }
  }
  const digits = 10 ** SCORE_DIGITS
  for (let index = 0; index < scores.length; index++)
    scores[index] = Math.round((scores[index] ?? 0) * digits)
  return scores
}

type Weighing = (count: number, length: number) => number

/** What a phrase adds, by how often it is there and how many tokens the document has: many documents are alike in both. */
function weighing(weight: number, average: number, documents: number): Weighing {
  const worked: Weighing = (count, length) => weighCount(weight, count, length / average)
  if (documents < COUNTS * LENGTHS) return worked
  const known = new Float64Array(COUNTS * LENGTHS)
  return (count, length) => {
    if (count >= COUNTS || length >= LENGTHS) return worked(count, length)
    const place = count * LENGTHS + length
    const score = known[place] ?? 0
    if (score > 0) return score
    known[place] = worked(count, length)
    return known[place] ?? 0
  }
}

/** The score of the n-th best; -Infinity if there are no more than n, so that all are better. */
export function scoreAt(scores: Float64Array, n: number): number {
  if (scores.length <= n) return Number.NEGATIVE_INFINITY
  // The n best so far, the worst of them on top.
  const heap = scores.slice(0, n)
  const sink = (from: number) => {
    const moved = heap[from] ?? 0
    let at = from
    for (let child = 2 * at + 1; child < n; child = 2 * at + 1) {
      if (child + 1 < n && (heap[child + 1] ?? 0) < (heap[child] ?? 0)) child++
      if ((heap[child] ?? 0) >= moved) break
      heap[at] = heap[child] ?? 0
      at = child
    }
    heap[at] = moved
  }
  for (let at = (n >> 1) - 1; at >= 0; at--) sink(at)
  for (let index = n; index < scores.length; index++) {
    if ((scores[index] ?? 0) <= (heap[0] ?? 0)) continue
    heap[0] = scores[index] ?? 0
    sink(0)
  }
  return heap[0] ?? Number.NEGATIVE_INFINITY
}

export function splitAt(
  { rows, scores }: Scored,
  least: number,
): { readonly better: (readonly [number, number])[]; readonly equal: Int32Array } {
  const better: (readonly [number, number])[] = []
  const equal = new Int32Array(rows.length)
  let size = 0
  for (let index = 0; index < rows.length; index++) {
    const score = scores[index] ?? 0
    if (score > least) better.push([rows[index] ?? 0, score])
    else if (score === least) equal[size++] = rows[index] ?? 0
  }
  return { better, equal: equal.subarray(0, size) }
}

// The best hits of an "or" of words, without a look at most documents: what has none of the rarer words can get no more than the frequent ones
// are worth together, and where that is less than what the n-th best has, it is not among the best n.
// In a million documents `the | anaconda` is half a million scores, and this way the 500 of `anaconda`.

type RankedWords = Pick<ReadWords, 'documents' | 'average' | 'of' | 'lengths' | 'spend'>

/** Fewer are all scored in a tenth of a millisecond. */
const MANY = 1_000

/**
 * Among them are the best n of all that the text finds, with all that are as good as the n-th. undefined: look at all. `forget`
 * gives a score below all others to what is not to be counted.
 */
export function leadingRows(
  words: RankedWords,
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
