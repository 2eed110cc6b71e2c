/**
 * How many tokens documents have in a free-text index, from FTS5's own table of sizes. All that a statement finds come as one
 * text: 0.25 µs a document, where a row of its own for each takes 2.7.
 */
import { type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import { ROWS } from '../sql/row-count.ts'

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
