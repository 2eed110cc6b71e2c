/**
 * Which documents contain each word and how often, and how long each document is: what ranking needs, in memory. FTS5
 * looks up the length of every hit (1 µs each), which makes 100 ms for a word that is in 90,000 documents; here it is one
 * walk over two arrays.
 *
 * Lengths are read once, in slices between which the event loop turns. The first search for a word reads it, and it is
 * kept while there is room. Each writer reports the rows that it touched, committed or not; before the next search the
 * current content of these rows replaces the old one. So the memory holds what the connection sees.
 */
import { lruCache } from '../../../shared/lru-cache.ts'
import { parseBody, splitDocument } from '../../document-session.ts'
import {
  ABSENT,
  append,
  DocumentLengths,
  filteredPostings,
  type GrowingPostings,
  indexIn,
  type Postings,
  wordOf,
} from '../../ranking/postings.ts'
import type { RankedPhrase } from '../../search/rank-text.ts'
import { EffortSpent } from '../../search/search-effort.ts'
import { documentTokens } from '../../search/text-tokens.ts'
import { numberOf, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import type { SearchThread } from '../sql/search-thread.ts'
import { CountedText, type RankedWords } from './ranked-words.ts'
import { readLengthsBehind } from './sqlite-text-index.ts'
import { type PlacedText, readPlaces } from './text-places.ts'
import { readSimilar, TextVocabulary } from './text-vocabulary.ts'

/** What a search wanted and its turn was too short to read. */
export type MissingWords =
  | { readonly kind: 'places'; readonly phrase: RankedPhrase }
  | { readonly kind: 'similar'; readonly token: string; readonly distance: number }

/** Of more documents the words that start with a letter are not read in the turn of a search: 1 ms for so many. */
const FEW_DOCUMENTS = 2_000
/** A misspelled word may be one of 40. */
const MOST_MISSING = 64
const MOST_MISSED_ONCE = 100

const SLICE = 1_000
/**
 * Postings kept of a storage: six bytes each, so 96 MB, which only a storage of 700,000 documents of 30 words fills. With a quarter of it
 * searches of 1,000,000 pushed out each other's words, and took 0.2 to 0.5 s to read them again.
 */
const MOST_POSTINGS = 16_000_000
/** Words and phrases kept, also those that stand nowhere: each is looked for in every document that was written. */
const MOST_WORDS = 2_000
/** Effort of that, for a word and a document of 30 words: 0.2 µs. */
const LOOK_FOR = 4
/** More touched rows than this are not worth replacing one by one: everything is read again. */
const MOST_TOUCHED = 2_000
const MOST_ROW = 10_000_000

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
  if (postings.complete) return
  setImmediate(() => {
    try {
      readOn(connection, entry, postings)
    } catch {
      // The next search begins again, and tells of it.
      if (entry.postings === postings) entry.postings = undefined
    }
  })
}

export class TextPostings implements RankedWords {
  readonly #table: string
  readonly #textTable: string
  readonly #lengths = new DocumentLengths()
  /** Rows up to this have their length in place; Infinity = all. */
  #readUpTo = 0
  readonly #touched = new Set<number>()
  /** By word or phrase, with a `*` where it is only begun. */
  readonly #words = lruCache<string, GrowingPostings>(MOST_POSTINGS, { entries: MOST_WORDS })
  readonly #vocabulary = new TextVocabulary()
  /** By word: the rows that were touched since it is being read elsewhere, or before that and not yet brought in. */
  readonly #expected = new Map<string, Set<number>>()
  readonly #missing: MissingWords[] = []
  /** Reading a phrase takes as long as the search that missed it, so it is read when another search misses it. */
  readonly #missedOnce = lruCache<string, true>(MOST_MISSED_ONCE)

  constructor(table: string, textTable: string) {
    this.#table = table
    this.#textTable = textTable
  }

  get #text(): PlacedText {
    return { table: this.#table, textTable: this.#textTable, documents: this.#lengths.documents }
  }

  get documents(): number {
    return this.#lengths.documents
  }

  /** Tokens a document has on average. */
  get average(): number {
    return this.#lengths.average
  }

  get complete(): boolean {
    return this.#readUpTo === Infinity
  }

  lengthOf(row: number): number {
    return this.#lengths.of(row)
  }

  lengths(_connection: SqliteConnection, rows: Int32Array): Int32Array {
    return this.#lengths.ofAll(rows)
  }

  touch(row: number): void {
    this.#touched.add(row)
    for (const rows of this.#expected.values()) rows.add(row)
  }

  /** False when so many rows were touched that it has to be built again. */
  get usable(): boolean {
    return this.#touched.size <= MOST_TOUCHED
  }

  /** Reads the next lengths. */
  readSlice(connection: SqliteConnection): void {
    const { rows, lengths } = readLengthsBehind(connection, this.#textTable, this.#readUpTo, SLICE)
    for (const [at, row] of rows.entries()) this.#lengths.set(row, lengths[at] ?? 0)
    this.#readUpTo = rows.length < SLICE ? Infinity : (rows.at(-1) ?? Infinity)
  }

  /**
   * Reads the touched rows as this connection sees them. `settled`: there are no uncommitted writes.
   * Throws EffortSpent when they are more than the search may look at; the next search continues after them.
   */
  settle(connection: SqliteConnection, settled: boolean): void {
    if (this.#touched.size === 0) return
    const touched = [...this.#touched].sort((a, b) => a - b)
    const texts = new Map<number, CountedText>()
    let read = 0
    // One by one: a document of a megabyte takes 30 ms.
    for (; read < touched.length && (connection.effort?.left ?? 1) > 0; read++) {
      const row = touched[read] ?? 0
      const text = this.#textOf(connection, row)
      if (text) texts.set(row, text)
      connection.effort?.use(this.#words.size * LOOK_FOR)
    }
    const rows = touched.slice(0, read)
    for (const row of rows) this.#lengths.set(row, texts.get(row)?.tokens.length ?? ABSENT)
    for (const [word, postings] of this.#words.entries()) {
      const before = postings.rows.length
      place(postings, rows, texts)
      if (postings.rows.length !== before) this.#words.weigh(word, postings.rows.length)
    }
    for (const { tokens } of texts.values()) this.#vocabulary.add(tokens)
    if (settled) for (const row of rows) this.#touched.delete(row)
    if (read < touched.length) throw new EffortSpent()
  }

  #textOf(connection: SqliteConnection, row: number): CountedText | undefined {
    const found = connection.get(`SELECT doc FROM ${this.#table} WHERE id = ?`, row)
    if (found === undefined) return undefined
    const text = textOf(found, 'doc')
    connection.effort?.use(text.length)
    return new CountedText(documentTokens(parseBody(splitDocument(text).body)))
  }

  /**
   * Of one word, of all that begin so, or of words side by side. Call it after {@link settle} with the same connection. Throws
   * EffortSpent where they are not known and too many to read now.
   */
  of(connection: SqliteConnection, phrase: RankedPhrase): Postings {
    const word = wordOf(phrase)
    const known = this.#words.get(word)
    if (known) return known
    try {
      return this.#keep(phrase, readPlaces(connection, this.#text, phrase))
    } catch (error) {
      if (error instanceof EffortSpent && this.#isRequested(phrase)) this.#miss({ kind: 'places', phrase })
      throw error
    }
  }

  /** The words that may be this one, misspelled. Throws as {@link of} does. */
  similarTo(connection: SqliteConnection, token: string, distance: number): ReadonlySet<string> {
    const known = this.#vocabulary.known(token, distance)
    if (known) return known
    if (connection.effort && this.#lengths.documents > FEW_DOCUMENTS) {
      this.#miss({ kind: 'similar', token, distance })
      throw new EffortSpent()
    }
    return this.#vocabulary.keep(token, distance, readSimilar(connection, this.#textTable, token, distance))
  }

  miss(tokens: Iterable<string>): void {
    for (const token of tokens) {
      const phrase: RankedPhrase = { tokens: [token], prefix: false }
      if (!this.#words.has(wordOf(phrase))) this.#miss({ kind: 'places', phrase })
    }
  }

  /** Reads elsewhere what searches missed, for those that come. */
  async readMissing(thread: Pick<SearchThread, 'places' | 'similar'>): Promise<void> {
    for (const missing of this.#missing.splice(0)) {
      if (missing.kind === 'places') await this.expectPlaces(thread, missing.phrase)
      else await this.#readSimilar(thread, missing.token, missing.distance)
    }
  }

  /** Reads elsewhere where a word stands, while others write. */
  async expectPlaces(thread: Pick<SearchThread, 'places'>, phrase: RankedPhrase): Promise<void> {
    const word = wordOf(phrase)
    if (this.#expected.has(word) || this.#words.has(word)) return
    // What is committed by now the thread will see; what is touched and not brought in yet it may not.
    const touched = new Set(this.#touched)
    this.#expected.set(word, touched)
    try {
      const { rows, counts } = await thread.places({ text: this.#text, phrase })
      this.#keep(phrase, { rows, counts })
      for (const row of touched) this.#touched.add(row)
    } finally {
      this.#expected.delete(word)
    }
  }

  async #readSimilar(thread: Pick<SearchThread, 'similar'>, token: string, distance: number): Promise<void> {
    if (!this.#vocabulary.expect(token, distance)) return
    try {
      const words = await thread.similar({ textTable: this.#textTable, token, distance })
      this.#vocabulary.keep(token, distance, words)
    } catch (error) {
      this.#vocabulary.giveUp(token, distance)
      throw error
    }
  }

  #isRequested(phrase: RankedPhrase): boolean {
    const word = wordOf(phrase)
    if (phrase.tokens.length === 1 || this.#missedOnce.delete(word)) return true
    this.#missedOnce.set(word, true)
    return false
  }

  #miss(words: MissingWords): void {
    if (this.#missing.length < MOST_MISSING) this.#missing.push(words)
  }

  /** An index goes on naming documents that were deleted. */
  #keep(phrase: RankedPhrase, read: Postings): Postings {
    const postings = { phrase, ...filteredPostings(read, (row) => this.lengthOf(row) !== ABSENT) }
    this.#words.set(wordOf(phrase), postings, postings.rows.length)
    return postings
  }
}

/** Puts the touched rows into a word's postings, in place of what stood there. */
function place(
  postings: GrowingPostings,
  touched: readonly number[],
  texts: ReadonlyMap<number, CountedText>,
): void {
  const { phrase } = postings
  const fresh = touched.flatMap((row) => {
    const count = Math.min(texts.get(row)?.count(phrase) ?? 0, 0xffff)
    return count > 0 ? [[row, count] as const] : []
  })
  const { rows, counts } = postings
  const gone = touched.some((row) => indexIn(rows, row) >= 0)
  if (fresh.length === 0 && !gone) return
  // New documents have the highest numbers.
  if (!gone && (fresh[0]?.[0] ?? 0) > (rows.at(-1) ?? 0)) {
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
  postings.rows = newRows.subarray(0, to)
  postings.counts = newCounts.subarray(0, to)
}
