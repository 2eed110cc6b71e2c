/**
 * How many documents a free-text index has, removed ones included, and how many tokens they have together: what ranking needs
 * (`rank-text.ts`) and counting would take too long for. FTS5 keeps such totals too, but never takes a deleted row off those
 * of a contentless table, so an order by its `bm25()` drifts with each update.
 *
 * They are in the storage's row of the catalogue and change in the transaction of the documents. Each segment notes what it
 * changed, and a group writes the sum once, right before its COMMIT: 4 µs a commit and storage, however many writes it has.
 */
import { numberOf, type SqliteConnection } from '../core/sqlite-connection.ts'
import { textTable } from '../core/tables.ts'
import { readLengthsBehind } from './text-lengths.ts'

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
