/**
 * The functions that searches call inside SQLite. `directOnly` keeps them out of triggers, views and indexes, where a
 * program without them could not open the file.
 */
import type { SQLOutputValue } from 'node:sqlite'
import { isJsonObject } from '../../../shared/json.ts'
import { type WordMatcher, wordsLike } from '../../../shared/names/similar-word.ts'
import { caselessText } from '../../../shared/texts/caseless-text.ts'
import { dateParts } from '../../aggregate/aggregate.ts'
import { datePartReaders } from '../../aggregate/date-part.ts'
import { textMatches, textQuery } from '../../search/match-text.ts'
import { addToStatistics, emptyStatistics, type RankedPhrase, textScore } from '../../search/rank-text.ts'
import { READ_TOKEN, unitsOfText } from '../../search/search-effort.ts'
import { documentTokens, valueTokens } from '../../search/text-tokens.ts'
import type { SqliteConnection } from '../core/sqlite-connection.ts'

/** A field of a document is found in some 0.6 µs, in units of search-effort.ts. */
const READ_TEXT = 20
const PURE = { deterministic: true, directOnly: true } as const

/**
 * Makes them known to a connection. Every connection that runs compiled searches needs it. What they look at counts for the
 * connection's effort.
 */
export function registerSearchFunctions(connection: SqliteConnection): void {
  const { database: db } = connection
  const tokensOf = tokensRead(connection)
  registerTextRanks(connection, tokensOf)
  // (text, a document or an array of values) → 1 if the text finds it.
  db.function('quoin_text_matches', PURE, (text, json) =>
    Number(textMatches(textQuery(String(text)), tokensOf(json), connection.effort)),
  )
  // (text) → the same in any case.
  db.function('quoin_caseless', PURE, (text) => {
    const input = String(text)
    connection.effort?.spend(READ_TEXT + unitsOfText(input))
    return caselessText(input)
  })
  // (word, another, distance) → 1 if the other may be the word, misspelled. Asked for one word after the other.
  let last: { readonly word: string; readonly distance: number; readonly isLike: WordMatcher } | undefined
  db.function('quoin_similar', PURE, (input, other, most) => {
    const word = String(input)
    const distance = Number(most)
    if (last?.word !== word || last.distance !== distance)
      last = { word, distance, isLike: wordsLike(word, distance) }
    connection.effort?.spend(1)
    return Number(last.isLike(String(other)))
  })
  // (row) → how well the search fits; see `sql/sqlite-find.ts`.
  db.function('quoin_score', PURE, (row) => {
    if (connection.scoreOf === undefined) throw new Error('The documents were not ranked.')
    return connection.scoreOf(Number(row))
  })
  // (units) → 1, or an end to the statement when they are more than it may use. Not PURE: counted each time.
  db.function('quoin_spent', { directOnly: true }, (units) => {
    connection.effort?.spend(Number(units))
    return 1
  })
  // (date, part, time zone) → the number of the part; NULL for what is no date.
  const readPart = datePartReaders()
  db.function('quoin_date_part', PURE, (date, part, zone) => {
    const known = dateParts.find((one) => one === part)
    if (known === undefined) throw new TypeError('There is no such part of a date.')
    return readPart(date, known, String(zone))
  })
}

type TokensOf = (json: SQLOutputValue) => string[]

/** The words of a document or of an array of values, which count for the connection's effort. */
function tokensRead(connection: SqliteConnection): TokensOf {
  return (json) => {
    const text = String(json)
    connection.effort?.spend(unitsOfText(text))
    const tokens = jsonTokens(text)
    connection.effort?.spend(tokens.length * READ_TOKEN)
    return tokens
  }
}

/** How well texts fit where there is no index of them. */
function registerTextRanks(connection: SqliteConnection, tokensOf: TokensOf): void {
  const { database: db } = connection
  // (phrases, document) over all documents → what quoin_text_score needs. The state is text because node:sqlite hands
  // it through SQLite's types only; it is a few numbers, and this runs where there is no index anyway.
  db.aggregate('quoin_text_statistics', {
    ...PURE,
    start: () => JSON.stringify(emptyStatistics()),
    step: (state, phrases, document) => {
      const statistics = JSON.parse(String(state))
      const tokens = tokensOf(document ?? null)
      const requested = phrasesOf(phrases)
      connection.effort?.spend(tokens.length * requested.length)
      addToStatistics(statistics, requested, tokens)
      return JSON.stringify(statistics)
    },
  })
  // (phrases, statistics, document) → the lower, the better.
  db.function('quoin_text_score', PURE, (phrases, statistics, document) => {
    const tokens = tokensOf(document)
    const requested = phrasesOf(phrases)
    connection.effort?.spend(tokens.length * requested.length)
    return textScore(JSON.parse(String(statistics)), requested, tokens)
  })
}

function jsonTokens(json: string): string[] {
  const value: unknown = JSON.parse(json)
  if (Array.isArray(value)) return valueTokens(value)
  return isJsonObject(value) ? documentTokens(value) : []
}

/** Our own parameter, as rankParameter wrote it. */
function phrasesOf(parameter: SQLOutputValue | undefined): readonly RankedPhrase[] {
  return JSON.parse(String(parameter))
}
