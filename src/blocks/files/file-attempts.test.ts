/** Attempts of the blocks for files, with a bucket that fails: as many requests as the pin says. */
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { stubCredentials } from '../../../test/asset-place.ts'
import { type FileFixture, openFileFixture } from '../../../test/file-fixture.ts'
import { type FailingS3Server, openBucket, openS3Server, type TestBucket } from '../../../test/s3-server.ts'
import { notesBefore } from '../../records/assets/asset-notes.ts'
import { openAssetBucket } from '../../storage/assets/asset-bucket.ts'
import { parseBucketUrl } from '../../storage/assets/bucket-url.ts'
import convertImage from './convert_image.ts'
import deleteFile from './delete_file.ts'
import eachRow from './each_row.ts'
import readFile from './read_file.ts'
import writeFile from './write_file.ts'
import writeRows from './write_rows.ts'

const rows = Array.from({ length: 500 }, (_, n) => ({ n: String(n) }))

let server: FailingS3Server
let bucket: TestBucket
let fixture: FileFixture
let buckets = 0
let names = 0

beforeAll(async () => {
  server = await openS3Server()
})
afterAll(() => server.close())
beforeEach(async () => {
  stubCredentials(server)
  bucket = await openBucket(server, `files-${++buckets}`)
  const address = parseBucketUrl(bucket.url)
  fixture = await openFileFixture(() =>
    openAssetBucket({ address, newName: () => `part-${++names}`, clock: Date.now }),
  )
})
afterEach(async () => {
  server.failNext(0)
  await fixture.close()
  bucket.close()
  vi.unstubAllEnvs()
})

const again = { attempts: 2, back_off: '1ms' }
const now = Date.now
/** Names of the records, and how many objects there are. */
const stored = async () => [(await fixture.records()).map(({ name }) => name), (await bucket.keys()).length]

test('a file is read again', async () => {
  await fixture.put('a.txt', 'Grüße')
  server.failNext(1)
  const { outputs } = await fixture.run(readFile, { inputs: { file: 'a.txt', ...again }, now })
  expect(outputs.text).toBe('Grüße')
  server.breakNext(1)
  expect((await fixture.run(readFile, { inputs: { file: 'a.txt', ...again }, now })).outputs.text).toBe(
    'Grüße',
  )
})

test('without the pin a block does not try again', async () => {
  await fixture.put('a.txt', 'Grüße')
  server.failNext(1)
  await expect(fixture.run(readFile, { inputs: { file: 'a.txt' }, now })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  })
  server.failNext(1)
  const written = fixture.run(writeFile, { inputs: { name: 'b.txt', content: 'x' }, now })
  await expect(written).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  server.failNext(0)
  expect((await stored())[0]).toEqual(['a.txt'])
})

test('a file is written again, and stored once', async () => {
  await fixture.put('b.txt', 'former')
  server.failNext(1)
  const inputs = { name: 'b.txt', content: 'x', replace: true, ...again }
  const { outputs } = await fixture.run(writeFile, { inputs, now })
  expect(outputs.file).toMatchObject({ name: 'b.txt', size: 1 })
  expect([await stored(), String(await fixture.content('b.txt'))]).toEqual([[['b.txt'], 1], 'x'])
})

test('a public file that cannot be stored leaves the former one, which one that can replaces', async () => {
  await fixture.put('b.txt', 'former', 'public/b')
  const inputs = { name: 'b.txt', directory: 'public/b', content: 'x', replace: true }
  server.failNext(1)
  await expect(fixture.run(writeFile, { inputs, now })).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect([await stored(), String(await fixture.content('b.txt'))]).toEqual([[['b.txt'], 1], 'former'])
  await fixture.run(writeFile, { inputs, now })
  expect([await stored(), String(await fixture.content('b.txt'))]).toEqual([[['b.txt'], 1], 'x'])
})

test('a table is written again from its first row', async () => {
  server.failNext(1)
  const inputs = { name: 'rows.csv', list: rows, ...again }
  const { outputs } = await fixture.run(writeRows, { inputs, now })
  expect(outputs.count).toBe(500)
  expect(
    String(await fixture.content('rows.csv'))
      .trim()
      .split('\r\n'),
  ).toHaveLength(501)
  expect(await stored()).toEqual([['rows.csv'], 1])
})

test.each(['csv', 'xlsx'])('rows of %s that break off go on where they were, each once', async (end) => {
  await fixture.run(writeRows, { inputs: { name: `rows.${end}`, list: rows } })
  server.breakNext(2)
  const input = { inputs: { file: `rows.${end}`, ...again, attempts: 3 }, now }
  const { passes, outputs } = await fixture.run(eachRow, input)
  expect(passes.map(({ item }) => item)).toEqual(rows)
  expect(outputs.count).toBe(500)
})

test('rows that break off more often than there are attempts fail, and the file is not blamed', async () => {
  await fixture.run(writeRows, { inputs: { name: 'rows.xlsx', list: rows } })
  server.failNext(2)
  const failed = fixture.run(eachRow, { inputs: { file: 'rows.xlsx', ...again }, now })
  await expect(failed).rejects.toMatchObject({ code: 'UNAVAILABLE' })
})

test('an image is read and stored again', async () => {
  const image = sharp({ create: { width: 40, height: 20, channels: 3, background: '#ff0000' } })
  await fixture.put('a.png', await image.png().toBuffer())
  server.failNext(1)
  const inputs = { file: 'a.png', width: 10, name: 'b.png', ...again }
  expect((await fixture.run(convertImage, { inputs, now })).outputs.file).toMatchObject({ name: 'b.png' })
})

test('attempts are not multiplied: two failures are too many for two attempts, and enough for three', async () => {
  await fixture.put('a.txt', 'Grüße')
  const read = (attempts: number) =>
    fixture.run(readFile, { inputs: { file: 'a.txt', ...again, attempts }, now })
  server.failNext(2)
  await expect(read(2)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  server.failNext(2)
  expect((await read(3)).outputs.text).toBe('Grüße')
})

test('a file is deleted while the bucket fails: its record goes, and the sweep of each hour deletes the bytes', async () => {
  await fixture.put('a.txt', 'Grüße')
  server.failNext(9)
  const { outputs } = await fixture.run(deleteFile, { inputs: { file: 'a.txt' }, now })
  expect(outputs.file).toMatchObject({ name: 'a.txt' })
  expect(await fixture.records()).toEqual([])
  server.failNext(0)
  const [note, ...others] = await notesBefore(fixture.database, 9e9)
  expect([others, (await bucket.keys()).length]).toEqual([[], 1])
  expect(await bucket.keys()).toEqual([note?.place])
})

test('attempts to read count for the whole file, whatever has come in between', async () => {
  await fixture.run(writeRows, { inputs: { name: 'rows.csv', list: rows } })
  server.breakNext(2)
  const read = fixture.run(eachRow, { inputs: { file: 'rows.csv', ...again }, now })
  await expect(read).rejects.toMatchObject({ code: 'UNAVAILABLE' })
})

test.each([
  ['a name that cannot be', { name: 'a/b' }, 'INVALID_BODY'],
  ['a public path that is taken', { name: 'a.txt', directory: 'public' }, 'CONFLICT'],
])('%s is not tried again', async (_what, place, code) => {
  await fixture.put('a.txt', 'former', 'public')
  // A further attempt would stop here with the run.
  const signal = AbortSignal.abort(new Error('tried again'))
  const wrong = fixture.run(writeFile, { inputs: { ...place, content: 'x', ...again }, now, signal })
  await expect(wrong).rejects.toMatchObject({ code })
  expect(await stored()).toEqual([['a.txt'], 1])
})
