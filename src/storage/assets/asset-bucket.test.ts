import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { CreateMultipartUploadCommand, UploadPartCommand } from '@aws-sdk/client-s3'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { stubCredentials } from '../../../test/asset-place.ts'
import { startLocalServer } from '../../../test/local-server.ts'
import { openBucket, openS3Server, type S3Server, type TestBucket } from '../../../test/s3-server.ts'
import { findSwiftServer } from '../../../test/swift-server.ts'
import { QuoinError } from '../../shared/errors.ts'
import { emptyBucket, openAssetBucket } from './asset-bucket.ts'
import type { AssetFiles } from './asset-files.ts'
import { parseBucketUrl } from './bucket-url.ts'

const MIB = 1024 * 1024
const DAY = 24 * 60 * 60 * 1000

const swift = await findSwiftServer()
if ('problem' in swift) it.skip(`assets in OpenStack Swift (${swift.problem})`, () => undefined)
const opens: [string, () => Promise<S3Server>][] = [['S3', openS3Server]]
if (!('problem' in swift)) opens.push(['OpenStack Swift', async () => swift])

describe.each(opens)('assets in %s', (_name, openServer) => {
  let server: S3Server
  let bucket: TestBucket
  let files: AssetFiles
  let buckets = 0
  let names = 0

  const open = (later = 0, name = bucket.name) =>
    openAssetBucket({
      address: parseBucketUrl(`s3://${name}/in/here?endpoint=${server.endpoint}`),
      newName: () => `part-${names++}`,
      clock: () => Date.now() + later,
    })

  beforeAll(async () => {
    server = await openServer()
  })
  afterAll(() => server?.close())
  beforeEach(async () => {
    stubCredentials(server)
    bucket = await openBucket(server, `bucket-${++buckets}`)
    files = await open()
  })
  afterEach(() => {
    files.close()
    bucket.close()
    vi.unstubAllEnvs()
  })

  /** Everything in the bucket, and uploads that are not finished. */
  async function stored(): Promise<{ objects: string[]; unfinished: number }> {
    return { objects: await bucket.keys(), unfinished: await bucket.unfinished() }
  }

  async function refusal(work: Promise<unknown>): Promise<QuoinError> {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    if (!(error instanceof QuoinError)) throw new Error('It was not refused.')
    return error
  }

  it('does not open a bucket that is not there, or with a wrong secret, and tells no secret', async () => {
    const missing = await refusal(open(0, 'no-such-bucket'))
    expect([missing.code, missing.message]).toEqual([
      'UNAVAILABLE',
      'The bucket no-such-bucket of the assets cannot be used now (NoSuchBucket).',
    ])
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'another secret')
    const wrong = await refusal(open())
    expect([wrong.code, wrong.message]).toEqual([
      'UNAVAILABLE',
      `The bucket ${bucket.name} of the assets cannot be used now (SignatureDoesNotMatch).`,
    ])
    expect(wrong.cause).toBeInstanceOf(Error)
    const reported = JSON.stringify([wrong, wrong.cause, String(wrong.cause)])
    for (const secret of ['another secret', server.secretAccessKey, server.accessKeyId])
      expect(reported).not.toContain(secret)
  })

  it('empties a folder with what is not finished in it, and nothing beside it', async () => {
    const addressed = (path: string) =>
      parseBucketUrl(`s3://${bucket.name}${path}?endpoint=${server.endpoint}`)
    const other = await openAssetBucket({
      ...{ address: addressed('/in/here/spaces/a'), newName: () => `part-${names++}`, clock: Date.now },
    })
    const place = await files.keep(await files.receive(source('hello')))
    await other.keep(await other.receive(source('hello')))
    other.close()
    await expect(emptyBucket(addressed(''))).rejects.toThrow('never emptied')
    expect((await stored()).objects).toHaveLength(4)
    await emptyBucket(addressed('/in/here/spaces/a'))
    expect((await stored()).objects.filter((key) => !key.includes('incoming'))).toEqual([`in/here/${place}`])
    expect((await stored()).objects.join()).not.toContain('spaces')
  })

  it('keeps a file, and reads all or a part of it', async () => {
    const received = await files.receive(source('hello', ' world'))
    expect(received).toMatchObject({
      size: 11,
      sha256: hashOf('hello world'),
      head: Buffer.from('hello world'),
    })
    expect((await stored()).objects).toEqual([`in/here/incoming/${received.waiting}`])
    const place = await files.keep(received)
    expect(await files.keep(received)).toBe(place)
    await files.discard(received)
    expect(await stored()).toEqual({ objects: [`in/here/${place}`], unfinished: 0 })
    expect(place).toContain(hashOf('hello world'))
    expect((await buffer(files.read(place))).toString()).toBe('hello world')
    expect((await buffer(files.read(place, { start: 6, end: 8 }))).toString()).toBe('wor')
    await files.delete(place)
    await files.delete(place)
    expect(await stored()).toEqual({ objects: [], unfinished: 0 })
    expect((await refusal(buffer(files.read(place)))).code).toBe('UNAVAILABLE')
  })

  it('gives the same content a place of its own each time, so that deleting one leaves the other', async () => {
    const places: string[] = []
    for (let turn = 0; turn < 2; turn++) {
      const received = await files.receive(source('same'))
      places.push(await files.keep(received))
      await files.discard(received)
    }
    const [first = '', second = ''] = places
    expect(first).not.toBe(second)
    await files.delete(first)
    expect((await buffer(files.read(second))).toString()).toBe('same')
  })

  it('takes an empty file, and a large one in parts', async () => {
    const empty = await files.receive(source())
    expect(empty).toMatchObject({ size: 0, sha256: hashOf('') })
    const nothing = await files.keep(empty)
    await files.discard(empty)
    expect(await buffer(files.read(nothing))).toHaveLength(0)

    const content = Buffer.alloc(12 * MIB + 5, 'quoin ')
    const large = await files.receive(inChunks(content))
    expect([large.size, large.sha256, large.head.length]).toEqual([content.length, hashOf(content), 4_100])
    const place = await files.keep(large)
    await files.discard(large)
    expect((await stored()).objects.filter((key) => key.includes('incoming'))).toEqual([])
    expect(hashOf(await buffer(files.read(place)))).toBe(large.sha256)
    const across = { start: 5 * MIB - 3, end: 5 * MIB + 3 }
    expect(await buffer(files.read(place, across))).toEqual(content.subarray(across.start, across.end + 1))
  })

  it.each([1, 11 * MIB])('leaves nothing of a stream that fails after %i bytes', async (length) => {
    async function* broken() {
      yield* inChunks(Buffer.alloc(length))
      throw new Error('cut')
    }
    await expect(files.receive(broken())).rejects.toThrow('cut')
    expect(await stored()).toEqual({ objects: [], unfinished: 0 })
  })

  it('stops reading when its reader goes away', async () => {
    const received = await files.receive(inChunks(Buffer.alloc(8 * MIB)))
    const place = await files.keep(received)
    const stream = files.read(place)
    await once(stream, 'readable')
    stream.destroy()
    await once(stream, 'close')
    // The connection is free again: with 50 of them at most, 60 readers who leave would otherwise block this.
    for (let reader = 0; reader < 60; reader++) {
      const left = files.read(place)
      await once(left, 'readable')
      left.destroy()
    }
    expect((await buffer(files.read(place, { start: 0, end: 9 }))).length).toBe(10)
  })

  it('clears a day later what was being received when a node died, and nothing else', async () => {
    const received = await files.receive(source('kept'))
    const place = await files.keep(received)
    const Key = 'in/here/incoming/dead'
    const { UploadId } = await bucket.client.send(
      new CreateMultipartUploadCommand({ Bucket: bucket.name, Key }),
    )
    const part = { Bucket: bucket.name, Key, UploadId, PartNumber: 1, Body: Buffer.alloc(5 * MIB) }
    await bucket.client.send(new UploadPartCommand(part))
    const before = { objects: [`in/here/${place}`, `in/here/incoming/${received.waiting}`], unfinished: 1 }
    expect(await stored()).toEqual(before)
    const other = await open(DAY - 60_000)
    other.close()
    expect(await stored()).toEqual(before)
    const later = await open(DAY + 60_000)
    later.close()
    expect(await stored()).toEqual({ objects: [`in/here/${place}`], unfinished: 0 })
  })

  it('takes nothing but a place that it gave', async () => {
    for (const place of ['', '../secret', hashOf('x'), `ab/${hashOf('x')}`, `ab/${hashOf('x')}./..`]) {
      expect(() => files.read(place)).toThrow(TypeError)
      await expect(files.delete(place)).rejects.toThrow(TypeError)
    }
  })
})

// The other readers have bytes already; without them nothing but the request itself can be ended.
it('ends the request of a reader that goes away before the bucket answers', async () => {
  const asked: IncomingMessage[] = []
  const silent = await startLocalServer((request, response) => {
    if (request.url?.includes('list-type') || request.url?.includes('uploads'))
      return response.end(EMPTY_LIST)
    return void asked.push(request)
  })
  stubCredentials({ endpoint: silent.url, accessKeyId: 'key', secretAccessKey: 'secret' })
  const files = await openAssetBucket({
    address: parseBucketUrl(`s3://bucket?endpoint=${silent.url}`),
    newName: () => 'name',
    clock: Date.now,
  })
  try {
    const stream = files.read(`ab/${hashOf('x')}.name`)
    stream.resume()
    await expect.poll(() => asked.length, { timeout: 60_000 }).toBe(1)
    expect(asked[0]?.socket.destroyed).toBe(false)
    stream.destroy()
    await expect.poll(() => asked[0]?.socket.destroyed, { timeout: 20_000 }).toBe(true)
    expect(asked.length).toBe(1)
  } finally {
    files.close()
    await silent.close()
    vi.unstubAllEnvs()
  }
})

/** Fits the list of objects and that of unfinished uploads. */
const EMPTY_LIST = '<?xml version="1.0"?><List><IsTruncated>false</IsTruncated></List>'
const source = (...chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
const hashOf = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')

async function* inChunks(content: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += 65_536) yield content.subarray(at, at + 65_536)
}
