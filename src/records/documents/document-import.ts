/**
 * Documents from a file, one a line or row: all or none, or all but those that are refused.
 *
 * 1. The file is received into a temporary one: a slow or broken client holds no transaction.
 * 2. Unless bad lines are skipped, every line is tried against the storage, in batches whose transactions are rolled back: JSON, depth,
 *    names of fields, rules of fields, unique indexes and guids that are taken. The error names the first lines that fail; nothing is written.
 * 3. The lines are written in batches, because one transaction would keep every other session from writing all that time.
 *    Each batch notes what it wrote (`import-journal.ts`). Errors that the trial could not see (two lines with one guid, a
 *    full disk, a rule that changed meanwhile) and crashes happen here: the written documents are then deleted again, at
 *    once, at the next start, or within a minute by another node.
 *
 * So afterwards all documents are there or none is. While step 3 runs, other sessions see the documents already written.
 * Memory: one batch, whatever the size of the file.
 */
import { createWriteStream } from 'node:fs'
import { mkdir, rm, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { QuoinError } from '../../shared/errors.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import type { Database, Origin, Session } from '../../storage/database.ts'
import { diskError } from '../../storage/file-store-unavailable.ts'
import type { PermittedDatabase, ValidatedDatabase } from '../../storage/validated.ts'
import { batchesOf, createRows, guidsOf, hashesOf } from './import-batch.ts'
import {
  answeredImport,
  beginImport,
  endImport,
  MOST_UNDONE,
  type NamedImport,
  noteBatch,
  openImportJournal,
  stayingProblem,
  undoBrokenImports,
  undoImport,
} from './import-journal.ts'
import { type ImportPreview, previewRows } from './import-preview.ts'
import { ProblemList, refusedLines, tryRows } from './import-problems.ts'
import { type FileColumn, type ImportRow, type LineProblem, ndjsonRows, type RowsOf } from './import-rows.ts'
import type { FileReading } from './table-import-rows.ts'

/** Called in the transaction from which on an import stays, with the number of its documents. */
export type WhenWritten = (session: Session, count: number) => MaybePromise<void>

export interface ImportOptions {
  readonly whenWritten?: WhenWritten
  /** On behalf of whom documents are created. */
  readonly database: PermittedDatabase
  /** How the file is read: as NDJSON if not given. */
  readonly rows?: RowsOf
  /** Lines that are refused are left out, and listed. Without it one such line refuses all of them. */
  readonly skip?: boolean
  /** Whether the import can be undone for a day. */
  readonly undo?: boolean
  /** Refused lines are listed with their cells, and more of them. */
  readonly detailed?: boolean
  /** One of this name that was done before is not done again: it is answered as it was, without the cells of its refused lines. */
  readonly named?: NamedImport
}

export interface Imported {
  /** How many documents were made. */
  readonly imported: number
  /** How many lines were left out. */
  readonly refused: number
  /** The first of them. */
  readonly problems: readonly LineProblem[]
  /** The numbers of all of them: `3, 5-9`. */
  readonly refusedLines: string
  /** Of the file, where cells of refused lines are listed. */
  readonly columns: readonly FileColumn[]
  /** Guid of the import, if it can be undone. */
  readonly undo: string | undefined
}

export interface DocumentImports {
  /** Most bytes of one import. */
  readonly limit: number
  /**
   * Of a node that serves, once, before it does: undoes imports that a crash cut short, now and each minute, and removes what was left of
   * their files. `warn` is told of what cannot be undone, which stops nothing. Commands beside a running server do neither.
   */
  begin(warn: (message: string) => void): Promise<void>
  /**
   * Errors name the line: INVALID_BODY for what no document can be or its rules refuse, CONFLICT for a guid or unique
   * value that is taken. FILE_TOO_BIG past the limit. UNAVAILABLE while too many are under way.
   */
  run(name: string, source: AsyncIterable<Buffer>, origin: Origin, options: ImportOptions): Promise<Imported>
  /** What the first rows would become. Stores nothing. FILE_TOO_BIG past 4 MiB; a workbook is needed whole, up to the limit. */
  preview(
    name: string,
    source: AsyncIterable<Buffer>,
    origin: Origin,
    options: Pick<ImportOptions, 'database'> & {
      readonly reading: FileReading
      readonly recognize?: boolean
    },
  ): Promise<ImportPreview>
  /** Undoes imports that are being written, which then fail with UNAVAILABLE. */
  close(): Promise<void>
}

export interface DocumentImportOptions {
  readonly database: ValidatedDatabase
  /** For temporary files; emptied when a node begins. */
  readonly directory: string
  readonly newGuid: () => string
  readonly limit?: number
  /** Bytes that are free where the files are. */
  readonly free?: () => Promise<number>
}

const GIB = 1024 ** 3
/** Imports and previews at the same time, and bytes of them on the disk. */
const MOST_AT_ONCE = 16
const MOST_RECEIVED = 4 * GIB
/** Bytes that an import leaves free on the disk, looked at after each so many. */
const LEFT_FREE = GIB / 4
const LOOKED = GIB / 64
const PREVIEW_BYTES = 4 * 1024 ** 2
const ROUND_MS = 60_000

export async function openDocumentImports(options: DocumentImportOptions): Promise<DocumentImports> {
  const { database, directory, limit = GIB } = options
  const { receive, settled } = receiver(options)
  await openImportJournal(database)
  const failed = new Set<string>()
  let warn: (message: string) => void = () => undefined
  let rounds: NodeJS.Timeout | undefined
  const undoBroken = (isStart: boolean) =>
    database.capabilities
      .withClusterLock('imports', () => undoBrokenImports(database, { failed, isStart, warn }))
      .catch((error: unknown) => warn(`Broken imports could not be undone: ${String(error)}`))
  let closed = false

  return {
    limit,
    async begin(told) {
      warn = told
      await rm(directory, { recursive: true, force: true })
      await mkdir(directory, { recursive: true })
      await undoBroken(true)
      // What a node was writing that is no more, another one undoes. A failure is tried again by the next round.
      rounds = setInterval(() => {
        if (database.capabilities.cluster || failed.size > 0) void undoBroken(false)
      }, ROUND_MS)
      rounds.unref()
    },
    run(
      name,
      source,
      origin,
      { rows = ndjsonRows, skip = false, detailed = false, database: permitted, ...rest },
    ) {
      const requested: Requested = {
        ...{ name, origin, rows, skip, detailed, database, permitted, failed },
        isClosed: () => closed,
        warn: (message) => warn(message),
        ...rest,
      }
      return receive(
        source,
        limit,
        async (path) => (await answered(requested)) ?? triedAndWritten(requested, path),
      )
    },
    preview: (name, source, origin, { reading, recognize = false, database: permitted }) =>
      receive(source, reading.format === 'xlsx' ? limit : PREVIEW_BYTES, (path) =>
        previewRows(permitted.session({ ...origin, trial: true }), name, path, { reading, recognize }),
      ),
    async close() {
      closed = true
      clearInterval(rounds)
      await settled()
    },
  }
}

interface Requested extends Pick<ImportOptions, 'whenWritten' | 'undo' | 'named'> {
  readonly name: string
  readonly origin: Origin
  readonly rows: RowsOf
  readonly skip: boolean
  readonly detailed: boolean
  readonly database: ValidatedDatabase
  /** On behalf of whom documents are created. */
  readonly permitted: PermittedDatabase
  readonly isClosed: () => boolean
  /** Imports that are to be undone, as that failed: the next round tries it again. */
  readonly failed: Set<string>
  readonly warn: (message: string) => void
}

/** What was answered to it before; undefined if it was not done yet. */
async function answered({ database, name, named }: Requested): Promise<Imported | undefined> {
  const before = named && (await answeredImport(database, name, named))
  if (!before) return undefined
  const { canUndo, ...brought } = before
  return { ...brought, problems: [], columns: [], undo: canUndo ? named?.id : undefined }
}

async function triedAndWritten(requested: Requested, path: string): Promise<Imported> {
  const { permitted, name, rows, origin, detailed, skip } = requested
  if (!skip) {
    const batches = untilClosed(batchesOf(rows, path), requested)
    await tryRows(permitted, name, batches, { origin, detailed })
  }
  return write(requested, path)
}

async function* untilClosed<T>(batches: AsyncIterable<T>, { isClosed }: Requested): AsyncGenerator<T, void> {
  for await (const batch of batches) {
    if (isClosed()) throw new QuoinError('UNAVAILABLE', 'The node is stopping. Nothing was imported.')
    yield batch
  }
}

async function write(requested: Requested, path: string): Promise<Imported> {
  const { name, origin, rows, skip, database, permitted, named, failed } = requested
  const { whenWritten, undo = false } = requested
  const id = await beginImport(database, name, named)
  const problems = new ProblemList(requested.detailed)
  let count = 0
  try {
    for await (const batch of untilClosed(batchesOf(rows, path), requested)) {
      count += await writeBatch(permitted, name, batch, origin, {
        id,
        undo,
        refused(row, error) {
          problems.add(row, error)
          if (!skip) throw refusedLines(error, problems)
        },
      })
    }
    const canUndo = undo && count > 0 && count <= MOST_UNDONE
    const { total: refused, first, lines, columns } = problems
    await endImport(database, id, origin, {
      canUndo,
      answer: named && { imported: count, refused, refusedLines: lines },
      also: (session) => whenWritten?.(session, count),
    })
    return {
      ...{ imported: count, refused, problems: first, refusedLines: lines, columns },
      undo: canUndo ? id : undefined,
    }
  } catch (error) {
    const left = await undoImport(database, id, origin).catch((cause: unknown) => {
      failed.add(id)
      throw new QuoinError(
        'UNAVAILABLE',
        'The import failed and its documents could not be deleted. That is tried again within a minute, and at the next start of the node.',
        { cause: new AggregateError([error, cause]) },
      )
    })
    if (left.length === 0) throw error
    requested.warn(`The import ${id} into ${name} failed. ${stayingProblem(left)}`)
    throw new QuoinError('CONFLICT', `The import failed. ${stayingProblem(left)}`, { cause: error })
  }
}

interface UndoReport {
  readonly id: string
  readonly undo: boolean
  readonly refused: (row: ImportRow, error: unknown) => void
}

/** Gives how many documents were made. */
async function writeBatch(
  database: Database,
  name: string,
  batch: readonly ImportRow[],
  origin: Origin,
  { id, undo, refused }: UndoReport,
): Promise<number> {
  const session = database.session(origin)
  try {
    const created = await createRows(session, name, batch, refused)
    const hashes = undo ? hashesOf(created) : undefined
    if (created.length > 0) await noteBatch(session, id, guidsOf(created), hashes)
    await session.transaction.commit()
    return created.length
  } catch (error) {
    await session.transaction.rollback()
    throw error
  }
}

interface Receiver {
  /** Into a temporary file, which is then worked on. UNAVAILABLE while too many are. */
  receive<T>(source: AsyncIterable<Buffer>, limit: number, work: (path: string) => Promise<T>): Promise<T>
  /** Resolves when none is. */
  settled(): Promise<unknown>
}

function receiver({ directory, newGuid, free }: DocumentImportOptions): Receiver {
  const running = new Set<Promise<unknown>>()
  const room: ImportRoom = {
    bytes: 0,
    free:
      free ??
      (async () => {
        const { bavail, bsize } = await statfs(directory)
        return bavail * bsize
      }),
  }
  return {
    async receive(source, limit, work) {
      if (running.size >= MOST_AT_ONCE) throw tooMany(`${MOST_AT_ONCE} imports are under way.`)
      const one = received(join(directory, `${newGuid()}.ndjson`), source, { limit, room }, work)
      running.add(one)
      return one.finally(() => running.delete(one))
    },
    settled: () => Promise.allSettled(running),
  }
}

/** What imports that are being received or written have on the disk of this node. */
interface ImportRoom {
  bytes: number
  /** Bytes that are free on the disk. */
  readonly free: () => Promise<number>
}

/** Into the temporary file `path`, and then worked on. */
async function received<T>(
  path: string,
  source: AsyncIterable<Buffer>,
  { limit, room }: { readonly limit: number; readonly room: ImportRoom },
  work: (path: string) => Promise<T>,
): Promise<T> {
  let bytes = 0
  async function* bounded(): AsyncGenerator<Buffer, void> {
    for await (const chunk of source) {
      const isLooked = Math.floor(bytes / LOOKED) < Math.floor((bytes + chunk.length) / LOOKED)
      bytes += chunk.length
      room.bytes += chunk.length
      if (bytes > limit)
        throw new QuoinError('FILE_TOO_BIG', `An import has at most ${limit} bytes. Send it in parts.`)
      if (room.bytes > MOST_RECEIVED) throw tooMany('Imports under way have too many bytes together.')
      if (isLooked && (await room.free()) < LEFT_FREE)
        throw new QuoinError(
          'STORAGE_FULL',
          'The disk is nearly full. Nothing was imported; free some space first.',
        )
      yield chunk
    }
  }
  try {
    await mkdir(dirname(path), { recursive: true })
    await pipeline(bounded(), createWriteStream(path, { flags: 'wx', mode: 0o600 })).catch(
      (error: unknown) => {
        throw diskError(error)
      },
    )
    return await work(path)
  } finally {
    await rm(path, { force: true })
    room.bytes -= bytes
  }
}

function tooMany(what: string): QuoinError {
  return new QuoinError('UNAVAILABLE', `${what} Try again when one has ended.`, { retryAfter: 10 })
}
