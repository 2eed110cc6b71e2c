/**
 * The words of a storage's free text, in memory: for words that are misspelled. Read by first letter when asked for (FTS5
 * takes 10 ms or more for a letter of 100,000 documents); what is written is added, and never taken away: a word that is
 * in no document any more finds none.
 */
import { isSimilar } from '../match-text.ts'
import { type SqliteConnection, textOf } from './sqlite-connection.ts'
import { vocabularyTable } from './tables.ts'

const MOST_ANSWERS = 200

export class TextVocabulary {
  readonly #textTable: string
  readonly #letters = new Map<string, Set<string>>()
  /** By word and distance, from how many words: they only become more. */
  readonly #similar = new Map<string, { readonly of: number; readonly words: readonly string[] }>()

  constructor(textTable: string) {
    this.#textTable = textTable
  }

  add(tokens: readonly string[]): void {
    if (this.#letters.size === 0) return
    for (const token of tokens) this.#letters.get(firstLetter(token))?.add(token)
  }

  similarTo(connection: SqliteConnection, token: string, distance: number): readonly string[] {
    const first = firstLetter(token)
    const words = this.#letters.get(first) ?? this.#read(connection, first)
    const key = `${token} ${distance}`
    const known = this.#similar.get(key)
    if (known?.of === words.size) return known.words
    const similar: string[] = []
    for (const word of words) {
      // In UTF-16 one letter more is at most two units more.
      if (Math.abs(word.length - token.length) > 2 * distance) continue
      if (isSimilar(token, word, distance)) similar.push(word)
    }
    if (this.#similar.size >= MOST_ANSWERS) this.#similar.clear()
    this.#similar.set(key, { of: words.size, words: similar })
    return similar
  }

  #read(connection: SqliteConnection, first: string): Set<string> {
    const row = connection.get(
      `SELECT json_group_array(term) AS words FROM ${vocabularyTable(this.#textTable)} WHERE term >= ? AND term < ?`,
      first,
      `${first}\u{10ffff}`,
    )
    const words = new Set<string>(JSON.parse(textOf(row ?? {}, 'words')))
    this.#letters.set(first, words)
    return words
  }
}

function firstLetter(token: string): string {
  return String.fromCodePoint(token.codePointAt(0) ?? 0)
}
