/**
 * The functions that searches call inside SQLite. `directOnly` keeps them out of triggers, views and indexes, where a
 * program without them could not open the file.
 */
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { isJsonObject } from '../../shared/json.ts'
import { isSimilar, textMatches, textQuery } from '../match-text.ts'
import { addToStatistics, emptyStatistics, type RankedPhrase, textScore } from '../rank-text.ts'
import { documentTokens, valueTokens } from '../text-tokens.ts'

const PURE = { deterministic: true, directOnly: true } as const

/** Makes them known to a connection. Every connection that runs compiled searches needs it. */
export function registerSearchFunctions(db: DatabaseSync): void {
  // (text, a document or an array of values) → 1 if the text finds it.
  db.function('quoin_text_matches', PURE, (text, json) =>
    Number(textMatches(textQuery(String(text)), jsonTokens(json))),
  )
  // (word, another, distance) → 1 if the other may be the word, misspelled.
  db.function('quoin_similar', PURE, (word, other, distance) =>
    Number(isSimilar(String(word), String(other), Number(distance))),
  )
  // (phrases, document) over all documents → what quoin_text_score needs. The state is text because node:sqlite hands
  // it through SQLite's types only; it is a few numbers, and this runs where there is no index anyway.
  db.aggregate('quoin_text_statistics', {
    ...PURE,
    start: () => JSON.stringify(emptyStatistics()),
    step: (state, phrases, document) => {
      const statistics = JSON.parse(String(state))
      addToStatistics(statistics, phrasesOf(phrases), jsonTokens(document ?? null))
      return JSON.stringify(statistics)
    },
  })
  // (phrases, statistics, document) → as bm25() of FTS5.
  db.function('quoin_text_score', PURE, (phrases, statistics, document) =>
    textScore(JSON.parse(String(statistics)), phrasesOf(phrases), jsonTokens(document)),
  )
}

function jsonTokens(json: SQLOutputValue): string[] {
  const value: unknown = JSON.parse(String(json))
  if (Array.isArray(value)) return valueTokens(value)
  return isJsonObject(value) ? documentTokens(value) : []
}

/** Our own parameter, as rankParameter wrote it. */
function phrasesOf(parameter: SQLOutputValue | undefined): readonly RankedPhrase[] {
  return JSON.parse(String(parameter))
}
