/**
 * An update of a document that is not locked: it is read as committed, with the reads of other sessions in one trip, and written
 * with their commits in one more, if it is still the same by then. With a lock each session has a connection, two trips and a
 * write to disk of its own: 32 clients that update at once took 4 times the processor time.
 */

import { splitDocument } from '../../document-session.ts'
import { SerializationConflict } from '../../unit-of-work.ts'
import type { Statement } from './pipeline.ts'
import { isPlain, type StorageEntry } from './postgres-catalogue.ts'
import type { PostgresTransaction } from './postgres-transaction.ts'

export interface OptimisticWriting {
  readonly connection: PostgresTransaction
  readonly entry: StorageEntry
  /** The entry as it is by now. */
  readonly current: () => StorageEntry
  /** Text of a document as committed, with a lock on nothing: where the session is optimistic, and has written nothing. */
  readonly committed?: ((guid: string) => Promise<string | undefined>) | undefined
}

export interface StoredDocument {
  readonly text: string
  readonly parts: ReturnType<typeof splitDocument>
}

export type UpdateStatement = Required<Pick<Statement, 'text' | 'values'>>

/** Characters of a document that is sent once more to be compared. A longer one costs more than the trip of a lock. */
const MOST_COMPARED = 8 * 1024

/** Undefined where it is to be locked, or is not there. */
export async function unlockedDocument(
  { committed, entry }: OptimisticWriting,
  guid: string,
): Promise<StoredDocument | undefined> {
  if (committed === undefined || !isPlain(entry)) return undefined
  const text = await committed(guid)
  return text === undefined || text.length > MOST_COMPARED ? undefined : { text, parts: splitDocument(text) }
}

/**
 * Writes over a document that is not locked, if it is still `text`: with the commits of other sessions, so that 32 clients that
 * update at once wait for one write to disk and not for 32. Where it is not, the statement divides by zero, and the whole
 * transaction is undone: half of a session can never be committed.
 */
export function deferChecked(
  { connection, entry, current }: OptimisticWriting,
  text: string,
  update: (entry: StorageEntry) => UpdateStatement,
): void {
  const checked = (onlyIf: (same: string, table: string) => string) => {
    const { table } = current()
    // A unique key that came meanwhile may refuse it: then the document is locked, in the next try.
    if (current() !== entry && !isPlain(current())) return undefined
    const sent = update(current())
    const same = onlyIf(`doc::text = $${sent.values.length + 1}`, table)
    return connection.statement(
      `WITH written AS (${sent.text} AND ${same} RETURNING 1) SELECT 1 / count(*) FROM written`,
      [...sent.values, text],
    )
  }
  connection.defer({
    statement: () => checked((same) => same),
    async perform() {
      throw new SerializationConflict()
    },
    // Totals of free text are rows that other transactions change, too.
    unwaiting: () =>
      current().needsText
        ? undefined
        : checked(
            (same, table) =>
              `guid = (SELECT guid FROM ${table} WHERE guid = $1 AND ${same} FOR NO KEY UPDATE SKIP LOCKED)`,
          ),
  })
}
