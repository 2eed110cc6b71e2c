/**
 * In which documents each word stands and how often, and how long each document is: what ranking needs, in memory. FTS5
 * looks up the length of every hit (1 µs each), which makes 100 ms for a word that is in 90,000 documents; here it is one
 * walk over two arrays.
 *
 * Lengths are read once, in slices between which the event loop turns. Words are read when they are first asked for and
 * kept while there is room. Whoever writes tells which rows were touched (whether that is kept or undone); before it is
 * asked again, what the touched rows hold now is put in their place. So what is here is what the connection sees.
 */
import { parseBody, splitDocument } from '../document-text.ts'
import type { RankedPhrase } from '../rank-text.ts'
import { documentTokens } from '../text-tokens.ts'
import { numberOf, type SqliteConnection, textOf } from './sqlite-connection.ts'
import { placesTable } from './tables.ts'
import { TextVocabulary } from './text-vocabulary.ts'

/** Rows in ascending order, and how often the word is in each. */
export interface Postings {
  readonly rows: Int32Array
  readonly counts: Uint16Array
}

interface GrowingPostings {
  rows: Int32Array
  counts: Uint16Array
}

const SLICE = 1_000
/** Postings kept of a storage: six bytes each, so 24 MB. A word in 100,000 documents is 100,000. */
const MOST_POSTINGS = 4_000_000
/** More touched rows than this are not worth putting in place: everything is read anew. */
const MOST_TOUCHED = 2_000
const MOST_ROW = 10_000_000
const ABSENT = -1

/** A storage's table, and its postings while there are some. */
interface PostedTable {
  readonly table: string
  readonly textTable: string | undefined
  postings?: TextPostings | undefined
}

/**
 * Those of a storage when all lengths are there; else it begins to read them. It begins only while no transaction is open:
 * later rows are told of, and earlier ones are committed.
 */
export function postingsOf(
  connection: SqliteConnection,
  entry: PostedTable,
  settled: boolean,
): TextPostings | undefined {
  if (entry.postings?.usable === false) entry.postings = undefined
  if (entry.postings === undefined && settled && entry.textTable !== undefined) {
    const row = connection.get(`SELECT ifnull(max(id), 0) AS last FROM ${entry.table}`)
    if (numberOf(row ?? {}, 'last') <= MOST_ROW) {
      entry.postings = new TextPostings(entry.table, entry.textTable)
      readOn(connection, entry, entry.postings)
    }
  }
  return entry.postings?.complete ? entry.postings : undefined
}

function readOn(connection: SqliteConnection, entry: PostedTable, postings: TextPostings): void {
  // The storage may have been closed or dropped meanwhile, or the postings given up.
  if (!connection.database.isOpen || entry.postings !== postings || entry.textTable === undefined) return
  postings.readSlice(connection)
  if (!postings.complete) setImmediate(readOn, connection, entry, postings)
}

export class TextPostings {
  readonly #table: string
  readonly #textTable: string
  #lengths = new Int32Array(0)
  #documents = 0
  #tokens = 0
  /** Rows up to this have their length in place; Infinity = all. */
  #readUpTo = 0
  readonly #touched = new Set<number>()
  /** By word, or by its beginning and `*`; the one used last stands last. */
  readonly #words = new Map<string, GrowingPostings>()
  #postings = 0
  readonly #vocabulary: TextVocabulary

  constructor(table: string, textTable: string) {
    this.#table = table
    this.#textTable = textTable
    this.#vocabulary = new TextVocabulary(textTable)
  }

  get documents(): number {
    return this.#documents
  }

  /** Tokens a document has on average. */
  get average(): number {
    return this.#tokens / this.#documents
  }

  get complete(): boolean {
    return this.#readUpTo === Infinity
  }

  lengthOf(row: number): number {
    return this.#lengths[row] ?? ABSENT
  }

  touch(row: number): void {
    this.#touched.add(row)
  }

  /** False when so many rows were touched that it has to be made anew. */
  get usable(): boolean {
    return this.#touched.size <= MOST_TOUCHED
  }

  /** Reads the next lengths. */
  readSlice(connection: SqliteConnection): void {
    const rows = connection.all(
      `SELECT id, sz FROM ${this.#textTable}_docsize WHERE id > ? ORDER BY id LIMIT ${SLICE}`,
      this.#readUpTo,
    )
    for (const row of rows) {
      const id = numberOf(row, 'id')
      this.#setLength(id, lengthIn(row.sz))
      this.#readUpTo = id
    }
    if (rows.length < SLICE) this.#readUpTo = Infinity
  }

  /** Brings in what the touched rows hold as this connection sees them. `settled`: nobody has written what may be undone. */
  settle(connection: SqliteConnection, settled: boolean): void {
    if (this.#touched.size === 0) return
    const rows = [...this.#touched].sort((a, b) => a - b)
    const found = connection.all(
      `SELECT id, doc FROM ${this.#table} WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(rows),
    )
    const texts = new Map(
      found.map((row) => [
        numberOf(row, 'id'),
        documentTokens(parseBody(splitDocument(textOf(row, 'doc')).body)),
      ]),
    )
    for (const row of rows) this.#setLength(row, texts.get(row)?.length ?? ABSENT)
    for (const [word, postings] of this.#words) this.#place(word, postings, rows, texts)
    for (const tokens of texts.values()) this.#vocabulary.add(tokens)
    if (settled) this.#touched.clear()
  }

  /** Of one word, or of all that begin so. Call it after {@link settle} with the same connection. */
  of(connection: SqliteConnection, { tokens, prefix }: RankedPhrase): Postings {
    const [token = ''] = tokens
    const word = prefix ? `${token}*` : token
    const known = this.#words.get(word)
    const postings = known ?? this.#read(connection, token, prefix)
    this.#words.delete(word)
    this.#words.set(word, postings)
    if (!known) this.#makeRoom(postings.rows.length)
    return postings
  }

  /** The words that may be this one, misspelled. */
  similarTo(connection: SqliteConnection, token: string, distance: number): readonly string[] {
    return this.#vocabulary.similarTo(connection, token, distance)
  }

  #makeRoom(added: number): void {
    this.#postings += added
    for (const [oldest, { rows }] of this.#words) {
      if (this.#postings <= MOST_POSTINGS || this.#words.size === 1) return
      this.#words.delete(oldest)
      this.#postings -= rows.length
    }
  }

  #setLength(row: number, length: number): void {
    if (row >= this.#lengths.length) {
      const longer = new Int32Array(Math.max(row + 1, Math.ceil(this.#lengths.length * 1.5), 1_024)).fill(
        ABSENT,
      )
      longer.set(this.#lengths)
      this.#lengths = longer
    }
    const before = this.#lengths[row] ?? ABSENT
    if (before !== ABSENT) {
      this.#documents -= 1
      this.#tokens -= before
    }
    this.#lengths[row] = length
    if (length === ABSENT) return
    this.#documents += 1
    this.#tokens += length
  }

  /** One row of the statement is one place of a word, so a document comes as often as it has the word. */
  #read(connection: SqliteConnection, token: string, prefix: boolean): GrowingPostings {
    const which = prefix ? 'term >= ? AND term < ?' : 'term = ?'
    const parameters = prefix ? [token, `${token}\u{10ffff}`] : [token]
    const row = connection.get(
      `SELECT json_group_array(doc) AS places FROM ${placesTable(this.#textTable)} WHERE ${which}`,
      ...parameters,
    )
    const places: unknown = JSON.parse(textOf(row ?? {}, 'places'))
    if (!Array.isArray(places)) throw new TypeError('Places are a list.')
    const counted = new Uint16Array(this.#lengths.length)
    let documents = 0
    for (const place of places as readonly number[]) {
      if (this.lengthOf(place) === ABSENT) continue
      if (counted[place] === 0) documents += 1
      if (counted[place] !== 0xffff) counted[place] = (counted[place] ?? 0) + 1
    }
    const rows = new Int32Array(documents)
    const counts = new Uint16Array(documents)
    let at = 0
    for (let id = 0; id < counted.length && at < documents; id++) {
      const count = counted[id] ?? 0
      if (count === 0) continue
      rows[at] = id
      counts[at++] = count
    }
    return { rows, counts }
  }

  /** Puts the touched rows into a word's postings, in place of what stood there. */
  #place(
    word: string,
    postings: GrowingPostings,
    touched: readonly number[],
    texts: ReadonlyMap<number, readonly string[]>,
  ): void {
    const fresh = touched.flatMap((row) => {
      const count = countIn(texts.get(row) ?? [], word)
      return count > 0 ? [[row, count] as const] : []
    })
    const { rows, counts } = postings
    const gone = touched.some((row) => indexIn(rows, row) >= 0)
    if (fresh.length === 0 && !gone) return
    // New documents have the highest numbers.
    if (!gone && (fresh[0]?.[0] ?? 0) > (rows.at(-1) ?? 0)) {
      this.#postings += fresh.length
      append(postings, fresh)
      return
    }
    const isTouched = new Set(touched)
    const newRows = new Int32Array(rows.length + fresh.length)
    const newCounts = new Uint16Array(newRows.length)
    let to = 0
    let next = 0
    const put = (row: number, count: number) => {
      newRows[to] = row
      newCounts[to++] = count
    }
    for (let at = 0; at <= rows.length; at++) {
      const row = rows[at] ?? Infinity
      for (; next < fresh.length && (fresh[next]?.[0] ?? 0) <= row; next++)
        put(fresh[next]?.[0] ?? 0, fresh[next]?.[1] ?? 0)
      if (at < rows.length && !isTouched.has(row)) put(row, counts[at] ?? 0)
    }
    this.#postings += to - rows.length
    postings.rows = newRows.subarray(0, to)
    postings.counts = newCounts.subarray(0, to)
  }
}

/** There is room behind the lists for some more, so that what is new does not copy what is there. */
function append(postings: GrowingPostings, fresh: readonly (readonly [number, number])[]): void {
  const { rows, counts } = postings
  const size = rows.length + fresh.length
  if (size > rows.buffer.byteLength / rows.BYTES_PER_ELEMENT) {
    const room = Math.ceil(size * 1.25)
    postings.rows = new Int32Array(room)
    postings.counts = new Uint16Array(room)
    postings.rows.set(rows)
    postings.counts.set(counts)
  }
  // Both begin at the beginning of their buffers.
  postings.rows = new Int32Array(postings.rows.buffer, 0, size)
  postings.counts = new Uint16Array(postings.counts.buffer, 0, size)
  for (const [index, [row, count]] of fresh.entries()) {
    postings.rows[rows.length + index] = row
    postings.counts[rows.length + index] = count
  }
}

function countIn(tokens: readonly string[], word: string): number {
  let count = 0
  // No token ends with a star.
  const beginning = word.endsWith('*') ? word.slice(0, -1) : undefined
  for (const token of tokens)
    if (token === word || (beginning !== undefined && token.startsWith(beginning))) count += 1
  return Math.min(count, 0xffff)
}

/** Where a number stands in an ascending list; negative if it does not. */
export function indexIn(rows: Int32Array, row: number): number {
  let low = 0
  let high = rows.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const there = rows[middle] ?? 0
    if (there === row) return middle
    if (there < row) low = middle + 1
    else high = middle - 1
  }
  return -1
}

/** The first of SQLite's variable-length integers in a blob: seven bits a byte, the highest says that more follows. */
function lengthIn(blob: unknown): number {
  let value = 0
  if (!(blob instanceof Uint8Array)) throw new TypeError('Sizes are blobs.')
  for (const byte of blob) {
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) break
  }
  return value
}
