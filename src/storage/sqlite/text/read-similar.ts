import { wordsLike } from '../../../shared/names/similar-word.ts'
import { type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import { vocabularyTable } from '../core/tables.ts'

/** The words of an index that are like this one: reads all that start with its letter, 10 ms or more of 100,000 documents. */
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
