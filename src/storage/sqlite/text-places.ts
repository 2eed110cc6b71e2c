/** In which documents a word stands, from the free-text index. */
import type { RankedPhrase } from '../rank-text.ts'
import { EffortSpent } from '../search-effort.ts'
import { numberOf, type SqliteConnection, textOf } from './sqlite-connection.ts'
import { placesTable } from './tables.ts'

/** Rows in ascending order, and how often the word is in each. */
export interface Postings {
  readonly rows: Int32Array
  readonly counts: Uint16Array
}

/** Effort of reading one place: 0.5 µs. */
const PLACE = 10

/** Of one word, or of all that begin so. Throws EffortSpent if they are too many. */
export function readPlaces(
  connection: SqliteConnection,
  textTable: string,
  { tokens: [token = ''], prefix }: RankedPhrase,
): Postings {
  const which = prefix ? 'term >= ? AND term < ?' : 'term = ?'
  const parameters = prefix ? [token, `${token}\u{10ffff}`] : [token]
  const { effort } = connection
  const most = effort ? Math.floor(effort.left / PLACE) : -1
  // One row of the statement is one place of a word, so a document comes as often as it has the word.
  const row = connection.get(
    `SELECT json_group_array(doc) AS places, count(*) AS n FROM (SELECT doc FROM ${placesTable(textTable)} WHERE ${which} LIMIT ?)`,
    ...parameters,
    effort ? most + 1 : -1,
  )
  const found = numberOf(row ?? {}, 'n')
  if (effort && found > most) throw new EffortSpent()
  effort?.spend(found * PLACE)
  const places: unknown = JSON.parse(textOf(row ?? {}, 'places'))
  if (!Array.isArray(places)) throw new TypeError('Places are a list.')
  return counted(places)
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

/** Without those that `isThere` denies. */
export function filteredPostings({ rows, counts }: Postings, isThere: (row: number) => boolean): Postings {
  const kept = new Int32Array(rows.length)
  const keptCounts = new Uint16Array(rows.length)
  let size = 0
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] ?? 0
    if (!isThere(row)) continue
    kept[size] = row
    keptCounts[size++] = counts[at] ?? 0
  }
  return { rows: kept.subarray(0, size), counts: keptCounts.subarray(0, size) }
}
