/**
 * Documents from NDJSON, one a line, all or none.
 *
 * 1. The lines are received into a temporary file: a slow or broken client holds no transaction.
 * 2. Every line is tried against the storage, in batches whose transactions are rolled back: JSON, depth, names of fields,
 *    rules of fields, unique indexes and guids that are taken. The error names the first line that fails; nothing is written.
 * 3. The lines are written in batches, because one transaction would keep every other session from writing all that time.
 *    Each batch notes what it wrote (`import-journal.ts`). Errors that the trial could not see (two lines with one guid, a
 *    full disk, a rule that changed meanwhile) and crashes happen here: the written documents are then deleted again, at
 *    once, at the next start, or within a minute by another node.
 *
 * So afterwards all documents are there or none is. While step 3 runs, other sessions see the documents already written.
 * Memory: one batch, whatever the size of the file.
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { QuoinError } from '../../shared/errors.ts'
import { isGuid } from '../../shared/guid.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { setFields } from '../../shared/mutation.ts'
import { createAll } from '../../storage/create-all.ts'
import {
  type CreateOptions,
  type Database,
  documentOf,
  type NewDocument,
  type Origin,
  type Session,
} from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import type { RuledDatabase } from '../../storage/ruled.ts'
import {
  beginImport,
  endImport,
  noteBatch,
  openImportJournal,
  undoBrokenImports,
  undoImport,
} from './import-journal.ts'
import { atLine, type Line, linesOf, parseLine } from './ndjson-lines.ts'

/** Called in the transaction from which on an import stays, with the number of its documents. */
export type WhenWritten = (session: Session, count: number) => MaybePromise<void>

export interface ImportOptions {
  readonly whenWritten?: WhenWritten
  /** On behalf of whom documents are created; without it the rules of storages do not count. */
  readonly database?: RuledDatabase
}

export interface DocumentImports {
  /** Most bytes of one import. */
  readonly limit: number
  /**
   * Gives how many documents were made. Errors name the line: INVALID_BODY for what no document can be or its rules
   * refuse, CONFLICT for a guid or unique value that is taken. FILE_TOO_BIG past the limit.
   */
  run(name: string, source: AsyncIterable<Buffer>, origin: Origin, options?: ImportOptions): Promise<number>
  /** Undoes imports that are being written, which then fail with UNAVAILABLE. */
  close(): Promise<void>
}

export interface DocumentImportOptions {
  readonly database: RuledDatabase
  /** For temporary files; emptied when this opens. */
  readonly directory: string
  readonly newGuid: () => string
  readonly limit?: number
}

const GIB = 1024 ** 3
const BATCH = 200
const ROUND_MS = 60_000
const BATCH_BYTES = 512 * 1024

export async function openDocumentImports(options: DocumentImportOptions): Promise<DocumentImports> {
  const { database, directory, newGuid, limit = GIB } = options
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  await openImportJournal(database)
  const undoBroken = () => database.capabilities.alone('imports', () => undoBrokenImports(database))
  await undoBroken()
  // What a node was writing that is no more, another one undoes. A failure is tried again by the next round.
  const rounds =
    database.capabilities.cluster && setInterval(() => void undoBroken().catch(() => undefined), ROUND_MS)
  rounds?.unref()
  const running = new Set<Promise<unknown>>()
  let closed = false

  async function run(
    name: string,
    source: AsyncIterable<Buffer>,
    origin: Origin,
    { whenWritten = () => undefined, database: permitted = database }: ImportOptions = {},
  ): Promise<number> {
    const path = join(directory, `${newGuid()}.ndjson`)
    try {
      await pipeline(source, atMost(limit), createWriteStream(path, { flags: 'wx', mode: 0o600 }))
      for await (const batch of batchesOf(path)) await tryBatch(permitted, name, batch, origin)
      return await write(name, path, origin, { whenWritten, database: permitted })
    } finally {
      await rm(path, { force: true })
    }
  }

  async function write(
    name: string,
    path: string,
    origin: Origin,
    { whenWritten, database: permitted }: Required<ImportOptions>,
  ): Promise<number> {
    const id = await beginImport(database, name)
    let count = 0
    try {
      for await (const batch of batchesOf(path)) {
        if (closed) throw new QuoinError('UNAVAILABLE', 'The node is stopping. Nothing was imported.')
        await writeBatch(permitted, name, batch, origin, id)
        count += batch.length
      }
    } catch (error) {
      await undoImport(database, id, origin).catch((cause: unknown) => {
        throw new QuoinError(
          'UNAVAILABLE',
          'The import failed and its documents could not be deleted. The next start of the node deletes it.',
          { cause: new AggregateError([error, cause]) },
        )
      })
      throw error
    }
    await endImport(database, id, origin, (session) => whenWritten(session, count))
    return count
  }

  return {
    limit,
    run(name, source, origin, options) {
      const imported = run(name, source, origin, options)
      running.add(imported)
      const over = () => void running.delete(imported)
      imported.then(over, over)
      return imported
    },
    async close() {
      closed = true
      clearInterval(rounds)
      await Promise.allSettled(running)
    },
  }
}

async function tryBatch(
  database: Database,
  name: string,
  batch: readonly Line[],
  origin: Origin,
): Promise<void> {
  const session = database.session(origin)
  try {
    await createLines(session, name, batch)
  } finally {
    await session.rollback()
  }
  await nextTurn()
}

async function writeBatch(
  database: Database,
  name: string,
  batch: readonly Line[],
  origin: Origin,
  id: string,
): Promise<void> {
  const session = database.session(origin)
  try {
    await noteBatch(session, id, await createLines(session, name, batch))
    await session.commit()
  } catch (error) {
    await session.rollback()
    throw error
  }
}

/** Gives the guids of the new documents. Throws for the first line that cannot become a document. */
async function createLines(session: Session, name: string, batch: readonly Line[]): Promise<string[]> {
  const wanted: NewDocument[] = []
  let problem: { readonly error: unknown } | undefined
  for (const line of batch) {
    try {
      const { _meta, ...fields } = parseLine(line)
      wanted.push({ mutations: setFields(fields), options: keptOf(_meta) })
    } catch (error) {
      // A line before it may be refused by the storage.
      problem = { error }
      break
    }
  }
  const { documents, refused } = await createAll(session, name, wanted)
  const line = batch[documents.length]
  if (refused && line) throw atLine(line.number, refused)
  if (problem) throw problem.error
  return documents.map((document) => guidOf(documentOf(document)))
}

const YEAR_10000 = 253_402_300_800

/** What a document keeps of the `_meta` that it comes with: guid, time of creation and expiry, where they are valid. */
function keptOf(meta: JsonObject[string] | undefined): CreateOptions {
  if (!isJsonObject(meta)) return {}
  const { guid, created, cms, expiry } = meta
  const made = isTime(created) ? creationTime(created, cms) : undefined
  return {
    ...(typeof guid === 'string' && isGuid(guid) && { guid }),
    ...(made !== undefined && { cms: made }),
    ...(isTime(expiry) && { expiry }),
  }
}

/** To the millisecond if that says the same. */
function creationTime(created: number, cms: JsonObject[string] | undefined): number {
  return typeof cms === 'number' && Number.isInteger(cms) && Math.floor(cms / 1000) === created
    ? cms
    : created * 1000
}

function isTime(value: JsonObject[string] | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < YEAR_10000
}

async function* batchesOf(path: string): AsyncGenerator<Line[], void> {
  let batch: Line[] = []
  let bytes = 0
  for await (const line of linesOf(createReadStream(path))) {
    batch.push(line)
    bytes += line.bytes.length
    if (batch.length < BATCH && bytes < BATCH_BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

function atMost(limit: number) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    let bytes = 0
    for await (const chunk of chunks) {
      bytes += chunk.length
      if (bytes > limit)
        throw new QuoinError('FILE_TOO_BIG', `An import has at most ${limit} bytes. Send it in parts.`)
      yield chunk
    }
  }
}
