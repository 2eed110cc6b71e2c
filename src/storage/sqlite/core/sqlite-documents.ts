/** Reading and writing documents of one storage on a connection. What is written must be inside the writer's turn. */
import { QuoinError } from '../../../shared/errors.ts'
import type { JsonObject } from '../../../shared/json.ts'
import type { Meta } from '../../../shared/meta.ts'
import type { Mutation } from '../../../shared/mutation.ts'
import { applyMutations } from '../../apply-mutations.ts'
import type { CreateOptions, WriteCondition, Written } from '../../database.ts'
import {
  bodyText,
  changedBody,
  type DocumentChanges,
  joinDocument,
  mostFields,
  parseBody,
  type Stamps,
  splitDocument,
  unmet,
} from '../../document-session.ts'
import { StoredJson } from '../../stored-json.ts'
import {
  type ActiveUniqueKey,
  changedValues,
  keyTable,
  type UniqueValue,
  uniqueValues,
  type ValueChange,
} from '../../unique/active-unique-key.ts'
import { UniqueConflict } from '../../unique/duplicates.ts'
import { addText, changeText, indexedText, removeText, type TextTotals } from '../text/sqlite-text-index.ts'
import { noteShape, type ShapeRow, shapeRows } from './document-shape.ts'
import { numberOf, type SqliteConnection, textOf } from './sqlite-connection.ts'
import { uniqueConflict } from './sqlite-indexes.ts'
import type { StorageEntry } from './storage-entry.ts'

/** What a write works with. */
export interface Writing {
  readonly connection: SqliteConnection
  readonly entry: StorageEntry
  readonly stamps: Stamps
  /** Gets the entry if its shape was widened, so that it can be set right if the write is undone. */
  readonly widened: Set<StorageEntry>
  readonly totals: TextTotals
}

interface StoredDocument {
  /** Row number. */
  readonly id: number
  readonly text: string
  readonly meta: Meta
  /** JSON text without `_meta`. */
  readonly body: string
}

const notFound: Written = { outcome: 'not_found' }

export function getDocument(
  connection: SqliteConnection,
  entry: StorageEntry,
  guid: string,
  removed: boolean,
): StoredJson | undefined {
  const row = connection.get(
    `SELECT doc FROM ${entry.table} WHERE guid = ?${removed ? '' : ' AND removed = 0'}`,
    guid,
  )
  return row === undefined ? undefined : new StoredJson(textOf(row, 'doc'))
}

export function createDocument(
  writing: Writing,
  mutations: readonly Mutation[],
  options: CreateOptions | undefined,
): StoredJson {
  const { connection, entry, stamps } = writing
  const body = applyMutations({}, mutations, mostFields(entry.name))
  const bodyAsText = bodyText(body, entry.name)
  const input = options?.guid
  // Asked before: there is one writer, and a refused statement would undo more than itself.
  if (input !== undefined && connection.get(`SELECT 1 AS n FROM ${entry.table} WHERE guid = ?`, input))
    throw new QuoinError('CONFLICT', `There is a document with the guid ${input}.`)
  const taken = uniqueValues(entry.unique, body)
  refuseTaken(connection, entry.name, taken)
  const meta = stamps.created(options)
  const text = joinDocument(meta, bodyAsText)
  const row = refusing(entry, () =>
    connection.insert(
      `INSERT INTO ${entry.table} (guid, created, updated, removed, version, doc) VALUES (?, ?, ?, 0, 1, ?)`,
      meta.guid,
      meta.cms,
      meta.ums,
      text,
    ),
  )
  takeValues(connection, meta.guid, taken)
  entry.touched?.touch(row, undefined)
  saveShape(writing, body)
  const indexed = indexedText(entry, row, body)
  if (indexed !== undefined) addText(writing, row, indexed)
  return new StoredJson(text)
}

function updateDocument(
  writing: Writing,
  guid: string,
  mutations: readonly Mutation[],
  condition: WriteCondition | undefined,
): Written {
  const { entry, stamps } = writing
  const stored = readDocument(writing, guid)
  if (stored === undefined || stored.meta.removed !== 0) return notFound
  const refusal = unmet(condition, stored.meta, stored.text)
  if (refusal) return refusal
  const before = parseBody(stored.body)
  const textBefore = indexedText(entry, stored.id, before)
  const body = changedBody(before, mutations, condition, mostFields(entry.name))
  // Also when nothing differs: a client that holds the old update_hash should learn of the write by another client, and
  // a check for differences would mean comparing whole documents on each write.
  const values = changedValues(
    entry.unique,
    () => before,
    () => body,
  )
  const document = writeDocument(writing, stored, {
    meta: stamps.changed(stored.meta),
    body: bodyText(body, entry.name),
    values,
  })
  saveShape(writing, body)
  const text = indexedText(entry, stored.id, body)
  if (textBefore !== undefined && text !== undefined && text !== textBefore)
    changeText(writing, stored.id, { before: textBefore, after: text })
  return { outcome: 'written', document, before: new StoredJson(stored.text) }
}

/** Sets the mark of a soft delete (`removed`), or takes it away. Not found if the document is that already. */
function setRemoved(
  writing: Writing,
  guid: string,
  removed: boolean,
  condition: WriteCondition | undefined,
): Written {
  const stored = readDocument(writing, guid)
  if (stored === undefined || (stored.meta.removed !== 0) === removed) return notFound
  const refusal = unmet(condition, stored.meta, stored.text)
  if (refusal) return refusal
  const meta = writing.stamps.changed(stored.meta, removed)
  const present = () => parseBody(stored.body)
  const values = removed
    ? changedValues(writing.entry.unique, present, undefined)
    : changedValues(writing.entry.unique, undefined, present)
  const document = writeDocument(writing, stored, { meta, body: stored.body, values })
  return { outcome: 'written', document, before: new StoredJson(stored.text) }
}

function deleteDocument(writing: Writing, guid: string, condition: WriteCondition | undefined): Written {
  const { connection, entry } = writing
  const stored = readDocument(writing, guid)
  if (stored === undefined) return notFound
  const refusal = unmet(condition, stored.meta, stored.text)
  if (refusal) return refusal
  entry.touched?.touch(stored.id, stored.text)
  connection.run(`DELETE FROM ${entry.table} WHERE id = ?`, stored.id)
  const wasPresent = stored.meta.removed === 0
  const { freed } = changedValues(
    entry.unique,
    wasPresent ? () => parseBody(stored.body) : undefined,
    undefined,
  )
  freeValues(connection, guid, freed)
  removeText(writing, stored.id)
  const document = new StoredJson(stored.text)
  return { outcome: 'written', document, before: document }
}

function readDocument({ connection, entry }: Writing, guid: string): StoredDocument | undefined {
  const row = connection.get(`SELECT id, doc FROM ${entry.table} WHERE guid = ?`, guid)
  if (row === undefined) return undefined
  const text = textOf(row, 'doc')
  return { id: numberOf(row, 'id'), text, ...splitDocument(text) }
}

/** What a document becomes. */
interface NewState {
  readonly meta: Meta
  /** JSON text without `_meta`. */
  readonly body: string
  readonly values: ValueChange
}

function writeDocument(
  { connection, entry }: Writing,
  stored: StoredDocument,
  { meta, body, values: { added, freed } }: NewState,
): StoredJson {
  const text = joinDocument(meta, body)
  refuseTaken(connection, entry.name, added)
  entry.touched?.touch(stored.id, stored.text)
  // `removed` is in the condition of every index: naming it would have SQLite write all of them, the one by creation too.
  const mark = meta.removed === stored.meta.removed ? '' : `removed = ${meta.removed}, `
  refusing(entry, () =>
    connection.run(
      `UPDATE ${entry.table} SET ${mark}updated = ?, version = version + 1, doc = ? WHERE id = ?`,
      meta.ums,
      text,
      stored.id,
    ),
  )
  freeValues(connection, meta.guid, freed)
  takeValues(connection, meta.guid, added)
  return new StoredJson(text)
}

/** Names the fields when a unique index refuses the document. */
function refusing<T>(entry: StorageEntry, write: () => T): T {
  try {
    return write()
  } catch (error) {
    throw uniqueConflict(error, entry) ?? error
  }
}

export const documentChanges: DocumentChanges<Writing, Written> = {
  update: updateDocument,
  setRemoved,
  delete: deleteDocument,
}

/**
 * Keeps a storage's shape (see `document-shape.ts`) in the database: what a document adds is written in the document's
 * transaction. When that is undone the shape in memory stays wide, which is safe, but then holds what the database does
 * not; `shapeSaved` is false then, and the next write stores all of it.
 */
interface ShapeWriting {
  readonly connection: SqliteConnection
  readonly entry: StorageEntry
  readonly widened: Set<StorageEntry>
}

export function readShape(connection: SqliteConnection, storage: number): readonly ShapeRow[] {
  return connection
    .all('SELECT field, types FROM storage_shape WHERE storage = ?', storage)
    .map((row) => ({ field: textOf(row, 'field'), types: numberOf(row, 'types') }))
}

/** Takes a document that is being written into its storage's shape. */
function saveShape({ connection, entry, widened }: ShapeWriting, body: JsonObject): void {
  const changes = noteShape(entry.shape, body)
  const rows = entry.shapeSaved ? changes : shapeRows(entry.shape)
  if (rows.length === 0) return
  widened.add(entry)
  entry.shapeSaved = true
  for (const { field, types } of rows)
    connection.run(
      `INSERT INTO storage_shape (storage, field, types) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET types = types | excluded.types`,
      entry.id,
      field,
      types,
    )
}

/** The rows of unique keys, as writes change them. Always inside the writer's turn: no other write comes between. */
export function keyTableSql(key: Pick<ActiveUniqueKey, 'id'>): string {
  const table = keyTable(key)
  return `
    CREATE TABLE ${table} (
      value TEXT NOT NULL, slot TEXT NOT NULL, guid TEXT NOT NULL, PRIMARY KEY (value, slot)) STRICT, WITHOUT ROWID;
    CREATE INDEX ${table}_again ON ${table} (slot) WHERE slot <> '';`
}

/** The document that has the value. */
export function holderOf(connection: SqliteConnection, { key, value }: UniqueValue): string | undefined {
  const row = connection.get(`SELECT guid FROM ${keyTable(key)} WHERE value = ? AND slot = ''`, value)
  return row && textOf(row, 'guid')
}

/** Throws UniqueConflict. Asked before anything is written: a refused statement would undo more than itself. */
function refuseTaken(connection: SqliteConnection, storage: string, values: readonly UniqueValue[]): void {
  for (const one of values)
    if (one.key.isReady && holderOf(connection, one) !== undefined)
      throw new UniqueConflict(storage, one.key.definition)
}

/** Behind {@link refuseTaken}. */
export function takeValues(connection: SqliteConnection, guid: string, values: readonly UniqueValue[]): void {
  for (const one of values) {
    const { key, value } = one
    const isAgain = !key.isReady && (holderOf(connection, one) ?? guid) !== guid
    connection.run(
      `INSERT INTO ${keyTable(key)} (value, slot, guid) VALUES (?, ?, ?)${key.isReady ? '' : ' ON CONFLICT DO NOTHING'}`,
      value,
      isAgain ? guid : '',
      guid,
    )
  }
}

function freeValues(connection: SqliteConnection, guid: string, values: readonly UniqueValue[]): void {
  for (const { key, value } of values)
    connection.run(`DELETE FROM ${keyTable(key)} WHERE value = ? AND guid = ?`, value, guid)
}
