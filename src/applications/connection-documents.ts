/** OpenAPI documents of an application's connections: what is wrong with them, how the cluster has them, and how a release writes them. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { isOperation } from '../blocks/pins/operation-problem.ts'
import { type PackedDocument, packedDocument } from '../records/operations/operations-thread.ts'
import { removeDocument, replaceDocument } from '../records/operations/stored-operations.ts'
import type { Actor } from '../records/records.ts'
import { type Application, OBJECT_FILE } from '../shared/application/application.ts'
import type { ObjectChange } from '../shared/application/application-changes.ts'
import type { JsonPath } from '../shared/application/json-places.ts'
import { type Pause, pauses } from '../shared/cooperative.ts'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject, memberOf } from '../shared/json.ts'
import type { Database, Session } from '../storage/database.ts'
import { textIn } from '../storage/document-fields.ts'
import { findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'

/** A push takes 4 MiB. A larger document belongs to the connection of a cluster and to no folder. */
const MOST_BYTES = 2 * 1024 * 1024
/** Of an application: each is read in a thread of its own, one after the other. */
const MOST_DOCUMENTS = 20

export type ReadDocument = (text: string) => Promise<PackedDocument>

/** Reads each text once: a push checks a document, and then stores it. */
export function documentReader(): ReadDocument {
  const known = new Map<string, Promise<PackedDocument>>()
  return (text) => {
    const found = known.get(text) ?? packedDocument(Buffer.from(text))
    known.set(text, found)
    return found
  }
}

export interface DocumentProblem {
  readonly map: 'connections' | 'blueprints'
  readonly object: string
  readonly path: JsonPath
  readonly block?: string
  readonly pin?: string
  readonly message: string
  readonly warning?: true
}

export async function documentProblems(
  { connections, blueprints }: Application,
  read: ReadDocument,
): Promise<readonly DocumentProblem[]> {
  const found: DocumentProblem[] = []
  const documents = Object.entries(connections).filter(([, { document }]) => document !== undefined)
  const [tooMany] = documents[MOST_DOCUMENTS] ?? []
  if (tooMany !== undefined) {
    const message = `The application has more than ${MOST_DOCUMENTS} OpenAPI documents. Split it.`
    return [{ map: 'connections', object: tooMany, path: ['document'], message }]
  }
  for (const [object, { document }] of documents) {
    const refuse = (message: string) =>
      found.push({ map: 'connections', object, path: ['document'], message })
    const text = textIn(document)
    if (!new RegExp(OBJECT_FILE).test(object))
      refuse('Only a connection whose name has no capital letters can have its document in a folder.')
    else if (Buffer.byteLength(text) > MOST_BYTES)
      refuse(
        `The OpenAPI document has more than ${MOST_BYTES.toLocaleString('en')} bytes. Give it to the connection with: quoin connection document ${object}`,
      )
    else if (!text.trimStart().startsWith('{'))
      refuse(
        'The file must be JSON: { … }. A connection also takes YAML, and a pull then gives the same as JSON.',
      )
    else
      try {
        const { operations } = await read(text)
        const hashes = new Map(operations.map((one) => [one.operation, one.hash]))
        found.push(...(await differentBlocks(blueprints, object, hashes)))
      } catch (error) {
        // Too many are being read: that is no fault of the document.
        if (!(error instanceof QuoinError) || error.code === 'UNAVAILABLE') throw error
        refuse(error.message)
      }
  }
  return found
}

/** Blocks whose operation is another one in the document. They do what they did: nothing is refused. */
async function differentBlocks(
  blueprints: Application['blueprints'],
  connection: string,
  hashes: ReadonlyMap<string, string>,
): Promise<readonly DocumentProblem[]> {
  const [found, pause]: [DocumentProblem[], Pause] = [[], pauses()]
  for (const [object, { blocks }] of Object.entries(blueprints)) {
    await pause()
    for (const [block, content] of Object.entries(isJsonObject(blocks) ? blocks : {})) {
      if (!isJsonObject(content) || content.type !== 'call_operation') continue
      const { in: pins, fields } = content
      const operation = isJsonObject(fields) ? fields.operation : undefined
      if (!isJsonObject(pins) || pins.connection !== connection || !isOperation(operation)) continue
      const hash = hashes.get(operation.id)
      if (hash === operation.hash) continue
      const what =
        hash === undefined ? `has no operation ${operation.id}` : `has another operation ${operation.id}`
      found.push({
        ...{ map: 'blueprints', object, path: ['blocks', block, 'fields', 'operation'] },
        ...{ block, pin: 'operation', warning: true },
        message: `connections/${connection}.openapi.json ${what}. The block does what it did; choose the operation again to take the change over.`,
      })
    }
  }
  return found
}

const unpacked = promisify(gunzip)

/** The record of a connection with its document, where a folder can have it. */
export async function withDocument(
  database: Pick<Database, 'has'>,
  session: Session,
  name: string,
  record: JsonObject,
): Promise<JsonObject> {
  if (!new RegExp(OBJECT_FILE).test(name) || !database.has(systemStorages.apiDocuments)) return record
  const stored = await findOne(session, systemStorages.apiDocuments, 'connection', name)
  if (!stored) return record
  try {
    const text = await unpacked(Buffer.from(textIn(stored.text), 'base64'), { maxOutputLength: MOST_BYTES })
    // A file is read without a byte order mark.
    return { ...record, document: text.toString().replace(/^\ufeff/, '') }
  } catch (error) {
    if (error instanceof RangeError) return record
    throw error
  }
}

interface DocumentWrites {
  readonly database: Database
  readonly present: Application
  readonly requested: Application
  readonly read: ReadDocument
  readonly by: Actor
}

/** The document of a connection that is new or changes. It has been read by the check: nothing waits for a thread here. */
export async function writeDocument(
  { database, present, requested, read, by }: DocumentWrites,
  { object }: ObjectChange,
): Promise<void> {
  const documentOf = ({ connections }: Application) => {
    const document = memberOf(connections, object)?.document
    return typeof document === 'string' && document !== '' ? document : undefined
  }
  const [before, after] = [documentOf(present), documentOf(requested)]
  if (before === after) return
  if (after === undefined) await removeDocument(database, object, by)
  else await replaceDocument(database, object, await read(after), '', by)
}
