/** Reading and writing documents of one storage on a connection. What is written must be inside a transaction. */
import { QuoinError } from '../../../shared/errors.ts'
import type { Meta } from '../../../shared/meta.ts'
import type { Mutation } from '../../../shared/mutation.ts'
import { applyMutations } from '../../apply-mutations.ts'
import type { CreateOptions, WriteCondition, Written } from '../../database.ts'
import type { DocumentChanges } from '../../document-session.ts'
import type { Stamps } from '../../document-stamps.ts'
import { bodyText, joinDocument, parseBody, splitDocument } from '../../document-text.ts'
import { StoredJson } from '../../stored-json.ts'
import {
  changedValues,
  keyTable,
  type UniqueValue,
  uniqueValues,
  type ValueChange,
} from '../../unique/kept-key.ts'
import { changedBody, unmet } from '../../write-condition.ts'
import { textOfDocument } from '../text/postgres-text-index.ts'
import { freeValues, withValues } from '../unique/postgres-unique-values.ts'
import { type PostgresConnection, textOf } from './postgres-connection.ts'
import { isDuplicate } from './postgres-errors.ts'
import { uniqueConflict } from './postgres-indexes.ts'
import type { StorageEntry } from './storage-entry.ts'

/** What a write works with. */
export interface Writing {
  readonly connection: PostgresConnection
  readonly entry: StorageEntry
  readonly stamps: Stamps
}

interface StoredDocument {
  readonly text: string
  readonly parts: ReturnType<typeof splitDocument>
}

const notFound: Written = { outcome: 'not_found' }
const NO_TOKENS = { tokens: null, count: null }

export async function getDocument(
  connection: PostgresConnection,
  entry: StorageEntry,
  guid: string,
  removed: boolean,
): Promise<StoredJson | undefined> {
  const [row] = await connection.rows(
    `SELECT doc FROM ${entry.table} WHERE guid = $1${removed ? '' : ' AND removed = 0'}`,
    [guid],
  )
  return row && new StoredJson(textOf(row, 'doc'))
}

export async function createDocument(
  writing: Writing,
  mutations: readonly Mutation[],
  options: CreateOptions | undefined,
): Promise<StoredJson> {
  const { connection, entry } = writing
  const row = newRow(writing, mutations, options)
  if (await createdWithValues(writing, row, options)) return new StoredJson(row.text)
  const insert = insertSql(entry)
  // What a statement refuses would undo the whole transaction, so it is asked not to insist.
  const mayBeRefused = options?.guid !== undefined || hasUniqueIndex(entry)
  await withValues(writing, row.meta.guid, { added: row.unique, freed: [] }, async () => {
    if (!mayBeRefused) await connection.run(insert, row.values)
    else if ((await connection.run(`${insert} ON CONFLICT DO NOTHING`, row.values)) === 0)
      await insist(writing, row)
  })
  return new StoredJson(row.text)
}

/**
 * The document and its values of unique keys in one statement, where nothing else can refuse it. False if something did, and
 * nothing was written.
 */
async function createdWithValues(
  { connection, entry }: Writing,
  { meta, values, unique }: NewRow,
  options: CreateOptions | undefined,
): Promise<boolean> {
  const mayBeRefused = options?.guid !== undefined || hasUniqueIndex(entry)
  if (unique.length === 0 || mayBeRefused || unique.some(({ key }) => !key.isReady)) return false
  const taken = unique.map(
    ({ key }, at) =>
      `taken_${at} AS (INSERT INTO ${keyTable(key)} (value, slot, guid) VALUES ($${values.length + at + 1}, '', $1)
        ON CONFLICT DO NOTHING RETURNING 1)`,
  )
  const written = await connection.run(
    `WITH ${taken.join(', ')} INSERT INTO ${entry.table} (${COLUMNS})
    SELECT $1::text, $2::bigint, $3::bigint, 0, 1, $4::json, $5::tsvector, $6::integer
    WHERE ${unique.map((_, at) => `EXISTS (SELECT 1 FROM taken_${at})`).join(' AND ')}`,
    [...values, ...unique.map(({ value }) => value)],
  )
  if (written === 0) await freeValues(connection, meta.guid, unique)
  return written > 0
}

/** What one row of a new document consists of: `values` are its columns without `removed` and `version`. */
export interface NewRow {
  readonly meta: Meta
  readonly text: string
  readonly values: readonly [string, number, number, string, string | null, number | null]
  readonly unique: readonly UniqueValue[]
}

/** The columns of a document, in the order of every INSERT. */
export const COLUMNS = 'guid, created, updated, removed, version, doc, tokens, token_count'

function insertSql({ table }: StorageEntry): string {
  return `INSERT INTO ${table} (${COLUMNS}) VALUES ($1, $2, $3, 0, 1, $4::json, $5::tsvector, $6)`
}

/** Throws INVALID_BODY. */
export function newRow(
  { entry, stamps }: Writing,
  mutations: readonly Mutation[],
  options: CreateOptions | undefined,
): NewRow {
  const body = applyMutations({}, mutations)
  const meta = stamps.created(options)
  const text = joinDocument(meta, bodyText(body))
  const { tokens, count } = entry.textWanted ? textOfDocument(body) : NO_TOKENS
  const values = [meta.guid, meta.cms, meta.ums, text, tokens, count] as const
  return { meta, text, values, unique: uniqueValues(entry.unique, body) }
}

/** A new row that something refuses alone: throws CONFLICT that says what. Else it is written. */
export async function insistOn(writing: Writing, row: NewRow): Promise<void> {
  await withValues(writing, row.meta.guid, { added: row.unique, freed: [] }, () => insist(writing, row))
}

async function insist({ connection, entry }: Writing, { meta, values }: NewRow): Promise<void> {
  await insisting(connection, entry, meta.guid, () => connection.run(insertSql(entry), values))
}

async function updateDocument(
  writing: Writing,
  guid: string,
  mutations: readonly Mutation[],
  condition: WriteCondition | undefined,
): Promise<Written> {
  const { entry, stamps } = writing
  const stored = await lockDocument(writing, guid, 'FOR NO KEY UPDATE')
  if (stored === undefined || stored.parts.meta.removed !== 0) return notFound
  const { meta } = stored.parts
  const refusal = unmet(condition, meta, stored.text)
  if (refusal) return refusal
  const before = parseBody(stored.parts.body)
  const body = changedBody(before, mutations, condition)
  const values = changedValues(
    entry.unique,
    () => before,
    () => body,
  )
  // Also when nothing differs: a client that holds the old update_hash should learn of the write by another client.
  const changed = stamps.changed(meta)
  const text = joinDocument(changed, bodyText(body))
  const { tokens, count } = entry.textWanted ? textOfDocument(body) : NO_TOKENS
  await refusing(writing, guid, values, () =>
    writing.connection.run(
      `UPDATE ${entry.table} SET updated = $2, version = version + 1, doc = $3::json, tokens = $4::tsvector, token_count = $5 WHERE guid = $1`,
      [guid, changed.ums, text, tokens, count],
    ),
  )
  return { outcome: 'written', document: new StoredJson(text), before: new StoredJson(stored.text) }
}

/** Sets the mark of a soft delete (`removed`), or takes it away. Not found if the document is that already. */
async function setRemoved(
  writing: Writing,
  guid: string,
  removed: boolean,
  condition: WriteCondition | undefined,
): Promise<Written> {
  const { entry, stamps } = writing
  const stored = await lockDocument(writing, guid, 'FOR UPDATE')
  if (stored === undefined || (stored.parts.meta.removed !== 0) === removed) return notFound
  const refusal = unmet(condition, stored.parts.meta, stored.text)
  if (refusal) return refusal
  const meta = stamps.changed(stored.parts.meta, removed)
  const text = joinDocument(meta, stored.parts.body)
  const present = () => parseBody(stored.parts.body)
  const values = removed
    ? changedValues(entry.unique, present, undefined)
    : changedValues(entry.unique, undefined, present)
  await refusing(writing, guid, values, () =>
    writing.connection.run(
      `UPDATE ${entry.table} SET updated = $2, removed = $3, version = version + 1, doc = $4::json WHERE guid = $1`,
      [guid, meta.ums, meta.removed, text],
    ),
  )
  return { outcome: 'written', document: new StoredJson(text), before: new StoredJson(stored.text) }
}

async function deleteDocument(
  writing: Writing,
  guid: string,
  condition: WriteCondition | undefined,
): Promise<Written> {
  const { connection, entry } = writing
  if (condition !== undefined) {
    const stored = await lockDocument(writing, guid, 'FOR UPDATE')
    if (stored === undefined) return notFound
    const refusal = unmet(condition, stored.parts.meta, stored.text)
    if (refusal) return refusal
  }
  const [row] = await connection.rows(`DELETE FROM ${entry.table} WHERE guid = $1 RETURNING doc`, [guid])
  if (row === undefined) return notFound
  const document = new StoredJson(textOf(row, 'doc'))
  if (entry.unique.length > 0) await freeDeleted(writing, guid, document.text)
  return { outcome: 'written', document, before: document }
}

/** The document as committed or as this transaction has it; no other transaction changes it until this one ends. */
async function lockDocument(
  { connection, entry }: Writing,
  guid: string,
  lock: 'FOR UPDATE' | 'FOR NO KEY UPDATE',
): Promise<StoredDocument | undefined> {
  const [row] = await connection.rows(`SELECT doc FROM ${entry.table} WHERE guid = $1 ${lock}`, [guid])
  if (row === undefined) return undefined
  const text = textOf(row, 'doc')
  return { text, parts: splitDocument(text) }
}

function hasUniqueIndex({ indexes }: StorageEntry): boolean {
  for (const { unique } of indexes.values()) if (unique) return true
  return false
}

async function freeDeleted({ connection, entry }: Writing, guid: string, text: string): Promise<void> {
  const { meta, body } = splitDocument(text)
  const before = meta.removed === 0 ? () => parseBody(body) : undefined
  await freeValues(connection, guid, changedValues(entry.unique, before, undefined).freed)
}

/** A change that a unique index or a unique key may refuse. */
async function refusing(
  writing: Writing,
  guid: string,
  values: ValueChange,
  write: () => Promise<number>,
): Promise<void> {
  const { connection, entry } = writing
  await withValues(writing, guid, values, async () => {
    if (hasUniqueIndex(entry)) await insisting(connection, entry, guid, write)
    else await write()
  })
}

/** The write in a savepoint: when a unique index refuses it, only this is undone, and the error names the fields. */
async function insisting(
  connection: PostgresConnection,
  entry: StorageEntry,
  guid: string,
  write: () => Promise<number>,
): Promise<void> {
  await connection.run('SAVEPOINT written')
  try {
    await write()
    await connection.run('RELEASE SAVEPOINT written')
  } catch (error) {
    if (!isDuplicate(error)) throw error
    await connection.run('ROLLBACK TO SAVEPOINT written')
    throw (
      uniqueConflict(error, entry) ?? new QuoinError('CONFLICT', `There is a document with the guid ${guid}.`)
    )
  }
}

export const documentChanges: DocumentChanges<Writing, Promise<Written>> = {
  update: updateDocument,
  setRemoved,
  delete: deleteDocument,
}
