/**
 * Assets: a record `{ name, type, size, sha256, directory, public_path, file, created_by }` and the file behind it, at the
 * place that `file` says (`placed-files.ts`). Images that were made of an asset go with it (`image-variants.ts`).
 */
import type { Readable } from 'node:stream'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import type { ImageRequest } from '../../shared/files/image-request.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import type { Search } from '../../shared/query.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import type { AssetFiles, Presigned, ReceivedFile } from '../../storage/assets/asset-files.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textsIn } from '../../storage/document-fields.ts'
import { findPage } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { type Actor, findRecords, getRecord, notFound, type RecordContext } from '../records.ts'
import { type AssetNote, forgetNote, noteFile, openAssetNotes } from './asset-notes.ts'
import { type ConvertedImage, type Images, openImages } from './convert-image.ts'
import { imageVariants, openVariants, type ShownFile } from './image-variants.ts'
import { placedFiles, placeOf } from './placed-files.ts'
import { holdUpload, releaseUpload } from './temporary-uploads.ts'

/** 500 MB as the contract counts them. */
const MAX_ASSET_BYTES = 500 * 1024 * 1024

export interface AssetInput {
  readonly name: string
  readonly directory: string
  /** What the sender says it is; what the bytes say goes first. */
  readonly type: string | undefined
  /** A new one, if not given. */
  readonly guid?: string
  /** Records of assets that are deleted in the transaction that creates this one; those that are gone do not matter. */
  readonly replaced?: readonly JsonObject[]
  /** Of a request that is under way: deleted a day later, unless `TemporaryUploads` has let go of it. */
  readonly held?: true
}

export interface Assets {
  readonly files: AssetFiles
  /** Most bytes of one file. */
  readonly limit: number
  /** Takes the received file over, also when it throws. INVALID_BODY for a name; CONFLICT for a public path that is taken. */
  create(file: ReceivedFile, input: AssetInput, by: Actor): Promise<JsonObject>
  get(guid: string): Promise<JsonObject>
  search(requested: Search): Promise<RecordPage>
  /** Permanently, with its file unless another asset has the same one. The sweep deletes a file that cannot be deleted now. */
  remove(guid: string, by: Actor): Promise<void>
  /** Deletes the noted file unless an asset has it, or the noted upload unless a document has it, then the note. */
  settle(note: AssetNote): Promise<void>
  /** The bytes of an asset, or those from byte `start` to byte `end`, both included. */
  read(record: JsonObject, range?: { readonly start: number; readonly end: number }): Readable
  /** The image as it is wanted, made and kept once, unless the space is full. INVALID_QUERY, UNAVAILABLE. */
  image(record: JsonObject, requested: ImageRequest): Promise<ShownFile>
  /** The same, not kept. */
  convert(record: JsonObject, requested: ImageRequest): Promise<ConvertedImage>
  /** Whether images can be made in other sizes here. */
  resizes(): Promise<boolean>
  /** An address of the bytes in the bucket; undefined where they are on a disk. */
  presigned(record: JsonObject, requested: Presigned): Promise<string> | undefined
  /** The asset at a path below `/static/`. */
  findPublic(path: string): Promise<JsonObject | undefined>
}

/** Assets of a store that tries again itself, and the same of one that does not: for blocks, whose pin says how often. */
export interface StoredAssets extends Assets {
  readonly once: Assets
}

export async function openAssets(
  records: RecordContext,
  files: AssetFiles,
  limit = MAX_ASSET_BYTES,
  images = openImages(),
): Promise<StoredAssets> {
  const { database } = records
  await database.ensure(systemStorages.assets, {
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
  await openVariants(database)
  const assets = assetsIn(records, files, limit, images)
  // Two on one disk would not wait for each other: in a bucket each record has its own file.
  return { ...assets, once: files.once ? assetsIn(records, files.once, limit, images) : assets }
}

function assetsIn(records: RecordContext, files: AssetFiles, limit: number, images: Images): Assets {
  const { database } = records
  const placed = placedFiles(database, files)
  const variants = imageVariants({ database, files, placed, images })

  async function save(file: ReceivedFile, input: AssetInput, by: Actor): Promise<JsonObject> {
    checkAssetPlace(input)
    const { size, sha256 } = file
    const { name, directory } = input
    const path = publicPath(directory, name) ?? null
    const type = await assetType(file, input.type)
    let notes: AssetNote[] = []
    const create = async (session: Session, place: string) => {
      notes = await deleteReplaced(session, input.replaced ?? [])
      if (path !== null) await checkFree(session, path)
      const facts = { name, type, size, sha256, directory, public_path: path, file: place }
      return createRecord(session, { ...facts, created_by: { ...by } }, input)
    }
    const made = await placed.keep(file, create, { user: by })
    // What cannot be deleted now is left to the sweep.
    for (const note of notes) await placed.settle(note).catch(() => {})
    for (const record of input.replaced ?? []) await variants.drop(guidOf(record))
    return made
  }

  async function remove(guid: string, by: Actor): Promise<void> {
    const record = await getRecord(database.session(), systemStorages.assets, guid, 'asset')
    const isRemoved = await placed.release(record, (session) => deleteRecord(session, guid), { user: by })
    if (!isRemoved) throw notFound(guid, 'asset')
    await variants.drop(guid)
  }

  /** Of a request that never ended. */
  async function abandon(note: AssetNote, guid: string): Promise<void> {
    const stored = await database.session().get(systemStorages.assets, guid)
    if (stored && textsIn(documentOf(stored).documents).length === 0)
      await remove(guid, { guid: '', username: '' })
    else await transact(database, (session) => forgetNote(session, note))
  }

  return {
    files,
    limit,
    create: (file, input, by) => save(file, input, by).finally(() => files.discard(file)),
    get: (guid) => getRecord(database.session(), systemStorages.assets, guid, 'asset'),
    search: (requested) => findPage(records.database.session(), systemStorages.assets, requested),
    remove,
    settle: (note) => (note.upload === undefined ? placed.settle(note) : abandon(note, note.upload)),
    read: placed.read,
    image: variants.of,
    convert: variants.convert,
    resizes: () => images.isReady(),
    presigned: (record, requested) => files.presigned?.(placeOf(record), requested),
    async findPublic(path) {
      const [record] = await findRecords(database.session(), systemStorages.assets, term('public_path', path))
      return record
    },
  }
}

async function createRecord(
  session: Session,
  facts: JsonObject,
  { guid, held }: Pick<AssetInput, 'guid' | 'held'>,
): Promise<JsonObject> {
  const options = guid === undefined ? {} : { guid }
  const made = documentOf(await session.create(systemStorages.assets, setFields(facts), options))
  if (held) await holdUpload(session, guidOf(made))
  return made
}

/** False if it was gone. */
async function deleteRecord(session: Session, guid: string): Promise<boolean> {
  const { outcome } = await session.delete(systemStorages.assets, guid)
  if (outcome === 'written') await releaseUpload(session, guid)
  return outcome === 'written'
}

/** In the transaction of the record that replaces them. Gives the notes of their files. */
async function deleteReplaced(session: Session, replaced: readonly JsonObject[]): Promise<AssetNote[]> {
  const notes: AssetNote[] = []
  for (const record of replaced)
    if (await deleteRecord(session, guidOf(record))) notes.push(await noteFile(session, placeOf(record)))
  return notes
}

/** Throws INVALID_BODY for a name or directory that cannot be: before a byte of the file is read, if it is known then. */
export function checkAssetPlace({ name, directory }: Pick<AssetInput, 'name' | 'directory'>): void {
  const nameProblem = assetNameProblem(name)
  if (nameProblem) throw invalidField('filename', `The filename ${nameProblem}.`)
  const directoryProblem = assetDirectoryProblem(directory)
  if (directoryProblem) throw invalidField('directory', `The directory ${directoryProblem}.`)
}

async function checkFree(session: Session, path: string): Promise<void> {
  const [owner] = await findRecords(session, systemStorages.assets, term('public_path', path))
  if (!owner) return
  throw new QuoinError(
    'CONFLICT',
    `/static/${path} is the asset ${guidOf(owner)}. Delete that one first, or choose another name.`,
  )
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

/** Names and directories of assets. They are never paths on disk; they are parts of addresses, so they are checked all the same. */
const LONGEST = 255

/** What is wrong with a file's name, in words that finish "the name …", or undefined. */
function assetNameProblem(name: string): string | undefined {
  if (name.includes('/')) return 'must not hold a slash; use the directory for that'
  return partProblem(name) ?? lengthProblem(name)
}

/** What is wrong with a directory such as `public/images`, in words that finish "the directory …", or undefined. */
function assetDirectoryProblem(directory: string): string | undefined {
  for (const part of directory.split('/')) {
    const problem = partProblem(part)
    if (problem) return problem
  }
  return lengthProblem(directory)
}

/** The path below `/static/` at which any client can read the asset, or undefined if its directory is private. */
function publicPath(directory: string, name: string): string | undefined {
  const [root, ...rest] = directory.split('/')
  return root === 'public' ? [...rest, name].join('/') : undefined
}

function partProblem(part: string): string | undefined {
  if (part === '') return 'is empty, or has an empty part'
  if (part === '.' || part === '..') return 'must not hold . or .. as a part'
  if (part.includes('\\')) return 'must not hold a backslash'
  if (part.trim() !== part) return 'must not begin or end with a space'
  // Control and format characters: those that turn the direction of text make exe.txt of txt.exe.
  return !part.isWellFormed() || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(part)
    ? 'must not hold control or invisible characters'
    : undefined
}

function lengthProblem(text: string): string | undefined {
  return Buffer.byteLength(text) > LONGEST ? `must have at most ${LONGEST} bytes` : undefined
}
