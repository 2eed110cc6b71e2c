/**
 * Which words of a storage's free text are like a misspelled one, in memory. Found once (by reading all words of the index
 * that start with its letter: 10 ms or more of 100,000 documents); what is written is added, and never taken away: a word
 * that is in no document any more finds none.
 */
import { lruCache } from '../../../shared/lru-cache.ts'
import { type WordMatcher, wordsLike } from '../../../shared/names/similar-word.ts'
import { type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import { vocabularyTable } from '../core/tables.ts'

/** Each looks at every word that is written, as far as its first letter. */
const MOST_ANSWERS = 64

interface Answer {
  readonly isLike: WordMatcher
  readonly words: Set<string>
}

export class TextVocabulary {
  /** By word and distance; the one asked last stands last. */
  readonly #answers = lruCache<string, Answer>(MOST_ANSWERS)
  /** Those whose words are still being found; what is written meanwhile is added to them too. */
  readonly #expected = new Map<string, Answer>()

  add(tokens: readonly string[]): void {
    for (const { isLike, words } of [...this.#answers.values(), ...this.#expected.values()])
      for (const token of tokens) if (isLike(token)) words.add(token)
  }

  known(token: string, distance: number): ReadonlySet<string> | undefined {
    const key = keyOf(token, distance)
    const answer = this.#answers.get(key)
    if (answer === undefined) return undefined
    return answer.words
  }

  keep(token: string, distance: number, words: readonly string[]): ReadonlySet<string> {
    const key = keyOf(token, distance)
    const answer = this.#expected.get(key) ?? { isLike: wordsLike(token, distance), words: new Set<string>() }
    for (const word of words) answer.words.add(word)
    this.#expected.delete(key)
    this.#answers.set(key, answer)
    return answer.words
  }

  /** From now on until `keep`. False if it is expected already. */
  expect(token: string, distance: number): boolean {
    const key = keyOf(token, distance)
    if (this.#expected.has(key)) return false
    this.#expected.set(key, { isLike: wordsLike(token, distance), words: new Set() })
    return true
  }

  giveUp(token: string, distance: number): void {
    this.#expected.delete(keyOf(token, distance))
  }
}

/** The words of an index that are like this one. */
export function readSimilar(
  connection: SqliteConnection,
  textTable: string,
  token: string,
  distance: number,
): string[] {
  const first = String.fromCodePoint(token.codePointAt(0) ?? 0)
  const row = connection.get(
    `SELECT json_group_array(term) AS words FROM ${vocabularyTable(textTable)} WHERE term >= ? AND term < ?`,
    first,
    `${first}\u{10ffff}`,
  )
  const words: unknown = JSON.parse(textOf(row ?? {}, 'words'))
  if (!Array.isArray(words)) throw new TypeError('Words are a list.')
  const isLike = wordsLike(token, distance)
  return words.filter((word) => typeof word === 'string' && isLike(word))
}

function keyOf(token: string, distance: number): string {
  return `${token} ${distance}`
}
