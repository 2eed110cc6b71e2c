/** Reading and writing documents of one storage on a connection. What is written must be inside a transaction. */
import { QuoinError } from '../../../shared/errors.ts'
import type { JsonObject } from '../../../shared/json.ts'
import type { Mutation } from '../../../shared/mutation.ts'
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
import { changedValues, keyTable, type ValueChange } from '../../unique/active-unique-key.ts'
import { freeValues, withValues } from '../unique/postgres-unique-values.ts'
import { COLUMNS, insertSql, type NewRow, newRow, rowOf, tokensOf } from './document-row.ts'
import { forgetLocked, type LockedAhead, lockedText, type RowLock } from './locked-ahead.ts'
import {
  deferChecked,
  type OptimisticWriting,
  type StoredDocument,
  type UpdateStatement,
  unlockedDocument,
} from './optimistic-update.ts'
import { hasUniqueIndex, isPlain, type StorageEntry } from './postgres-catalogue.ts'
import { isDuplicate } from './postgres-errors.ts'
import { uniqueConflict } from './postgres-indexes.ts'
import { type PostgresTransaction, sendSoon } from './postgres-transaction.ts'
import { type PostgresConnection, textOf } from './rows.ts'

/** What a write works with. */
export interface Writing extends OptimisticWriting {
  readonly stamps: Stamps
  readonly ahead: LockedAhead
  /** Not in a unit of work, whose conflicts are to show where they arise. */
  readonly mayDefer: boolean
}

const notFound: Written = { outcome: 'not_found' }

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
): Promise<NewRow> {
  const row = newRow(writing, mutations, options)
  if (writing.mayDefer && options?.guid === undefined && isPlain(writing.entry)) deferCreate(writing, row)
  else await insertDocument(writing, row, options)
  return row
}

function deferCreate(writing: Writing, row: NewRow): void {
  const { connection, entry, current } = writing
  const now = () => (current() === entry ? row : rowOf(current(), row.meta, row.body))
  const statement = () =>
    isPlain(current()) ? connection.statement(insertSql(current()), now().values) : undefined
  connection.defer({
    statement,
    perform: () => insertDocument({ ...writing, entry: current() }, now(), undefined),
    // Totals of free text are rows that other transactions change, too.
    unwaiting: () => (current().needsText ? undefined : statement()),
  })
}

async function insertDocument(
  writing: Writing,
  row: NewRow,
  options: CreateOptions | undefined,
): Promise<void> {
  const { connection, entry } = writing
  if (await createdWithValues(writing, row, options)) return
  const insert = insertSql(entry)
  // What a statement refuses would undo the whole transaction, so it is asked not to insist.
  const mayBeRefused = options?.guid !== undefined || hasUniqueIndex(entry)
  await withValues(writing, row.meta.guid, { added: row.unique, freed: [] }, async () => {
    if (!mayBeRefused) await connection.run(insert, row.values)
    else if ((await connection.run(`${insert} ON CONFLICT DO NOTHING`, row.values)) === 0)
      await insist(writing, row)
  })
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
  const committed = await unlockedDocument(writing, guid)
  const stored = committed ?? (await lockDocument(writing, guid, 'FOR NO KEY UPDATE', condition))
  if (stored === undefined || stored.parts.meta.removed !== 0) return notFound
  const { meta } = stored.parts
  const refusal = unmet(condition, meta, stored.text)
  if (refusal) return refusal
  const before = parseBody(stored.parts.body)
  const body = changedBody(before, mutations, condition, mostFields(writing.entry.name))
  // Also when nothing differs: a client that holds the old update_hash should learn of the write by another client.
  const changed = writing.stamps.changed(meta)
  const text = joinDocument(changed, bodyText(body, writing.entry.name))
  const contents = { guid, before: () => before, after: () => body }
  const statement = (entry: StorageEntry) => {
    const { tokens, count } = tokensOf(entry, body)
    return {
      text: `UPDATE ${entry.table} SET updated = $2, version = version + 1, doc = $3::json, tokens = $4::tsvector, token_count = $5 WHERE guid = $1`,
      values: [guid, changed.ums, text, tokens, count],
    }
  }
  if (committed) deferChecked(writing, stored.text, statement)
  else await overwrite(writing, contents, statement)
  return { outcome: 'written', document: new StoredJson(text), before: new StoredJson(stored.text) }
}

/** Sets the mark of a soft delete (`removed`), or takes it away. Not found if the document is that already. */
async function setRemoved(
  writing: Writing,
  guid: string,
  removed: boolean,
  condition: WriteCondition | undefined,
): Promise<Written> {
  const stored = await lockDocument(writing, guid, 'FOR UPDATE', condition)
  if (stored === undefined || (stored.parts.meta.removed !== 0) === removed) return notFound
  const refusal = unmet(condition, stored.parts.meta, stored.text)
  if (refusal) return refusal
  const meta = writing.stamps.changed(stored.parts.meta, removed)
  const text = joinDocument(meta, stored.parts.body)
  const present = () => parseBody(stored.parts.body)
  const contents = removed ? { guid, before: present } : { guid, after: present }
  await overwrite(writing, contents, ({ table }) => ({
    text: `UPDATE ${table} SET updated = $2, removed = $3, version = version + 1, doc = $4::json WHERE guid = $1`,
    values: [guid, meta.ums, meta.removed, text],
  }))
  return { outcome: 'written', document: new StoredJson(text), before: new StoredJson(stored.text) }
}

async function deleteDocument(
  writing: Writing,
  guid: string,
  condition: WriteCondition | undefined,
): Promise<Written> {
  const { connection, entry } = writing
  if (condition !== undefined) {
    const stored = await lockDocument(writing, guid, 'FOR UPDATE', condition)
    if (stored === undefined) return notFound
    const refusal = unmet(condition, stored.parts.meta, stored.text)
    if (refusal) return refusal
  }
  forgetLocked(writing, guid)
  const [row] = await connection.rows(`DELETE FROM ${entry.table} WHERE guid = $1 RETURNING doc`, [guid])
  if (row === undefined) return notFound
  const document = new StoredJson(textOf(row, 'doc'))
  if (entry.unique.length > 0) await freeDeleted(writing, guid, document.text)
  return { outcome: 'written', document, before: document }
}

/** The document as committed or as this transaction has it; no other transaction changes it until this one ends. */
async function lockDocument(
  writing: Writing,
  guid: string,
  lock: RowLock,
  { following = [] }: WriteCondition = {},
): Promise<StoredDocument | undefined> {
  const { connection, entry } = writing
  const known = await lockedText(writing, guid, lock, following)
  if (known !== undefined) return { text: known, parts: splitDocument(known) }
  const [row] = await connection.rows(`SELECT doc FROM ${entry.table} WHERE guid = $1 ${lock}`, [guid])
  if (row === undefined) return undefined
  const text = textOf(row, 'doc')
  return { text, parts: splitDocument(text) }
}

async function freeDeleted({ connection, entry }: Writing, guid: string, text: string): Promise<void> {
  const { meta, body } = splitDocument(text)
  const before = meta.removed === 0 ? () => parseBody(body) : undefined
  await freeValues(connection, guid, changedValues(entry.unique, before, undefined).freed)
}

interface Contents {
  readonly guid: string
  /** undefined where the document is not present before, or after. */
  readonly before?: () => JsonObject
  readonly after?: () => JsonObject
}

/** Writes over a document that is locked. */
async function overwrite(
  writing: Writing,
  contents: Contents,
  statement: (entry: StorageEntry) => UpdateStatement,
): Promise<void> {
  const { connection, current } = writing
  const { guid, before, after } = contents
  const values = changedValues(writing.entry.unique, before, after)
  // Worked out again only where the storage has changed meanwhile.
  const changes = (entry: StorageEntry) =>
    entry === writing.entry ? values : changedValues(entry.unique, before, after)
  const perform = (entry: StorageEntry) =>
    refusing({ ...writing, entry }, guid, changes(entry), () => {
      const { text, values } = statement(entry)
      return connection.run(text, values)
    })
  const isPlainOn = (entry: StorageEntry) => isPlainChange(entry, changes(entry))
  if (!writing.mayDefer || !isPlainOn(writing.entry)) return perform(writing.entry)
  connection.defer({
    statement() {
      const { text, values } = statement(current())
      return isPlainOn(current()) ? connection.statement(text, values) : undefined
    },
    perform: () => perform(current()),
  })
}

/** Whether nothing but the database itself can refuse it. */
function isPlainChange(entry: StorageEntry, { added, freed }: ValueChange): boolean {
  return !hasUniqueIndex(entry) && added.length === 0 && freed.length === 0
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
  connection: PostgresTransaction,
  entry: StorageEntry,
  guid: string,
  write: () => Promise<number>,
): Promise<void> {
  sendSoon(connection, 'SAVEPOINT written')
  try {
    await write()
    sendSoon(connection, 'RELEASE SAVEPOINT written')
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
