/**
 * The free-text index of a storage. It is built in chunks, so that a storage with 100,000 documents does not stop all
 * writes for seconds; and how far it has come is stored with each chunk, so that it goes on after a restart. Until it is
 * complete, writers keep only the part up to that row right: rows behind it are still to come. Searches see it only
 * when it is complete.
 */
import type { JsonObject } from '../../../shared/json.ts'
import { parseBody, splitDocument } from '../../document-session.ts'
import { documentText } from '../../search/text-tokens.ts'
import { numberOf, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { textTable, textTableSql, vocabularyTableSql } from '../core/tables.ts'
import { readLength, TextTotals } from './text-totals.ts'

/** Documents a chunk: about 8 ms for documents of 35 words, in which nothing else runs. */
const CHUNK = 100

/** What is indexed of a document, or undefined if its row is not (or not yet) in an index. */
export function indexedText(entry: StorageEntry, row: number, body: JsonObject): string | undefined {
  return row <= entry.textUpTo ? documentText(body) : undefined
}

/** The index as a write changes it, and the totals that change with it. */
export interface TextWriting {
  readonly connection: SqliteConnection
  readonly entry: StorageEntry
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
export function startText(connection: SqliteConnection, entry: StorageEntry): void {
  connection.exec(textTableSql(entry.id))
  connection.run('UPDATE storage SET text = 0, text_documents = 0, text_tokens = 0 WHERE id = ?', entry.id)
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
