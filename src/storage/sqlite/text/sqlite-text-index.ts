/**
 * The free-text index of a storage. It is built in chunks, so that a storage with 100,000 documents does not stop all
 * writes for seconds; and how far it has come is stored with each chunk, so that it goes on after a restart. Until it is
 * complete, writers keep only the part up to that row right: rows behind it are still to come. Searches see it only
 * when it is complete.
 *
 * Beside it, its totals: how many documents it has, removed ones included, and how many tokens they have together. Ranking needs them
 * (`rank-text.ts`), and counting would take too long. FTS5 keeps such totals too, but never takes a deleted row off those
 * of a contentless table, so an order by its `bm25()` drifts with each update.
 *
 * The totals are in the storage's row of the catalogue and change in the transaction of the documents. Each segment notes what it
 * changed, and a group writes the sum once, right before its COMMIT: 4 µs a commit and storage, however many writes it has.
 */
import type { JsonObject } from '../../../shared/json.ts'
import { parseBody, splitDocument } from '../../document-session.ts'
import { documentText } from '../../search/text-tokens.ts'
import { numberOf, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import { textTable, textTableSql, vocabularyTableSql } from '../core/tables.ts'
import { ROWS } from '../sql/sql-values.ts'

/** Documents a chunk: about 8 ms for documents of 35 words, in which nothing else runs. */
const CHUNK = 100

/** What this file needs of a storage; `StorageEntry` has it. */
interface TextEntry {
  readonly id: number
  readonly table: string
  readonly textUpTo: number
  readonly postings?: { touch(row: number): void } | undefined
}

/** What is indexed of a document, or undefined if its row is not (or not yet) in an index. */
export function indexedText(entry: TextEntry, row: number, body: JsonObject): string | undefined {
  return row <= entry.textUpTo ? documentText(body) : undefined
}

/** The index as a write changes it, and the totals that change with it. */
export interface TextWriting {
  readonly connection: SqliteConnection
  readonly entry: TextEntry
  readonly totals: TextTotals
}

export function addText({ connection, entry, totals }: TextWriting, row: number, text: string): void {
  connection.run(`INSERT INTO ${textTable(entry.id)} (rowid, text) VALUES (?, ?)`, row, text)
  totals.add(entry.id, 1, tokensIn(text))
  entry.postings?.touch(row)
}

export function changeText(
  { connection, entry, totals }: TextWriting,
  row: number,
  { before, after }: { readonly before: string; readonly after: string },
): void {
  connection.run(`UPDATE ${textTable(entry.id)} SET text = ? WHERE rowid = ?`, after, row)
  totals.add(entry.id, 0, tokensIn(after) - tokensIn(before))
  entry.postings?.touch(row)
}

export function removeText({ connection, entry, totals }: TextWriting, row: number): void {
  if (row > entry.textUpTo) return
  const table = textTable(entry.id)
  const length = readLength(connection, table, row)
  if (length !== undefined) totals.add(entry.id, -1, -length)
  connection.run(`DELETE FROM ${table} WHERE rowid = ?`, row)
  entry.postings?.touch(row)
}

/** They are joined by one space each. */
function tokensIn(text: string): number {
  if (text === '') return 0
  let count = 1
  for (let at = text.indexOf(' '); at >= 0; at = text.indexOf(' ', at + 1)) count += 1
  return count
}

/** Makes the empty index. In a transaction of its own. */
export function startText(connection: SqliteConnection, entry: TextEntry): void {
  connection.exec(textTableSql(entry.id))
  connection.run('UPDATE storage SET text = 0, text_documents = 0, text_tokens = 0 WHERE id = ?', entry.id)
}

/** For databases that were made before free text had a table of its words. Costs nothing where it is there. */
export function ensureVocabulary(connection: SqliteConnection): void {
  for (const row of connection.all('SELECT id FROM storage WHERE text >= 0'))
    connection.exec(vocabularyTableSql(numberOf(row, 'id')))
}

/** Indexes the next documents. In a transaction of its own; gives `textUpTo` as it is then. */
export function continueText(connection: SqliteConnection, entry: TextEntry): number {
  const rows = connection.all(
    `SELECT id, doc FROM ${entry.table} WHERE id > ? ORDER BY id LIMIT ${CHUNK}`,
    entry.textUpTo,
  )
  let last = entry.textUpTo
  const totals = new TextTotals()
  for (const row of rows) {
    last = numberOf(row, 'id')
    const text = documentText(parseBody(splitDocument(textOf(row, 'doc')).body))
    addText({ connection, entry, totals }, last, text)
  }
  totals.save(connection)
  const complete = rows.length < CHUNK
  connection.run(
    'UPDATE storage SET text = ?, text_complete = ? WHERE id = ?',
    last,
    complete ? 1 : 0,
    entry.id,
  )
  return complete ? Infinity : last
}

// How many tokens documents have in a free-text index, from FTS5's own table of sizes. All that a statement finds come as one
// text: 0.25 µs a document, where a row of its own for each takes 2.7.

/** Of these rows, in their order. Each of them must be in the index. */
export function readLengths(connection: SqliteConnection, table: string, rows: Int32Array): Int32Array {
  const lengths = new Int32Array(rows.length)
  if (rows.length === 0) return lengths
  // An outer join keeps the order of the list.
  const row = connection.get(
    `SELECT group_concat(ifnull(hex(sz), '')) AS sizes FROM json_each(?) LEFT JOIN ${table}_docsize AS size ON size.id = value`,
    `[${rows.join(',')}]`,
  )
  const read = decoded(textOf(row ?? {}, 'sizes'), lengths)
  if (read !== rows.length) throw new Error(`Of ${rows.length} rows ${read} have a size.`)
  return lengths
}

/** Of the next rows of the index, at most `most`. */
export function readLengthsBehind(
  connection: SqliteConnection,
  table: string,
  last: number,
  most: number,
): { readonly rows: readonly number[]; readonly lengths: Int32Array } {
  const row = connection.get(
    `SELECT json_group_array(id) AS rows, ifnull(group_concat(hex(sz)), '') AS sizes
    FROM (SELECT id, sz FROM ${table}_docsize WHERE id > ? ORDER BY id LIMIT ${ROWS})`,
    last,
    most,
  )
  const rows: unknown = JSON.parse(textOf(row ?? {}, 'rows'))
  if (!Array.isArray(rows)) throw new TypeError('Rows are a list.')
  const lengths = new Int32Array(rows.length)
  if (rows.length > 0) decoded(textOf(row ?? {}, 'sizes'), lengths)
  return { rows, lengths }
}

/** Of one row; undefined if it is not in the index. */
function readLength(connection: SqliteConnection, table: string, row: number): number | undefined {
  const found = connection.get(`SELECT hex(sz) AS sizes FROM ${table}_docsize WHERE id = ?`, row)
  if (found === undefined) return undefined
  const length = new Int32Array(1)
  decoded(textOf(found, 'sizes'), length)
  return length[0]
}

const COMMA = 44

/**
 * Reads the first of SQLite's variable-length integers of each size, in hex, with commas between them: seven bits a byte, the
 * highest says that more follows. Gives how many there are.
 */
function decoded(sizes: string, lengths: Int32Array): number {
  let count = 0
  for (let at = 0; at < sizes.length; count++) {
    let value = 0
    let more = true
    for (; at < sizes.length && sizes.charCodeAt(at) !== COMMA; at += 2) {
      if (!more) continue
      const byte = digit(sizes.charCodeAt(at)) * 16 + digit(sizes.charCodeAt(at + 1))
      value = value * 128 + (byte & 0x7f)
      more = byte >= 0x80
    }
    if (more) throw new Error('A row has no size.')
    lengths[count] = value
    at++
  }
  return count
}

/** 0-9 and A-F. */
function digit(code: number): number {
  return code < 65 ? code - 48 : code - 55
}

export interface TextTotal {
  readonly documents: number
  readonly tokens: number
}

/** What was changed, by the storage's number. */
export class TextTotals {
  readonly #changes = new Map<number, { documents: number; tokens: number }>()

  add(storage: number, documents: number, tokens: number): void {
    const change = this.#changes.get(storage)
    if (change) {
      change.documents += documents
      change.tokens += tokens
    } else this.#changes.set(storage, { documents, tokens })
  }

  addAll(others: TextTotals): void {
    for (const [storage, { documents, tokens }] of others.#changes) this.add(storage, documents, tokens)
  }

  of(storage: number): TextTotal {
    return this.#changes.get(storage) ?? { documents: 0, tokens: 0 }
  }

  /** Inside the transaction that made the changes. */
  save(connection: SqliteConnection): void {
    for (const [storage, { documents, tokens }] of this.#changes)
      if (documents !== 0 || tokens !== 0)
        connection.run(
          'UPDATE storage SET text_documents = text_documents + ?, text_tokens = text_tokens + ? WHERE id = ?',
          documents,
          tokens,
          storage,
        )
  }
}

interface Changed {
  readonly totals?: TextTotals
}

/** What several segments changed together. */
export function together(segments: readonly Changed[]): TextTotals {
  const all = new TextTotals()
  for (const { totals } of segments) if (totals) all.addAll(totals)
  return all
}

/** As the connection sees it, without what is not saved yet. */
export function readTotal(connection: SqliteConnection, storage: number): TextTotal {
  const row = connection.get('SELECT text_documents, text_tokens FROM storage WHERE id = ?', storage) ?? {}
  return { documents: numberOf(row, 'text_documents'), tokens: numberOf(row, 'text_tokens') }
}

/** Rows of an index whose lengths are read in one statement. */
const SLICE = 10_000

/**
 * Counts the totals of databases that are older than totals; no other session writes meanwhile. Costs nothing elsewhere.
 */
export function ensureTotals(connection: SqliteConnection): void {
  for (const row of connection.all('SELECT id FROM storage WHERE text >= 0 AND text_documents IS NULL')) {
    const id = numberOf(row, 'id')
    const { documents, tokens } = countTotal(connection, textTable(id))
    connection.run(
      'UPDATE storage SET text_documents = ?, text_tokens = ? WHERE id = ?',
      documents,
      tokens,
      id,
    )
  }
}

function countTotal(connection: SqliteConnection, table: string): TextTotal {
  let documents = 0
  let tokens = 0
  for (let last = 0; ; ) {
    const { rows, lengths } = readLengthsBehind(connection, table, last, SLICE)
    documents += rows.length
    for (const length of lengths) tokens += length
    last = rows.at(-1) ?? last
    if (rows.length < SLICE) return { documents, tokens }
  }
}
