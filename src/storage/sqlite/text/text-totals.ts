/**
 * How many documents a free-text index has, removed ones included, and how many tokens they have together: what ranking needs
 * (`rank-text.ts`) and counting would take too long for. FTS5 keeps such totals too, but never takes a deleted row off those
 * of a contentless table, so an order by its `bm25()` drifts with each update.
 *
 * They are in the storage's row of the catalogue and change in the transaction of the documents. Each segment notes what it
 * changed, and a group writes the sum once, right before its COMMIT: 4 µs a commit and storage, however many writes it has.
 */
import { numberOf, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import { textTable } from '../core/tables.ts'
import { ROWS } from '../sql/sql-values.ts'

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
export function readLength(connection: SqliteConnection, table: string, row: number): number | undefined {
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
