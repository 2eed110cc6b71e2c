/**
 * Assets: a record `{ name, type, size, sha256, directory, public_path, file, created_by }` and the file behind it, at the
 * place that `file` says. The file is there before its record and goes after it, so no record is ever without its file;
 * what a crash between the two leaves is a file without a record, and a note of it (`asset-notes.ts`), by which the sweep
 * deletes it. On disk the next upload of the same content may take it over before.
 */

import type { Readable } from 'node:stream'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import type { Search } from '../../shared/query.ts'
import type { AssetFiles, Presigned, ReceivedFile } from '../../storage/assets/asset-files.ts'
import { assetDirectoryProblem, assetNameProblem, publicPath } from '../../storage/assets/asset-path.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { findPage } from '../../storage/find-page.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import type { RecordPage } from '../../storage/record-page.ts'
import { transact } from '../../storage/transact.ts'
import { type Actor, findRecords, getRecord, notFound, type RecordContext } from '../records.ts'
import { type AssetNote, forgetNote, noteFile, openAssetNotes } from './asset-notes.ts'

/** 500 MB as the contract counts them. */
const MAX_ASSET_BYTES = 500 * 1024 * 1024

export interface AssetInput {
  readonly name: string
  readonly directory: string
  /** What the sender says it is; what the bytes say goes first. */
  readonly type: string | undefined
  /** A new one, if not given. */
  readonly guid?: string
}

export interface Assets {
  readonly files: AssetFiles
  /** Most bytes of one file. */
  readonly limit: number
  /** Takes the received file over, also when it throws. INVALID_BODY for a name; CONFLICT for a public path that is taken. */
  create(file: ReceivedFile, input: AssetInput, by: Actor): Promise<JsonObject>
  get(guid: string): Promise<JsonObject>
  search(wanted: Search): Promise<RecordPage>
  /** Permanently, with its file unless another asset has the same one. The sweep deletes a file that cannot be deleted now. */
  remove(guid: string, by: Actor): Promise<void>
  /** Deletes the noted file unless an asset has it, then the note. */
  settle(note: AssetNote): Promise<void>
  /** The bytes of an asset, or those from byte `start` to byte `end`, both included. */
  read(record: JsonObject, range?: { readonly start: number; readonly end: number }): Readable
  /** An address of the bytes in the bucket; undefined where they are on a disk. */
  presigned(record: JsonObject, wanted: Presigned): Promise<string> | undefined
  /** The asset at a path below `/static/`. */
  findPublic(path: string): Promise<JsonObject | undefined>
}

export async function openAssets(
  records: RecordContext,
  files: AssetFiles,
  limit = MAX_ASSET_BYTES,
): Promise<Assets> {
  const { database } = records
  await database.ensure(ownStorages.assets, {
    indexes: [
      { fields: ['public_path'], unique: true },
      { fields: ['sha256'] },
      { fields: ['file'] },
      { fields: ['name'] },
      { fields: ['directory'] },
    ],
    text: true,
  })
  await openAssetNotes(database)
  /**
   * The last piece of work on each content: a file must not go while another asset begins to use it. Enough on several
   * nodes too: where they share files, each asset has its own.
   */
  const turns = new Map<string, Promise<unknown>>()

  function inTurn<T>(sha256: string, work: () => Promise<T>): Promise<T> {
    const next = (turns.get(sha256) ?? Promise.resolve()).then(work, work)
    turns.set(sha256, next)
    const over = () => {
      if (turns.get(sha256) === next) turns.delete(sha256)
    }
    next.then(over, over)
    return next
  }

  async function deleteFile(place: string): Promise<void> {
    try {
      await files.delete(place)
    } catch (error) {
      // A place of the store that this cluster had before has nothing in this one.
      if (!(error instanceof TypeError)) throw error
    }
  }

  /** Within the turn of the content. */
  async function settle(note: AssetNote): Promise<void> {
    const queries = [term('file', note.place), term('sha256', note.place)]
    const users = await database.session().count(ownStorages.assets, { kind: 'or', queries }, true)
    if (users === 0) await deleteFile(note.place)
    await transact(database, (session) => forgetNote(session, note))
  }

  async function save(file: ReceivedFile, input: AssetInput, by: Actor): Promise<JsonObject> {
    checkAssetPlace(input)
    const { size, sha256 } = file
    const { name, directory } = input
    const path = publicPath(directory, name) ?? null
    const type = await assetType(file, input.type)
    return inTurn(sha256, async () => {
      const place = files.placeOf(file)
      const note = await transact(database, (session) => noteFile(session, place))
      const facts = { name, type, size, sha256, directory, public_path: path, file: place }
      const fields = { ...facts, created_by: { ...by } }
      const options = input.guid === undefined ? {} : { guid: input.guid }
      try {
        await files.keep(file)
        return await transact(
          database,
          async (session) => {
            if (path !== null) await checkFree(session, path)
            const stored = await session.create(ownStorages.assets, setFields(fields), options)
            await forgetNote(session, note)
            return documentOf(stored)
          },
          { user: by },
        )
      } catch (error) {
        await settle(note).catch(leftToSweep)
        throw error
      }
    })
  }

  return {
    files,
    limit,
    async create(file, input, by) {
      try {
        return await save(file, input, by)
      } finally {
        await files.discard(file)
      }
    },
    get: (guid) => getRecord(database.session(), ownStorages.assets, guid, 'asset'),
    search: (wanted) => findPage(records.database.session(), ownStorages.assets, wanted),
    async remove(guid, by) {
      const record = await getRecord(database.session(), ownStorages.assets, guid, 'asset')
      await inTurn(textIn(record.sha256), async () => {
        const note = await transact(
          database,
          async (session) => {
            const deleted = await session.delete(ownStorages.assets, guid)
            if (deleted.outcome !== 'written') throw notFound(guid, 'asset')
            return noteFile(session, placeOf(record))
          },
          { user: by },
        )
        await settle(note).catch(leftToSweep)
      })
    },
    settle: (note) => inTurn(contentOf(note.place), () => settle(note)),
    read: (record, range) => files.read(placeOf(record), range),
    presigned: (record, wanted) => files.presigned?.(placeOf(record), wanted),
    async findPublic(path) {
      const [record] = await findRecords(database.session(), ownStorages.assets, term('public_path', path))
      return record
    },
  }
}

/** Throws INVALID_BODY for a name or directory that cannot be: before a byte of the file is read, if it is known then. */
export function checkAssetPlace({ name, directory }: Pick<AssetInput, 'name' | 'directory'>): void {
  const nameProblem = assetNameProblem(name)
  if (nameProblem) throw invalidField('filename', `The filename ${nameProblem}.`)
  const directoryProblem = assetDirectoryProblem(directory)
  if (directoryProblem) throw invalidField('directory', `The directory ${directoryProblem}.`)
}

async function checkFree(session: Session, path: string): Promise<void> {
  const [owner] = await findRecords(session, ownStorages.assets, term('public_path', path))
  if (!owner) return
  throw new QuoinError(
    'CONFLICT',
    `/static/${path} is the asset ${guidOf(owner)}. Delete that one first, or choose another name.`,
  )
}

/** The note is still there then. */
function leftToSweep(): void {}

/** The SHA-256 that each place has in it: the turn that uploads of the same content take. */
function contentOf(place: string): string {
  return /[0-9a-f]{64}/.exec(place)?.[0] ?? place
}

/** Records of before there was `file` have their bytes under the hash. */
function placeOf(record: JsonObject): string {
  return typeof record.file === 'string' ? record.file : textIn(record.sha256)
}

function term(field: string, value: string) {
  return { kind: 'term', field, value } as const
}

/** Documents that are archives: whose parts were streamed has no mark that says which. */
const OF_ARCHIVES =
  /^application\/(vnd\.(openxmlformats-officedocument|oasis\.opendocument)\.[a-z.-]{1,60}|epub\+zip)$/

/** The bytes say what a picture or an archive is; text has no mark, there the sender is believed. */
export async function assetType({ head }: ReceivedFile, said: string | undefined): Promise<string> {
  // 9 MB that a server without uploads has no use for.
  const { fileTypeFromBuffer } = await import('file-type')
  const found = await fileTypeFromBuffer(head).catch(() => undefined)
  const plain = said?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (found && !(found.mime === 'application/zip' && OF_ARCHIVES.test(plain))) return found.mime
  return /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/.test(plain)
    ? plain
    : 'application/octet-stream'
}
