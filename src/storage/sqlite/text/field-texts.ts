/**
 * The words of single fields, in memory: what a search in named fields needs. The free-text index knows in which documents
 * a word stands and not in which field, so each of its hits would have to be read: 640 ms for a word in 60,000 documents,
 * where one walk over the numbers here takes 2.
 *
 * Of each field that was searched in, every document's words are stored one after the other as numbers. The first search
 * reads them, in slices between which the event loop turns. Each writer reports the rows that it touched, committed or not;
 * before the next search the current words of these rows replace the old ones. So the memory holds what the connection
 * sees.
 */

import type { JsonValue } from '../../../shared/json.ts'
import { lruCache } from '../../../shared/lru-cache.ts'
import { EffortSpent } from '../../search/search-effort.ts'
import { VALUE_BREAK, valueTokens } from '../../search/text-tokens.ts'
import { numberOf, type Row, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import { jsonPath } from '../sql/field-sql.ts'

/** Documents read by one statement. */
const SLICE = 100
/** How long the event loop may wait for reading, each turn. */
const TURN_MS = 10
/** Of one storage, four bytes each: 24 MB. */
const MOST_TOKENS = 6_000_000
const MOST_ROWS = 1_000_000
const MOST_WORDS = 500_000
const MOST_FIELDS = 24
/** Of one field of one document. Then no few fields reach the number at which a document's text is cut. */
const MOST_IN_FIELD = 2_000
/** More touched rows than this are not worth replacing one by one: everything is read again. */
const MOST_TOUCHED = 2_000

const ABSENT = 0
export const PRESENT = 1
const REMOVED = 2
/** The number of the break between two values. */
const BREAK = 0

/**
 * One field's words: those of row n are `lengths[n]` numbers from `starts[n]` on. In front of them stands -n, so that a walk
 * over all of them knows the row, and a search that finds a word finds its row by walking back.
 */
export interface FieldColumn {
  starts: Int32Array
  lengths: Int32Array
  tokens: Int32Array
  /** Used of `tokens`, including the old tokens of rows that were written again; these are breaks. */
  size: number
}

/** A storage's table, and the words of its fields while there are some. */
export interface TextedTable {
  readonly table: string
  /** Who is told of each row that is written. */
  readonly touched?: { alsoTell(reported: (row: number) => void): void } | undefined
  fieldTexts?: FieldTexts | undefined
}

/**
 * Those of a storage when all words of these fields are there; else it begins to read them. It begins only while no
 * transaction is open: later rows are told of, and earlier ones are committed.
 */
export function fieldTextsOf(
  connection: SqliteConnection,
  entry: TextedTable,
  fields: readonly string[],
  settled: boolean,
): FieldTexts | undefined {
  if (entry.fieldTexts?.usable === false) entry.fieldTexts = undefined
  if (entry.fieldTexts === undefined && entry.touched !== undefined && settled) {
    const texts = new FieldTexts(entry.table)
    entry.fieldTexts = texts
    entry.touched.alsoTell((row) => texts.touch(row))
  }
  const texts = entry.fieldTexts
  if (texts === undefined) return undefined
  if (!texts.holds(fields) && settled) {
    if (texts.begin(fields)) setImmediate(readOn, connection, entry, texts)
    // A small storage is read at once.
    readFor(TURN_MS, connection, texts)
  }
  return texts.holds(fields) ? texts : undefined
}

function readOn(connection: SqliteConnection, entry: TextedTable, texts: FieldTexts): void {
  // The storage may have been closed or dropped meanwhile, or the words given up.
  if (!connection.database.isOpen || entry.fieldTexts !== texts) return
  try {
    if (!readFor(TURN_MS, connection, texts)) setImmediate(readOn, connection, entry, texts)
  } catch {
    // The next search begins again, and tells of it.
    entry.fieldTexts = undefined
  }
}

/** True when there is nothing left to be read. */
function readFor(milliseconds: number, connection: SqliteConnection, texts: FieldTexts): boolean {
  const end = performance.now() + milliseconds
  while (!texts.readSlice(connection)) if (performance.now() > end) return false
  return true
}

/** Each takes a byte a document. */
const MOST_ANSWERS = 8

export class FieldTexts {
  readonly #table: string
  /** Whether a row is there: ABSENT, PRESENT or REMOVED. */
  #states = new Uint8Array(1)
  #complete = false
  /** Permanent: reading the field again would not make it smaller. */
  #tooLarge = false
  #used = 0
  #unused = 0
  /** By field, once all of its words are there. */
  readonly #columns = new Map<string, FieldColumn>()
  #reading: { readonly columns: ReadonlyMap<string, FieldColumn>; upTo: number } | undefined
  readonly #touched = new Set<number>()
  /** A word's number, from 1. */
  readonly #numbers = new Map<string, number>([[VALUE_BREAK, BREAK]])
  readonly words: string[] = [VALUE_BREAK]
  /** Numbers of words by their first letter. */
  readonly #starting = new Map<string, number[]>()
  /** What was found out about these words, until one of them changes. */
  readonly answers = lruCache<string, Uint8Array>(MOST_ANSWERS)

  constructor(table: string) {
    this.#table = table
  }

  /** Row numbers are below this. */
  get rows(): number {
    return this.#states.length
  }

  get states(): Uint8Array {
    return this.#states
  }

  /** False when it has to be built again: too many rows were touched, or most tokens belong to no row any more. */
  get usable(): boolean {
    return this.#tooLarge || (this.#touched.size <= MOST_TOUCHED && this.#unused <= MOST_TOKENS)
  }

  touch(row: number): void {
    if (this.#touched.size <= MOST_TOUCHED && !this.#tooLarge) this.#touched.add(row)
  }

  holds(fields: readonly string[]): boolean {
    return this.#complete && !this.#tooLarge && fields.every((field) => this.#columns.has(field))
  }

  /** True: slices have to be read now. */
  begin(fields: readonly string[]): boolean {
    if (this.#reading || this.#tooLarge) return false
    const missing = [...new Set(fields)].filter((field) => !this.#columns.has(field))
    if (this.#columns.size + missing.length > MOST_FIELDS) return false
    const columns = new Map(missing.map((field) => [field, emptyColumn(this.rows)] as const))
    this.#reading = { columns, upTo: 0 }
    return true
  }

  /** Reads the next documents; true when it was the last of them. */
  readSlice(connection: SqliteConnection): boolean {
    const reading = this.#reading
    if (reading === undefined) return true
    const rows = connection.all(
      `SELECT id, removed, ${valuesSql(reading.columns)} FROM ${this.#table} WHERE id > ? ORDER BY id LIMIT ${SLICE}`,
      reading.upTo,
    )
    for (const row of rows) {
      reading.upTo = numberOf(row, 'id')
      this.#put(reading.columns, row)
    }
    if (this.#tooLarge) return true
    if (rows.length === SLICE) return false
    for (const [field, column] of reading.columns) this.#columns.set(field, column)
    this.#reading = undefined
    this.#complete = true
    return true
  }

  /**
   * Reads the touched rows as this connection sees them. `settled`: there are no uncommitted writes.
   * Throws EffortSpent when they are more than the search may look at; the next search continues after them.
   */
  settle(connection: SqliteConnection, settled: boolean): void {
    if (this.#touched.size === 0) return
    const touched = [...this.#touched]
    let read = 0
    while (read < touched.length && (connection.effort?.left ?? 1) > 0) {
      this.#settle(connection, touched.slice(read, read + SLICE))
      read += SLICE
    }
    this.answers.clear()
    if (settled) for (const row of touched.slice(0, read)) this.#touched.delete(row)
    if (read < touched.length) throw new EffortSpent()
  }

  #settle(connection: SqliteConnection, touched: readonly number[]): void {
    const columns = new Map([...this.#columns, ...(this.#reading?.columns ?? [])])
    const found = connection.all(
      `SELECT id, removed, ${valuesSql(columns)} FROM ${this.#table} WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(touched),
    )
    for (const row of touched) {
      if (row >= this.rows) continue
      this.#states[row] = ABSENT
      for (const column of columns.values()) this.#clear(column, row)
    }
    for (const row of found) {
      connection.effort?.use(textOf(row, 'found').length)
      this.#put(columns, row)
    }
  }

  column(field: string): FieldColumn {
    const column = this.#columns.get(field)
    if (column === undefined) throw new Error(`The words of ${field} are not there.`)
    return column
  }

  /** The numbers of all words that start with the same letter. */
  startingLike(word: string): readonly number[] {
    return this.#starting.get(word[0] ?? '') ?? []
  }

  numberOf(word: string): number | undefined {
    return this.#numbers.get(word)
  }

  /** The words of these fields of a document, as `valueTokens` gives them. */
  tokensOf(row: number, fields: readonly string[]): string[] {
    const tokens: string[] = []
    for (const field of fields) {
      const { starts, lengths, tokens: all } = this.column(field)
      const [start = 0, length = 0] = [starts[row], lengths[row]]
      if (length > 0 && tokens.length > 0) tokens.push(VALUE_BREAK)
      for (let at = start; at < start + length; at++) tokens.push(this.words[all[at] ?? 0] ?? '')
    }
    return tokens
  }

  #put(columns: ReadonlyMap<string, FieldColumn>, read: Row): void {
    const row = numberOf(read, 'id')
    if (row >= MOST_ROWS) this.#giveUp()
    if (this.#tooLarge) return
    if (row >= this.rows) this.#grow(row)
    this.#states[row] = numberOf(read, 'removed') === 0 ? PRESENT : REMOVED
    const values: unknown = JSON.parse(textOf(read, 'found'))
    // SQLite made it of what is stored.
    const list: readonly JsonValue[] = Array.isArray(values) ? values : []
    let at = 0
    for (const column of columns.values()) this.#putField(column, row, list[at++])
  }

  #putField(column: FieldColumn, row: number, value: JsonValue | undefined): void {
    const tokens = valueTokens([value])
    this.#clear(column, row)
    if (row >= column.starts.length) {
      column.starts = longer(column.starts, this.rows)
      column.lengths = longer(column.lengths, this.rows)
    }
    const size = column.size + tokens.length + 1
    this.#used += tokens.length + 1
    const held = this.#used - this.#unused
    if (tokens.length > MOST_IN_FIELD || held > MOST_TOKENS || this.words.length > MOST_WORDS) {
      this.#giveUp()
      return
    }
    if (size > column.tokens.length) column.tokens = longer(column.tokens, Math.ceil(size * 1.5))
    column.tokens[column.size++] = -row
    column.starts[row] = column.size
    column.lengths[row] = tokens.length
    for (const token of tokens) column.tokens[column.size++] = this.#numberFor(token)
  }

  #clear({ starts, lengths, tokens }: FieldColumn, row: number): void {
    const [start = 0, length = 0] = [starts[row], lengths[row]]
    if (length === 0) return
    tokens.fill(BREAK, start, start + length)
    lengths[row] = 0
    this.#unused += length
  }

  #giveUp(): void {
    this.#tooLarge = true
    this.#reading = undefined
    for (const held of [this.#columns, this.#numbers, this.#starting, this.#touched, this.answers])
      held.clear()
    this.words.length = 0
  }

  #numberFor(token: string): number {
    const known = this.#numbers.get(token)
    if (known !== undefined) return known
    this.#numbers.set(token, this.words.length)
    const number = this.words.push(token) - 1
    const first = token[0] ?? ''
    const starting = this.#starting.get(first)
    if (starting) starting.push(number)
    else this.#starting.set(first, [number])
    return number
  }

  #grow(row: number): void {
    const states = new Uint8Array(Math.max(row + 1, Math.ceil(this.rows * 1.5), 1_024))
    states.set(this.#states)
    this.#states = states
  }
}

function valuesSql(columns: ReadonlyMap<string, FieldColumn>): string {
  return `json_array(${[...columns.keys()].map((field) => `doc -> ${jsonPath(field)}`).join(', ')}) AS found`
}

function emptyColumn(rows: number): FieldColumn {
  return {
    starts: new Int32Array(rows),
    lengths: new Int32Array(rows),
    tokens: new Int32Array(1_024),
    size: 0,
  }
}

function longer(list: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const more = new Int32Array(length)
  more.set(list)
  return more
}
