/** The words of a document with their places, as PostgreSQL writes a `tsvector`: `'apple':3 'red':1,2 'late'`. */
import type { RankedPhrase } from '../../search/rank-text.ts'

/** By word. Without places: it stands only where PostgreSQL counts none any more. */
export type PlacedWords = ReadonlyMap<string, readonly number[]>

const WORD = /'([^']*)'(?::([\d,]+))?/g

/** Of words that hold letters and digits only. */
export function placedWords(vector: string): PlacedWords {
  const words = new Map<string, readonly number[]>()
  for (const [, word = '', places] of vector.matchAll(WORD))
    words.set(word, places === undefined ? [] : places.split(',').map(Number))
  return words
}

/** How often `ts_rank_cd` counts the phrase; -1 if the document does not match it. */
export function countIn(words: PlacedWords, { tokens, prefix }: RankedPhrase): number {
  const last = tokens.length - 1
  const lists = tokens.map((token, at) => (prefix && at === last ? begun(words, token) : words.get(token)))
  const [first, ...others] = lists
  if (first === undefined) return -1
  if (others.length === 0) return first.length
  const places = others.map((list) => new Set(list))
  let count = 0
  for (const start of first) if (places.every((list, at) => list.has(start + at + 1))) count += 1
  return count > 0 ? count : -1
}

/** undefined if no word begins so. */
function begun(words: PlacedWords, start: string): readonly number[] | undefined {
  const found = [...words].filter(([word]) => word.startsWith(start))
  return found.length === 0 ? undefined : found.flatMap(([, places]) => places)
}
