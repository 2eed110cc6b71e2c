/**
 * The files of assets. On disk a file lies under its hash and serves all assets with that content; in a bucket each asset
 * has its own, at a place that its record names (see asset-bucket.ts). So with a bucket the copy of a record names another
 * place than the record, which is worked out from the two facts that never change: its hash and its guid.
 */

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { AssetFiles } from '../assets/asset-files.ts'
import { joinDocument, parseBody, splitDocument } from '../document-session.ts'

const AT_ONCE = 4
const SHA256 = /^[0-9a-f]{64}$/

export interface CopiedAsset {
  readonly guid: string
  readonly name: string
  readonly size: number
  readonly sha256: string
  /** Where it lies in the bucket. */
  readonly place: string
  /** Whether its bytes are in the folder and not in a bucket already. */
  readonly onDisk: boolean
}

export interface AssetsOptions {
  /** Of the files: `assets` in the data folder. */
  readonly folder: string
  readonly bucket: AssetFiles
  /** Names the next file that is received, as the bucket asks for it. */
  readonly nameNext: (name: string) => void
}

/** The facts of an asset's record; undefined for one that has no file. */
export function assetOf(doc: string): CopiedAsset | undefined {
  const { meta, body } = splitDocument(doc)
  const { name, size, sha256, file } = parseBody(body)
  if (typeof sha256 !== 'string' || !SHA256.test(sha256)) return undefined
  const onDisk = typeof file !== 'string' || SHA256.test(file)
  const place = onDisk ? `${sha256.slice(0, 2)}/${sha256}.${meta.guid}` : file
  return { guid: meta.guid, name: String(name), size: Number(size), sha256, place, onDisk }
}

/** The record as it is when the file lies in a bucket. */
export function placedInBucket(doc: string): string {
  const asset = assetOf(doc)
  if (!asset?.onDisk) return doc
  const { meta, body } = splitDocument(doc)
  const fields: JsonObject = { ...parseBody(body), file: asset.place }
  return joinDocument(meta, JSON.stringify(fields))
}

/** Puts a file into the bucket unless it is there with its size, and looks at the size then. Throws when it is another. */
async function uploadAsset({ folder, bucket, nameNext }: AssetsOptions, asset: CopiedAsset): Promise<void> {
  if (await hasSize(bucket, asset)) return
  const { guid, name, size, sha256, place } = asset
  const lost = (what: string) =>
    new QuoinError('NOT_FOUND', `The file of the asset ${name} (${guid}) ${what}.`)
  if (!asset.onDisk) throw lost('is not in the bucket, where its record says it is')
  const path = join(folder, sha256.slice(0, 2), sha256.slice(2, 4), sha256)
  if ((await stat(path).catch(() => undefined)) === undefined) throw lost(`is missing in ${folder}`)
  nameNext(guid)
  const received = await bucket.receive(createReadStream(path))
  try {
    if (received.sha256 !== sha256 || received.size !== size)
      throw lost(`in ${folder} is not what was uploaded: its checksum is another`)
    if ((await bucket.keep(received)) !== place) throw new TypeError('The bucket has put the file elsewhere.')
  } finally {
    await bucket.discard(received)
  }
  if (!(await hasSize(bucket, asset))) throw lost('has another size in the bucket')
}

/** All of them, some at once. `copied` is told after each. */
export async function uploadAssets(
  options: AssetsOptions,
  assets: Iterable<CopiedAsset>,
  copied: (bytes: number) => void,
): Promise<void> {
  const waiting = assets[Symbol.iterator]()
  const work = async () => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) {
      await uploadAsset(options, next.value)
      copied(next.value.size)
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, work))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

/** Asks for the last byte and the one behind it: exactly one comes when the size is right. */
async function hasSize(bucket: AssetFiles, { place, size }: CopiedAsset): Promise<boolean> {
  let bytes = 0
  try {
    const range = size > 0 ? { start: size - 1, end: size } : undefined
    for await (const chunk of bucket.read(place, range)) bytes += chunk.length
  } catch (error) {
    if (isAbsent(error)) return false
    throw error
  }
  return bytes === Math.min(size, 1)
}

/** No object, or one that ends before the range. */
function isAbsent(error: unknown): boolean {
  const cause = error instanceof QuoinError ? error.cause : undefined
  return cause instanceof Error && /^(NoSuchKey|NotFound|InvalidRange)\b/.test(cause.message)
}
