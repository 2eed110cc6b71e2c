/** Where a file lies in a bucket, and that all of them get there, over the S3 protocol. */

import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { stubCredentials } from '../../../test/asset-place.ts'
import { type CopyFixture, openCopyFixture, openNode } from '../../../test/copy-fixture.ts'
import { openBucket, openS3Server, type S3Server, type TestBucket } from '../../../test/s3-server.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../test/temporary-database.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { openAssetBucket } from '../assets/asset-bucket.ts'
import type { AssetFiles } from '../assets/asset-files.ts'
import { parseBucketUrl } from '../assets/bucket-url.ts'
import { documentOf } from '../database.ts'
import { guidOf, objectsIn, textIn } from '../document-fields.ts'
import { systemStorages } from '../system-storages.ts'
import { transact } from '../transact.ts'
import { assetOf, placedInBucket } from './copy-assets.ts'
import type { Bucket } from './copy-to-postgres.ts'

const guid = '0190000a-0000-7000-8000-000000000001'
const meta = `{"_meta":{"guid":"${guid}","removed":0}`
const hash = 'ab'.repeat(32)

test.each([
  { what: 'no hash', fields: ',"name":"a","file":"x"}', placed: undefined },
  { what: 'a hash that is none', fields: `,"sha256":"${hash}0","file":"x"}`, placed: undefined },
  { what: 'a file in a bucket', fields: `,"sha256":"${hash}","file":"ab/${hash}.name"}`, placed: undefined },
  {
    what: 'a file on disk',
    fields: `,"1e2":1.5,"sha256":"${hash}","file":"${hash}","z":"é"}`,
    placed: `,"1e2":1.5,"sha256":"${hash}","file":"ab/${hash}.${guid}","z":"é"}`,
  },
  {
    what: 'a file from before there was a place',
    fields: `,"sha256":"${hash}"}`,
    placed: `,"sha256":"${hash}","file":"ab/${hash}.${guid}"}`,
  },
])('a record with $what', ({ fields, placed = fields }) => {
  expect(placedInBucket(meta + fields)).toBe(meta + placed)
  // Nothing is left to be done, so a second copy makes the same of it.
  expect(placedInBucket(meta + placed)).toBe(meta + placed)
})

describe('files to S3', () => {
  const contents = ['one', 'the same', 'the same', '', 'x'.repeat(6 * 1024 * 1024)]
  let server: S3Server
  let objects: TestBucket
  let fixture: CopyFixture
  let temporary: TemporaryDatabase
  let files: AssetFiles
  let bucket: Bucket
  let name = ''
  let buckets = 0

  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const folderOf = (hash: string) => join(fixture.directory, 'assets', hash.slice(0, 2), hash.slice(2, 4))
  const keys = async () => (await objects.keys()).sort()

  beforeAll(async () => {
    server = await openS3Server()
  })
  afterAll(() => server?.close())
  beforeEach(async () => {
    stubCredentials(server)
    name = `copied-${++buckets}`
    objects = await openBucket(server, name)
    let next = ''
    files = await openAssetBucket({
      address: parseBucketUrl(`s3://${name}?endpoint=${server.endpoint}`),
      newName: () => next,
      clock: Date.now,
    })
    bucket = {
      files,
      nameNext: (input) => {
        next = input
      },
    }
    temporary = await openTemporaryDatabase()
    fixture = await openCopyFixture()
    await fixture.fill(async (database) => {
      await database.ensure(systemStorages.assets)
      for (const [n, content] of contents.entries()) {
        const hash = sha256(content)
        await mkdir(folderOf(hash), { recursive: true })
        await writeFile(join(folderOf(hash), hash), content)
        const fields = { name: `${n}.txt`, size: content.length, sha256: hash, file: hash }
        await transact(database, (session) => session.create(systemStorages.assets, setFields(fields)))
      }
    })
  })
  afterEach(async () => {
    files.close()
    objects.close()
    vi.unstubAllEnvs()
    await temporary.drop()
    await fixture.close()
  })

  test('one that is missing on disk is named, and the copy is not finished; then it goes on', async () => {
    const hash = sha256('one')
    await rm(join(folderOf(hash), hash))
    await expect(fixture.copy(temporary.url, bucket)).rejects.toMatchObject({
      message: expect.stringMatching(/^The file of the asset 0\.txt \(.*\) is missing in .*assets\.$/),
    })
    await expect(openNode(temporary.url)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await writeFile(join(folderOf(hash), hash), 'two')
    await expect(fixture.copy(temporary.url, bucket)).rejects.toThrow(/0\.txt .* its checksum is another/)
    await writeFile(join(folderOf(hash), hash), 'one')
    expect((await fixture.copy(temporary.url, bucket)).isFinished).toBe(true)
    expect(await keys()).toHaveLength(contents.length)
  })

  test('each asset has a file of its own there, at the place that its record names', async () => {
    const report = await fixture.copy(temporary.url, bucket)
    expect(report).toMatchObject({ isFinished: true, assets: { files: contents.length, inBucket: 0 } })
    const node = await openNode(temporary.url)
    const sort = [{ field: 'name', order: 'asc', missing: 'last' } as const]
    const page = await node.session().find(systemStorages.assets, search({ sort, limit: 10 }))
    const records = objectsIn(page.documents.value)
    for (const [n, record] of records.entries())
      expect((await buffer(files.read(textIn(record.file)))).equals(Buffer.from(contents[n] ?? ''))).toBe(
        true,
      )
    expect(await keys()).toEqual(records.map(({ file }) => textIn(file)).sort())
    await node.close()
  })

  test('one that is there with another size is uploaded again, one that is right is not', async () => {
    const source = await fixture.source()
    const docs = source.connection.all('SELECT doc FROM doc_1').map(({ doc }) => String(doc))
    source.close()
    const [right, wrong, longer] = docs.map((doc) => assetOf(doc)?.place ?? '')
    const put = (Key: string | undefined, Body: string) =>
      objects.client.send(new PutObjectCommand({ Bucket: name, Key, Body }))
    // The same length as the original, so that a comparison of sizes finds no difference.
    await put(right, 'eno')
    await put(wrong, 'the')
    await put(longer, 'the same and more')
    expect((await fixture.copy(temporary.url, bucket)).isFinished).toBe(true)
    const texts = [right, wrong, longer].map(async (place) => String(await buffer(files.read(place ?? ''))))
    expect(await Promise.all(texts)).toEqual(['eno', 'the same', 'the same'])
  })

  test('without a bucket the records say what they said, and the files are counted', async () => {
    const report = await fixture.copy(temporary.url)
    expect(report).toMatchObject({ isFinished: true, assets: { files: contents.length, inBucket: 0 } })
    expect(report.assets.bytes).toBe(contents.join('').length)
    const node = await openNode(temporary.url)
    const page = await node.session().find(systemStorages.assets, search({ limit: 10 }))
    for (const record of objectsIn(page.documents.value)) expect(record.file).toBe(record.sha256)
    await node.close()
  })

  test('records whose files are in a bucket already keep their places, and the files are looked for', async () => {
    const place = `${hash.slice(0, 2)}/${hash}.elsewhere`
    let there = ''
    await fixture.fill(async (database) => {
      const fields = { name: 'far.txt', size: 3, sha256: hash, file: place }
      const made = await transact(database, (session) =>
        session.create(systemStorages.assets, setFields(fields)),
      )
      there = guidOf(documentOf(made))
    })
    await expect(fixture.copy(temporary.url, bucket)).rejects.toThrow(/far\.txt .* is not in the bucket/)
    await objects.client.send(new PutObjectCommand({ Bucket: name, Key: place, Body: 'far' }))
    const report = await fixture.copy(temporary.url, bucket)
    expect(report).toMatchObject({ isFinished: true, assets: { files: contents.length, inBucket: 1 } })
    const node = await openNode(temporary.url)
    expect((await node.session().get(systemStorages.assets, there))?.value).toMatchObject({ file: place })
    await node.close()
  })
})
