/** How good the hits of a free text are, and which are the best: walks over arrays. */
import { phraseWeight, type RankedPhrase, SCORE_DIGITS, weighCount } from '../search/rank-text.ts'
import type { ReadWords } from './read-words.ts'

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
