/**
 * The bytes of assets in S3 or a server that speaks it: for several nodes, which share no disk.
 *
 * A file is streamed to `incoming/<name>` (one request up to 5 MiB, then parts of 5 MiB, three in memory), and copied to
 * its place by the server when it is kept: `ab/abcd….<name>`, its hash and a name of its own. So each asset has its own
 * object here, also when another one has the same content. One object for both would be lost when a node deletes the last
 * asset with that content while another node just begins to use it: S3 has no lock for that, and a disk has only one node.
 *
 * The client asks three times where the bucket fails, but for `once`: work that has attempts of its own.
 *
 * Nothing is left behind by what fails here. What a node was receiving when it died stays in `incoming/`, and is deleted
 * by the next start a day later: younger ones may be on their way to other nodes.
 */
import { Readable } from 'node:stream'
import type * as S3 from '@aws-sdk/client-s3'
import type { S3Client } from '@aws-sdk/client-s3'
import type { Upload as UploadClass } from '@aws-sdk/lib-storage'
import type { Clock } from '../../shared/clock.ts'
import { QuoinError } from '../../shared/errors.ts'
import { FileStoreUnavailable } from '../file-store-unavailable.ts'
import { type AssetFiles, type ReceivedFile, receivedBytes } from './asset-files.ts'
import type { BucketAddress } from './bucket-url.ts'

export interface LeftOvers {
  readonly s3: typeof S3
  readonly client: S3.S3Client
  readonly bucket: string
  /** Of what is being received. */
  readonly prefix: string
  readonly now: number
}

/** Longer than any upload takes, and far more than clocks differ. */
const TOO_OLD_MS = 24 * 60 * 60 * 1000

/** Deletes what nodes were receiving when they died: whole objects, and parts of unfinished ones. */
async function clearLeftOvers({ s3, client, bucket, prefix, now }: LeftOvers): Promise<void> {
  const isOld = (time: Date | undefined) => time !== undefined && time.getTime() < now - TOO_OLD_MS
  const where = { Bucket: bucket, Prefix: prefix }
  for await (const page of s3.paginateListObjectsV2({ client }, where))
    for (const { Key, LastModified } of page.Contents ?? [])
      if (Key?.startsWith(prefix) && isOld(LastModified))
        await client.send(new s3.DeleteObjectCommand({ Bucket: bucket, Key }))

  let after: { readonly KeyMarker?: string | undefined; readonly UploadIdMarker?: string | undefined } = {}
  for (;;) {
    const page = await client.send(new s3.ListMultipartUploadsCommand({ ...where, ...after }))
    for (const { Key, UploadId, Initiated } of page.Uploads ?? [])
      if (Key?.startsWith(prefix) && isOld(Initiated))
        await client.send(new s3.AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
    if (!page.IsTruncated) return
    after = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
  }
}

export interface BucketOptions {
  readonly address: BucketAddress
  /** Gives names of [a-z0-9-], never the same twice on any node. */
  readonly newName: () => string
  readonly clock: Clock
}

const MIB = 1024 * 1024
/** S3 has no smaller parts. */
const PART = 5 * MIB
const PARTS_AT_ONCE = 2
/** How often the client sends a request that fails. */
const ASKED = 3
const PLACE = /^[0-9a-f]{2}\/[0-9a-f]{64}\.[a-z0-9-]{1,64}$/

/** What all requests to a bucket share. */
interface OpenBucket extends Pick<BucketOptions, 'address' | 'newName'> {
  readonly s3: typeof S3
  readonly Upload: typeof UploadClass
  readonly client: S3Client
  readonly at: (key: string) => { readonly Bucket: string; readonly Key: string }
  readonly guarded: <T>(work: Promise<T>) => Promise<T>
  readonly remove: (key: string) => Promise<void>
  readonly close: () => void
}

/** The client, 36 MB of memory, is only loaded here. Throws UNAVAILABLE when the bucket cannot be used. */
export async function openAssetBucket({ address, newName, clock }: BucketOptions): Promise<AssetFiles> {
  const s3 = await import('@aws-sdk/client-s3')
  const { Upload } = await import('@aws-sdk/lib-storage')
  const { bucket, prefix } = address
  const client = openClient(s3.S3Client, address, ASKED)
  const single = openClient(s3.S3Client, address, 1)
  const at = (key: string) => ({ Bucket: bucket, Key: prefix + key })
  const guarded = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw bucketError(error, bucket)
    })
  const remove = async (key: string) => {
    await guarded(client.send(new s3.DeleteObjectCommand(at(key))))
  }

  try {
    await guarded(clearLeftOvers({ s3, client, bucket, prefix: `${prefix}incoming/`, now: clock() }))
  } catch (error) {
    close()
    throw error
  }
  const opened = { s3, Upload, client, address, newName, at, guarded, remove, close }
  return { ...filesBy(opened, client), once: filesBy(opened, single) }

  function close(): void {
    client.destroy()
    single.destroy()
  }
}

/** `by`: the client of all but deletions, which tidy up behind what failed. */
function filesBy(opened: OpenBucket, by: S3Client): Omit<AssetFiles, 'once'> {
  const { s3, client, address, at, guarded, remove, close } = opened
  const { bucket, prefix } = address
  return {
    receive: (source) => receiveInto(opened, by, source),
    placeOf,
    async keep(file) {
      const place = placeOf(file)
      const source = `${bucket}/${prefix}incoming/${file.waiting}`
      await guarded(by.send(new s3.CopyObjectCommand({ ...at(place), CopySource: encodeURI(source) })))
      return place
    },
    // If the delete fails, a later start repeats it. The error is dropped: the caller already reports another one.
    discard: ({ waiting }) => remove(`incoming/${waiting}`).catch(() => undefined),
    isPlace: (place) => PLACE.test(place),
    read(place, range) {
      const requested = {
        ...at(keyOf(place)),
        ...(range && { Range: `bytes=${range.start}-${range.end}` }),
      }
      const send = (abortSignal: AbortSignal) =>
        guarded(by.send(new s3.GetObjectCommand(requested), { abortSignal }))
      return bytesOf(send, bucket)
    },
    async presigned(place, { seconds, type, disposition }) {
      const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner')
      const headers = {
        ResponseContentType: type,
        ResponseContentDisposition: disposition,
        ResponseCacheControl: 'private, no-cache',
      }
      const command = new s3.GetObjectCommand({ ...at(keyOf(place)), ...headers })
      return guarded(getSignedUrl(client, command, { expiresIn: seconds }))
    },
    delete: async (place) => remove(keyOf(place)),
    close,
  }
}

/** Deletes all that lies in a folder of a bucket. No process uses it any more. */
export async function emptyBucket(address: BucketAddress): Promise<void> {
  const { bucket, prefix } = address
  if (prefix === '') throw new TypeError('A whole bucket is never emptied.')
  const s3 = await import('@aws-sdk/client-s3')
  const client = openClient(s3.S3Client, address, ASKED)
  try {
    await clearLeftOvers({ s3, client, bucket, prefix, now: Number.POSITIVE_INFINITY })
  } catch (error) {
    throw bucketError(error, bucket)
  } finally {
    client.destroy()
  }
}

async function receiveInto(
  { Upload, address: { bucket }, newName, at, remove }: OpenBucket,
  by: S3Client,
  source: Parameters<AssetFiles['receive']>[0],
): Promise<ReceivedFile> {
  const waiting = newName()
  const received = receivedBytes(source)
  const failure: { readonly error?: unknown } = {}
  // What the source throws is the sender's doing and goes on as it is.
  const chunks = remembering(received.chunks, failure)
  const upload = new Upload({
    client: by,
    params: { ...at(`incoming/${waiting}`), Body: Readable.from(chunks, { objectMode: false }) },
    partSize: PART,
    queueSize: PARTS_AT_ONCE,
  })
  try {
    // On failure it also takes back the parts that have arrived.
    await upload.done()
    return { waiting, ...received.facts() }
  } catch (error) {
    // Whether the last request arrived is not known.
    await remove(`incoming/${waiting}`).catch(() => undefined)
    throw 'error' in failure ? failure.error : bucketError(error, bucket)
  }
}

/** Sends the request when the stream is first read, and ends it when the stream is destroyed. */
function bytesOf(
  send: (signal: AbortSignal) => Promise<S3.GetObjectCommandOutput>,
  bucket: string,
): Readable {
  const stop = new AbortController()
  async function* bytes() {
    const { Body } = await send(stop.signal)
    if (!(Body instanceof Readable)) throw new TypeError('The reply has no body.')
    try {
      yield* Body
    } catch (error) {
      throw bucketError(error, bucket)
    }
  }
  const stream = Readable.from(bytes(), { objectMode: false })
  const close = stream._destroy.bind(stream)
  // `close` comes once the generator has ended, and it waits for the answer: a silent bucket would hold one of 50 connections for two minutes.
  stream._destroy = (error, done) => {
    stop.abort()
    close(error, done)
  }
  return stream
}

function placeOf({ waiting, sha256 }: ReceivedFile): string {
  return `${sha256.slice(0, 2)}/${sha256}.${waiting}`
}

function keyOf(place: string): string {
  if (!PLACE.test(place)) throw new TypeError('No place of an asset.')
  return place
}

function openClient(
  Client: typeof S3Client,
  { endpoint, region }: BucketAddress,
  maxAttempts: number,
): S3Client {
  return new Client({
    maxAttempts,
    ...(region !== undefined && { region }),
    // Other servers seldom have a host name for each bucket.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    // The newer checksums, sent behind the body, are not understood by every server.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Until the reply begins; a body may take as long as its reader does.
    requestHandler: { connectionTimeout: 5_000, requestTimeout: 120_000, throwOnRequestTimeout: true },
  })
}

async function* remembering(
  chunks: AsyncIterable<Buffer>,
  failure: { error?: unknown },
): AsyncGenerator<Buffer> {
  try {
    yield* chunks
  } catch (error) {
    failure.error = error
    throw error
  }
}

/** What may be known of it, without the headers and the signed text that the client's own errors carry into a log. */
function bucketError(error: unknown, bucket: string): QuoinError {
  const name = error instanceof Error ? error.name : 'Error'
  const message = error instanceof Error ? error.message : String(error)
  const full = name === 'QuotaExceeded' || name === 'InsufficientStorage'
  const cause = new Error(`${name}: ${message}`)
  if (!full)
    return new FileStoreUnavailable(`The bucket ${bucket} of the assets cannot be used now (${name}).`, cause)
  return new QuoinError(
    'STORAGE_FULL',
    'The asset storage is full. The file was not stored; free some space first.',
    { cause },
  )
}
