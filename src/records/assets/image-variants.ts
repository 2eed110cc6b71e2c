/**
 * Images that were made of assets for addresses such as `?width=200`, kept beside them: the same bytes for each request, and on each
 * node. They go with their asset.
 */
import { Readable } from 'node:stream'
import { QuoinError } from '../../shared/errors.ts'
import { type ImageRequest, isReadableImage } from '../../shared/files/image-request.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import type { Query } from '../../shared/query.ts'
import type { AssetFiles } from '../../storage/assets/asset-files.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { findAll } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import type { ConvertedImage, Images } from './convert-image.ts'
import type { PlacedFiles } from './placed-files.ts'

// Records `{ asset, key, name, type, size, sha256, file }` of images that were made of assets: one for each asset and key.

/** Of one asset; the oldest goes for the next one. */
const MOST_VARIANTS = 64

export function openVariants(database: Database): Promise<void> {
  return database.ensure(systemStorages.assetImages, {
    indexes: [{ fields: ['asset', 'key'], unique: true }, { fields: ['file'] }],
  })
}

async function findVariant(session: Session, asset: string, key: string): Promise<JsonObject | undefined> {
  const query: Query = { kind: 'and', queries: [term('asset', asset), term('key', key)] }
  const [found] = await findAll(session, systemStorages.assetImages, query, 1)
  return found
}

/** Of an asset, the oldest first. */
function variantsOf(session: Session, asset: string): Promise<readonly JsonObject[]> {
  const oldest = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
  return findAll(session, systemStorages.assetImages, term('asset', asset), 2 * MOST_VARIANTS, oldest)
}

async function createVariant(session: Session, fields: JsonObject): Promise<JsonObject> {
  return documentOf(await session.create(systemStorages.assetImages, setFields(fields)))
}

/** False when it was deleted before. */
async function deleteVariant(session: Session, record: JsonObject): Promise<boolean> {
  return (await session.delete(systemStorages.assetImages, guidOf(record))).outcome === 'written'
}

function term(field: string, value: string): Query {
  return { kind: 'term', field, value }
}

/** Of an asset or of an image that was made of it, `record` with its name, type, size and hash. */
export interface ShownFile {
  readonly record: JsonObject
  readonly read: (range: { readonly start: number; readonly end: number }) => Readable
}

export interface ImageVariants {
  /** Stored unless the space is full: then it is made for each request. INVALID_QUERY, UNAVAILABLE, as conversions have them. */
  of(asset: JsonObject, requested: ImageRequest): Promise<ShownFile>
  convert(asset: JsonObject, requested: ImageRequest): Promise<ConvertedImage>
  /** Deletes all that were made of an asset. */
  drop(asset: string): Promise<void>
}

interface Parts {
  readonly database: Database
  readonly files: AssetFiles
  readonly placed: PlacedFiles
  readonly images: Images
}

export function imageVariants({ database, files, placed, images }: Parts): ImageVariants {
  /** Being made on this node: a page with the same new image ten times has it made once. */
  const making = new Map<string, Promise<ShownFile>>()

  async function convert(asset: JsonObject, requested: ImageRequest): Promise<ConvertedImage> {
    checkReadable(textIn(asset.type))
    return images.convert(() => placed.read(asset), Number(asset.size), requested)
  }

  const release = (record: JsonObject) => placed.release(record, (session) => deleteVariant(session, record))

  async function make(asset: JsonObject, key: string, requested: ImageRequest): Promise<ShownFile> {
    const guid = guidOf(asset)
    const { bytes, type } = await convert(asset, requested)
    const file = await files.receive(Readable.from([bytes]))
    const { size, sha256 } = file
    const facts = { asset: guid, key, name: nameOf(textIn(asset.name), type), type, size, sha256 }
    try {
      const made = await placed.keep(file, (session, place) =>
        createVariant(session, { ...facts, file: place }),
      )
      await clear(guid, made)
      return placedFile(placed, made)
    } catch (error) {
      // Another node was faster.
      const found = await findVariant(database.session(), guid, key)
      if (found) return placedFile(placed, found)
      if (!(error instanceof QuoinError && error.code === 'QUOTA_EXCEEDED')) throw error
      // A page is whole in a space that is full too.
      return { record: facts, read: ({ start, end }) => Readable.from([bytes.subarray(start, end + 1)]) }
    } finally {
      await files.discard(file)
    }
  }

  /** A deletion of the asset looks for images after it, and this looks for the asset after the image: one of both sees the other. */
  async function clear(guid: string, made: JsonObject): Promise<void> {
    const session = database.session()
    if ((await session.get(systemStorages.assets, guid)) === undefined) await release(made)
    const all = await variantsOf(session, guid)
    for (const old of all.slice(0, Math.max(0, all.length - MOST_VARIANTS))) await release(old)
  }

  return {
    convert,
    async of(asset, requested) {
      const key = keyOf(asset, requested)
      const found = await findVariant(database.session(), guidOf(asset), key)
      if (found && placed.isPlaced(found)) return placedFile(placed, found)
      if (found) await release(found)
      const name = `${guidOf(asset)} ${key}`
      const work = making.get(name) ?? make(asset, key, requested).finally(() => making.delete(name))
      making.set(name, work)
      return work
    },
    async drop(asset) {
      for (const record of await variantsOf(database.session(), asset)) await release(record)
    },
  }
}

function placedFile(placed: PlacedFiles, record: JsonObject): ShownFile {
  return { record, read: (range) => placed.read(record, range) }
}

function keyOf({ type }: JsonObject, requested: ImageRequest): string {
  const { width = 0, height = 0, fit = 'inside', format = '', quality = 0 } = requested
  // A PNG has no quality: its bytes are the same.
  const isPng = format === 'png' || (format === '' && type === 'image/png')
  return [width, height, fit, format, isPng ? 0 : quality].join(' ')
}

function checkReadable(type: string): void {
  if (isReadableImage(type)) return
  throw new QuoinError(
    'INVALID_QUERY',
    `The file is ${type}. Only JPEG, PNG, WebP, AVIF and GIF images are resized or converted.`,
  )
}

/** `photo.heic` as WebP is `photo.webp`. */
function nameOf(name: string, type: string): string {
  const end = type.replace('image/', '').replace('jpeg', 'jpg')
  return `${name.replace(/\.[a-z0-9]{1,5}$/i, '')}.${end}`
}
