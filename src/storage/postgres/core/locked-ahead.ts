/**
 * Documents that are locked and read in one statement because the same change follows for each of them. With a statement of its own for
 * each, 100,000 documents were 100,000 trips, one after the other: with four clients beside them each trip waited for a processor.
 *
 * A row stays as it was read: no other transaction can change it before this one ends, and what this one does with it takes it out first.
 */
import type { StorageEntry } from './postgres-catalogue.ts'
import { type PostgresConnection, textOf } from './rows.ts'

export type RowLock = 'FOR UPDATE' | 'FOR NO KEY UPDATE'

/** By table and guid, of one transaction. Without a text: a document that is not there, or too long to be held with others. */
export type LockedAhead = Map<string, { readonly lock: RowLock; readonly text: string | undefined }>

/** Rows of one statement: a page of a change of many documents. */
const MOST = 200
/** Bytes of a document; longer ones are read one by one. */
const LONGEST = 64 * 1024

const keyOf = ({ table }: StorageEntry, guid: string) => `${table} ${guid}`

/** The text of a document that is locked; undefined where it is to be asked for by itself. */
export async function lockedText(
  { connection, entry, ahead }: { connection: PostgresConnection; entry: StorageEntry; ahead: LockedAhead },
  guid: string,
  lock: RowLock,
  following: readonly string[],
): Promise<string | undefined> {
  const known = ahead.get(keyOf(entry, guid))
  if (known === undefined && following.length > 0) {
    const guids = [guid, ...following.slice(0, MOST - 1)]
    const rows = await connection.rows(
      `SELECT guid, CASE WHEN octet_length(doc::text) <= ${LONGEST} THEN doc END AS doc FROM ${entry.table}
      WHERE guid = ANY($1::text[]) ORDER BY guid ${lock}`,
      [guids],
    )
    const texts = new Map(
      rows.map((row) => [textOf(row, 'guid'), row.doc == null ? undefined : textOf(row, 'doc')]),
    )
    for (const one of guids) ahead.set(keyOf(entry, one), { lock, text: texts.get(one) })
  }
  const taken = ahead.get(keyOf(entry, guid))
  forgetLocked({ entry, ahead }, guid)
  return taken?.lock === lock ? taken.text : undefined
}

/** Before the document is written in another way. */
export function forgetLocked(
  { entry, ahead }: { entry: StorageEntry; ahead: LockedAhead },
  guid: string,
): void {
  ahead.delete(keyOf(entry, guid))
}
