/**
 * The free-text index of a storage. It is built in chunks, so that a storage with 100,000 documents does not stop all
 * writes for seconds; and how far it has come is stored with each chunk, so that it goes on after a restart. Until it is
 * complete, writers keep only the part up to that row right: rows behind it are still to come. Searches see it only
 * when it is complete.
 */
import type { JsonObject } from '../../shared/json.ts'
import { parseBody, splitDocument } from '../document-text.ts'
import { documentText } from '../text-tokens.ts'
import { numberOf, type SqliteConnection, textOf } from './sqlite-connection.ts'
import type { StorageEntry } from './storage-entry.ts'
import { textTable, textTableSql, vocabularyTableSql } from './tables.ts'

/** Documents a chunk: about 8 ms for documents of 35 words, in which nothing else runs. */
const CHUNK = 100

/** What is indexed of a document, or undefined if its row is not (or not yet) in an index. */
export function indexedText(entry: StorageEntry, row: number, body: JsonObject): string | undefined {
  return row <= entry.textUpTo ? documentText(body) : undefined
}

export function addText(connection: SqliteConnection, entry: StorageEntry, row: number, text: string): void {
  connection.run(`INSERT INTO ${textTable(entry.id)} (rowid, text) VALUES (?, ?)`, row, text)
  entry.postings?.touch(row)
}

export function changeText(
  connection: SqliteConnection,
  entry: StorageEntry,
  row: number,
  text: string,
): void {
  connection.run(`UPDATE ${textTable(entry.id)} SET text = ? WHERE rowid = ?`, text, row)
  entry.postings?.touch(row)
}

export function removeText(connection: SqliteConnection, entry: StorageEntry, row: number): void {
  if (row > entry.textUpTo) return
  connection.run(`DELETE FROM ${textTable(entry.id)} WHERE rowid = ?`, row)
  entry.postings?.touch(row)
}

/** Makes the empty index. In a transaction of its own. */
export function startText(connection: SqliteConnection, entry: StorageEntry): void {
  connection.exec(textTableSql(entry.id))
  connection.run('UPDATE storage SET text = 0 WHERE id = ?', entry.id)
}

/** For databases that were made before free text had a table of its words. Costs nothing where it is there. */
export function ensureVocabulary(connection: SqliteConnection): void {
  for (const row of connection.all('SELECT id FROM storage WHERE text >= 0'))
    connection.exec(vocabularyTableSql(numberOf(row, 'id')))
}

/** Indexes the next documents. In a transaction of its own; gives `textUpTo` as it is then. */
export function continueText(connection: SqliteConnection, entry: StorageEntry): number {
  const rows = connection.all(
    `SELECT id, doc FROM ${entry.table} WHERE id > ? ORDER BY id LIMIT ${CHUNK}`,
    entry.textUpTo,
  )
  let last = entry.textUpTo
  for (const row of rows) {
    last = numberOf(row, 'id')
    addText(connection, entry, last, documentText(parseBody(splitDocument(textOf(row, 'doc')).body)))
  }
  const complete = rows.length < CHUNK
  connection.run(
    'UPDATE storage SET text = ?, text_complete = ? WHERE id = ?',
    last,
    complete ? 1 : 0,
    entry.id,
  )
  return complete ? Infinity : last
}
