/** In which documents a word or a phrase stands, from the free-text index. */

import { parseBody } from '../../document-session.ts'
import type { Postings } from '../../ranking/postings.ts'
import { phraseCount } from '../../search/match-text.ts'
import type { RankedPhrase } from '../../search/rank-text.ts'
import { EffortSpent, READ_TOKEN, unitsOfText } from '../../search/search-effort.ts'
import { documentTokens } from '../../search/text-tokens.ts'
import { numberOf, type Row, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import { placesTable, vocabularyTable } from '../core/tables.ts'
import { ROWS } from '../sql/sql-values.ts'
import { phraseMatch } from '../sql/sqlite-text-query.ts'

/** Effort of reading one place: 0.5 µs; and of a statement, however little it finds. */
const PLACE = 10
const STATEMENT = 200
/** Effort of looking for a phrase in the index, for each document of the storage; and where its last word is only begun. */
const LOOK_UP = 3
const EXPAND = 10
/** A document of 30 words is read and looked through in the time of so many places. */
const PLACES_A_DOCUMENT = 60
/** Documents read at once. */
const CHUNK = 200
/** More than a document has tokens (`text-tokens.ts`). */
const OFFSETS = 65_536
/** Numbers in arrays that are walked over in the time of one unit of effort. */
const STEPS_A_UNIT = 10

/** A free-text index and what it is of. */
export interface PlacedText {
  readonly table: string
  readonly textTable: string
  readonly documents: number
}

/** Of one word, of all that begin so, or of words side by side. Throws EffortSpent if that is too much to look at. */
export function readPlaces(connection: SqliteConnection, text: PlacedText, phrase: RankedPhrase): Postings {
  const { tokens, prefix } = phrase
  if (tokens.length > 1) return counted(readPhrase(connection, text, phrase))
  return counted(wordPlaces(connection, { ...text, what: 'doc' }, tokens[0] ?? '', prefix))
}

/**
 * For each place of a phrase, the document. The index finds the documents fast, but does not say how often it stands there: a
 * few documents are read, of many the places of each word.
 */
function readPhrase(connection: SqliteConnection, text: PlacedText, phrase: RankedPhrase): readonly number[] {
  const { textTable, documents } = text
  connection.effort?.spend(documents * (phrase.prefix ? EXPAND : LOOK_UP) + STATEMENT)
  const found = connection.get(
    `SELECT json_group_array(rowid) AS numbers FROM ${textTable} WHERE ${textTable} MATCH ?`,
    phraseMatch({ kind: 'phrase', slop: 0, ...phrase }),
  )
  const rows = numbersOf(found)
  const known = vocabularyTable(textTable)
  const stood = connection.get(
    `SELECT ifnull(sum(cnt), 0) AS n FROM ${known} WHERE term IN (SELECT value FROM json_each(?))`,
    JSON.stringify(phrase.tokens),
  )
  const inWords = numberOf(stood ?? {}, 'n')
  const inDocuments = rows.length * PLACES_A_DOCUMENT
  // Not begun where it cannot be ended.
  if (connection.effort && Math.min(inWords, inDocuments) * PLACE > connection.effort.left)
    throw new EffortSpent()
  return inDocuments < inWords
    ? readDocuments(connection, text, phrase, rows)
    : readWords(connection, text, phrase)
}

function readDocuments(
  connection: SqliteConnection,
  { table }: PlacedText,
  phrase: RankedPhrase,
  rows: readonly number[],
): readonly number[] {
  const places: number[] = []
  for (let at = 0; at < rows.length; at += CHUNK) {
    const documents = connection.all(
      `SELECT id, doc FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(rows.slice(at, at + CHUNK)),
    )
    for (const row of documents) {
      const text = textOf(row, 'doc')
      connection.effort?.spend(unitsOfText(text))
      const tokens = documentTokens(parseBody(text))
      connection.effort?.spend(tokens.length * READ_TOKEN)
      const id = numberOf(row, 'id')
      for (let count = phraseCount(phrase, tokens); count > 0; count--) places.push(id)
    }
  }
  return places
}

function readWords(
  connection: SqliteConnection,
  text: PlacedText,
  { tokens, prefix }: RankedPhrase,
): readonly number[] {
  const what = `doc * ${OFFSETS} + offset`
  // A phrase may be one word 1,900 times.
  const read = new Map<string, Float64Array>()
  const placesOf = (token: string, isPrefix: boolean): Float64Array => {
    const key = isPrefix ? `${token}*` : token
    const known = read.get(key)
    if (known) return known
    const places = Float64Array.from(wordPlaces(connection, { ...text, what }, token, isPrefix))
    // Those of one word come in order.
    if (isPrefix) places.sort()
    read.set(key, places)
    return places
  }
  let starts = new Float64Array(0)
  for (const [at, token] of tokens.entries()) {
    const places = placesOf(token, prefix && at === tokens.length - 1)
    connection.effort?.spend((starts.length + places.length) / STEPS_A_UNIT)
    starts = at === 0 ? places.slice() : goingOn(starts, places, at)
    if (starts.length === 0) break
  }
  return Array.from(starts, (start) => Math.floor(start / OFFSETS))
}

/** Those starts that have one of the places so many tokens behind them. */
function goingOn(starts: Float64Array, places: Float64Array, behind: number): Float64Array<ArrayBuffer> {
  let size = 0
  for (let i = 0, j = 0; i < starts.length && j < places.length; ) {
    const requested = (starts[i] ?? 0) + behind
    const place = places[j] ?? 0
    if (requested === place) starts[size++] = starts[i] ?? 0
    if (requested <= place) i++
    if (place <= requested) j++
  }
  return starts.slice(0, size)
}

/** `what`: of a place, a number. */
function wordPlaces(
  connection: SqliteConnection,
  { textTable, what }: PlacedText & { readonly what: string },
  token: string,
  prefix: boolean,
): readonly number[] {
  const which = prefix ? 'term >= ? AND term < ?' : 'term = ?'
  const parameters = prefix ? [token, `${token}\u{10ffff}`] : [token]
  const { effort } = connection
  effort?.spend(STATEMENT)
  const most = effort ? Math.floor(effort.left / PLACE) : -1
  // One row of the statement is one place of a word, so a document comes as often as it has the word.
  const row = connection.get(
    `SELECT json_group_array(place) AS numbers, count(*) AS n FROM (SELECT ${what} AS place FROM ${placesTable(textTable)} WHERE ${which} LIMIT ${ROWS})`,
    ...parameters,
    effort ? most + 1 : -1,
  )
  const found = numberOf(row ?? {}, 'n')
  if (effort && found > most) throw new EffortSpent()
  effort?.spend(found * PLACE)
  return numbersOf(row)
}

function numbersOf(row: Row | undefined): readonly number[] {
  const numbers: unknown = JSON.parse(textOf(row ?? {}, 'numbers'))
  if (!Array.isArray(numbers)) throw new TypeError('Numbers are a list.')
  return numbers
}

function counted(places: readonly number[]): Postings {
  let last = -1
  for (const place of places) if (place > last) last = place
  const counts = new Uint16Array(last + 1)
  let documents = 0
  for (const place of places) {
    const count = counts[place] ?? 0
    if (count === 0) documents += 1
    if (count !== 0xffff) counts[place] = count + 1
  }
  const rows = new Int32Array(documents)
  const found = new Uint16Array(documents)
  for (let row = 0, at = 0; at < documents; row++) {
    const count = counts[row] ?? 0
    if (count === 0) continue
    rows[at] = row
    found[at++] = count
  }
  return { rows, counts: found }
}
