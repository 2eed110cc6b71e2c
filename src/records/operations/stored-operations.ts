/** The OpenAPI documents of connections, and their operations, of which blocks are made. */
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Query, search } from '../../shared/query.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { documentsOf, findAll, findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transactAgain } from '../../storage/transact.ts'
import type { Actor } from '../records.ts'
import type { PackedDocument, PackedOperation } from './operations-thread.ts'

const { apiDocuments, apiOperations } = systemStorages
/** Parts of a document that are named as left out; all are counted. */
const MOST_LEFT_OUT = 500
/** Changes that are listed; all are counted. */
const MOST_CHANGES = 500
const PAGE = 200
/** Writes of one turn. */
const AT_ONCE = 20

export interface ChangedOperation {
  readonly operation: string
  readonly change: 'added' | 'changed' | 'removed'
}

export interface ReplacedDocument {
  readonly document: JsonObject
  /** How many operations are different from those of the document before. */
  readonly changed: number
  readonly changes: ChangedOperation[]
}

function ofConnection(connection: string): Query {
  return { kind: 'term', field: 'connection', value: connection }
}

export async function ensureOperations(database: Database): Promise<void> {
  await database.ensure(apiDocuments, { indexes: [{ fields: ['connection'], unique: true }] })
  await database.ensure(apiOperations, {
    indexes: [{ fields: ['connection', 'operation'], unique: true }, { fields: ['connection', 'path'] }],
  })
}

/** Stores the document in place of the one before. `source`: its address, or empty. */
export async function replaceDocument(
  database: Database,
  connection: string,
  packed: PackedDocument,
  source: string,
  by: Actor,
): Promise<ReplacedDocument> {
  await ensureOperations(database)
  const { operations, left_out: leftOut, servers, ...about } = packed
  const fields = {
    ...about,
    ...{ connection, source, servers: [...servers], operations: operations.length },
    left_out: leftOut.slice(0, MOST_LEFT_OUT).map((one) => ({ ...one })),
    left_out_count: leftOut.length,
    modified_by: { ...by },
  }
  return transactAgain(
    database,
    async (session) => {
      const before = await findOne(session, apiDocuments, 'connection', connection)
      const changes = await replaceOperations(session, connection, operations)
      const document = before
        ? await updated(session, guidOf(before), fields)
        : documentOf(await session.create(apiDocuments, setFields({ ...fields, created_by: { ...by } })))
      const listed = before ? changes : []
      return { document, changed: listed.length, changes: listed.slice(0, MOST_CHANGES) }
    },
    { user: by },
  )
}

async function updated(
  session: Session,
  guid: string,
  fields: Readonly<Record<string, JsonValue>>,
): Promise<JsonObject> {
  const written = await session.update(apiDocuments, guid, setFields(fields))
  if (written.outcome !== 'written')
    throw new QuoinError('CONFLICT', 'The document was removed meanwhile. Send it again.')
  return documentOf(written.document)
}

/** Writes only what is different: a document that is fetched again is mostly the same. */
async function replaceOperations(
  session: Session,
  connection: string,
  operations: readonly PackedOperation[],
): Promise<readonly ChangedOperation[]> {
  const before = await storedOperations(session, connection)
  const changes: ChangedOperation[] = []
  const write = writesInTurns()
  for (const one of operations) {
    const known = before.get(one.operation)
    before.delete(one.operation)
    if (known?.hash === one.hash && known.content === one.content) continue
    if (known?.hash !== one.hash)
      changes.push({ operation: one.operation, change: known ? 'changed' : 'added' })
    const fields = setFields({ ...one, connection })
    await write(() =>
      known ? session.update(apiOperations, guidOf(known), fields) : session.create(apiOperations, fields),
    )
  }
  for (const [operation, record] of before) {
    changes.push({ operation, change: 'removed' })
    await write(() => session.delete(apiOperations, guidOf(record)))
  }
  return changes
}

function writesInTurns(): (write: () => unknown) => Promise<void> {
  let count = 0
  return async (write) => {
    await write()
    count += 1
    if (count % AT_ONCE === 0) await turn()
  }
}

async function storedOperations(session: Session, connection: string): Promise<Map<string, JsonObject>> {
  const found = new Map<string, JsonObject>()
  const sort = [{ field: 'operation', order: 'asc', missing: 'last' } as const]
  let after: string | undefined
  do {
    const requested = search({
      query: ofConnection(connection),
      sort,
      limit: PAGE,
      ...(after !== undefined && { after }),
    })
    const page = await session.find(apiOperations, requested)
    for (const record of documentsOf(page)) found.set(textIn(record.operation), record)
    after = page.next()
    if (after !== undefined) await turn()
  } while (after !== undefined)
  return found
}

/** Also what no connection has any more. */
export async function removeDocument(database: Database, connection: string, by: Actor): Promise<boolean> {
  if (!database.has(apiDocuments)) return false
  return transactAgain(
    database,
    async (session) => {
      const document = await findOne(session, apiDocuments, 'connection', connection)
      if (!document) return false
      const write = writesInTurns()
      for (const record of (await storedOperations(session, connection)).values())
        await write(() => session.delete(apiOperations, guidOf(record)))
      await session.delete(apiDocuments, guidOf(document))
      return true
    },
    { user: by },
  )
}

/** The record of a connection's document; undefined where it has none. */
export async function documentRecord(
  database: Database,
  connection: string,
): Promise<JsonObject | undefined> {
  if (!database.has(apiDocuments)) return undefined
  return findOne(database.session(), apiDocuments, 'connection', connection)
}

const unpacked = promisify(gunzip)

/** The document as it was sent. */
export async function documentText(record: JsonObject): Promise<string> {
  return (await unpacked(Buffer.from(textIn(record.text), 'base64'))).toString()
}

/** An operation of the list, with what a block holds of it. */
export async function wholeOperation(record: JsonObject): Promise<JsonObject> {
  const { content, ...about } = record
  const text = (await unpacked(Buffer.from(textIn(content), 'base64'))).toString()
  const parsed: unknown = JSON.parse(text)
  if (!isJsonObject(parsed)) throw new TypeError('The content of an operation is an object.')
  const { operation: definition = null, types = '', sign_in = [] } = parsed
  return { ...about, definition, types, sign_in }
}

/** Hashes of these operations as the connection's document has them now, by id; undefined where it has no document. */
export async function presentHashes(
  session: Session,
  connection: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string> | undefined> {
  if (!(await findOne(session, apiDocuments, 'connection', connection))) return undefined
  const queries: Query[] = [ofConnection(connection), { kind: 'terms', field: 'operation', values: ids }]
  const found = await findAll(session, apiOperations, { kind: 'and', queries }, ids.length)
  return new Map(found.map((one) => [textIn(one.operation), textIn(one.hash)]))
}
