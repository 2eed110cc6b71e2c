/**
 * All words of a storage's documents in memory of a node, and which of them are like a misspelled one. What is written is added and never taken
 * away: a word that is in no document any more finds none. 500,000 words of seven letters take 23 MB.
 */
import type { Steps } from '../../../shared/in-turns.ts'
import { wordsLike } from '../../../shared/names/similar-word.ts'
import { TextVocabulary } from '../../ranking/text-vocabulary.ts'

const MOST = 500_000
/** Words that are looked at between two steps. */
const STEP = 1_000
/** New ones that are told to all answers: 7 ms where all of 64 begin with their letter. */
const TOLD = 100

export class KnownWords {
  readonly #byFirst = new Map<string, Set<string>>()
  readonly #answers = new TextVocabulary()
  readonly #most: number
  #size = 0

  constructor(most = MOST) {
    this.#most = most
  }

  /** There were too many, and it tells nothing any more. */
  get isFull(): boolean {
    return this.#size > this.#most
  }

  *add(words: Iterable<string>): Steps<void> {
    let fresh: string[] = []
    for (const word of words) {
      if (this.#isNew(word)) fresh.push(word)
      if (fresh.length < TOLD) continue
      this.#answers.add(fresh)
      fresh = []
      yield undefined
    }
    this.#answers.add(fresh)
  }

  /** undefined: it was not looked for, or so long ago that it was forgotten. */
  like(token: string, distance: number): ReadonlySet<string> | undefined {
    return this.isFull ? undefined : this.#answers.known(token, distance)
  }

  /** Looks for the words that are like this one. What is added meanwhile is seen: it comes behind those that are there. */
  *find(token: string, distance: number): Steps<void> {
    const isLike = wordsLike(token, distance)
    const found: string[] = []
    let looked = 0
    for (const word of this.#byFirst.get(firstOf(token)) ?? []) {
      if (isLike(word)) found.push(word)
      if (++looked % STEP === 0) yield undefined
    }
    this.#answers.keep(token, distance, found)
  }

  #isNew(word: string): boolean {
    if (this.isFull) return false
    const first = firstOf(word)
    const words = this.#byFirst.get(first) ?? new Set()
    if (words.has(word)) return false
    if (words.size === 0) this.#byFirst.set(first, words)
    words.add(word)
    this.#size += 1
    if (this.isFull) this.#byFirst.clear()
    return true
  }
}

function firstOf(word: string): string {
  return String.fromCodePoint(word.codePointAt(0) ?? 0)
}
