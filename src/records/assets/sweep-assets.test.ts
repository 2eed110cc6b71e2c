import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { stubCredentials } from '../../../test/asset-place.ts'
import { openBucket, openS3Server, type S3Server, type TestBucket } from '../../../test/s3-server.ts'
import { openTestDatabase, type TestDatabase, withoutRules } from '../../../test/test-database.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { openAssetBucket } from '../../storage/assets/asset-bucket.ts'
import { type AssetFiles, openAssetFiles } from '../../storage/assets/asset-files.ts'
import { parseBucketUrl } from '../../storage/assets/bucket-url.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { openRecords } from '../records.ts'
import { noteFile, notesBefore } from './asset-notes.ts'
import { type Assets, openAssets } from './assets.ts'
import { type AssetSweep, openAssetSweep } from './sweep-assets.ts'
import { TemporaryUploads } from './temporary-uploads.ts'

const DAY = 86_400_000
const by = { guid: 'g', username: 'ada' }
const input = { name: 'a.txt', directory: 'private', type: 'text/plain' }

let temporary: TestDatabase
let files: AssetFiles
let assets: Assets
let sweeps: AssetSweep[]
let logged: string[]
/** While it is set the files cannot be deleted. */
let unreachable: boolean

async function begin(store: AssetFiles): Promise<void> {
  files = {
    ...store,
    delete: (place) => (unreachable ? Promise.reject(new Error('no bucket')) : store.delete(place)),
  }
  assets = await openAssets(await openRecords(withoutRules(temporary.database), temporary.clock), files)
}

beforeEach(async () => {
  temporary = await openTestDatabase()
  sweeps = []
  logged = []
  unreachable = false
})
afterEach(async () => {
  for (const sweep of sweeps) await sweep.close()
  files.close()
  await temporary.close()
})

function open(source: Pick<Assets, 'settle'> = assets): AssetSweep {
  const log = { write: ({ message }: { readonly message: string }) => void logged.push(message) }
  const sweep = openAssetSweep({ database: temporary.database, assets: source, clock: temporary.clock, log })
  sweeps.push(sweep)
  return sweep
}

const receive = (content: string) => files.receive(Readable.from([Buffer.from(content)]))
const upload = async (content: string) => assets.create(await receive(content), input, by)

/** What a node leaves that dies before the record: the note, and the file. */
async function interruptedUpload(content: string): Promise<string> {
  const file = await receive(content)
  await transact(temporary.database, (session) => noteFile(session, files.placeOf(file)))
  const place = await files.keep(file)
  await files.discard(file)
  return place
}

/** What a deletion leaves while the files cannot be reached. Gives the place. */
async function interruptedDeletion(content: string): Promise<string> {
  const record = await upload(content)
  unreachable = true
  await assets.remove(guidOf(record), by)
  unreachable = false
  await expect(assets.get(guidOf(record))).rejects.toMatchObject({ code: 'NOT_FOUND' })
  return textIn(record.file)
}

const isThere = (place: string) =>
  buffer(files.read(place)).then(
    () => true,
    () => false,
  )
const notes = async () => (await notesBefore(temporary.database, 9e9)).length

/** For both stores. */
function both(): void {
  test('what was interrupted goes a day later, what an asset has stays', async () => {
    const kept = textIn((await upload('kept')).file)
    const gone = [await interruptedUpload('left by an upload'), await interruptedDeletion('by a deletion')]
    expect(await notes()).toBe(2)
    temporary.clock.now += DAY - 1_000
    expect(await open().run()).toBe(0)
    expect(await Promise.all(gone.map(isThere))).toEqual([true, true])
    temporary.clock.now += 2_000
    const young = await interruptedUpload('a moment ago')
    await open().run()
    expect(await Promise.all(gone.map(isThere))).toEqual([false, false])
    expect(await Promise.all([kept, young].map(isThere))).toEqual([true, true])
    expect(logged).toEqual(['2 abandoned asset files deleted.'])
    expect(await notes()).toBe(1)
  })

  test('an upload and a deletion that come to their end leave no note and no file', async () => {
    const record = await upload('whole')
    expect(await notes()).toBe(0)
    await assets.remove(guidOf(record), by)
    expect(await notes()).toBe(0)
    expect(await isThere(textIn(record.file))).toBe(false)
    const refused = { ...input, directory: 'public' }
    const first = await assets.create(await receive('first'), refused, by)
    await expect(assets.create(await receive('second'), refused, by)).rejects.toMatchObject({
      code: 'CONFLICT',
    })
    expect([await notes(), await isThere(textIn(first.file))]).toEqual([0, true])
  })

  test('an upload of a request that never ended goes a day later; one that its run committed with stays', async () => {
    const held = async (content: string) => {
      const record = await assets.create(await receive(content), { ...input, held: true }, by)
      const uploads = new TemporaryUploads(temporary.database)
      uploads.add([guidOf(record)])
      return { record, uploads }
    }
    const isKept = async ({ record }: { record: JsonObject }) => [
      await assets.get(guidOf(record)).then(Boolean, () => false),
      await isThere(textIn(record.file)),
    ]
    const [killed, undone, idle, refused, taken, ended] = await Promise.all(
      ['killed', 'undone', 'idle', 'refused', 'taken', 'ended'].map(held),
    )
    if (!killed || !undone || !idle || !refused || !taken || !ended) throw new Error('never')
    const write = async ({ uploads }: typeof killed) => {
      const session = uploads.around(temporary.database.session())
      await session.create(systemStorages.assetImages, setFields({ of: 'the run' }))
      return session
    }
    await (await write(undone)).transaction.rollback()
    await idle.uploads.around(temporary.database.session()).transaction.commit()
    refused.uploads.isRefused = true
    await (await write(refused)).transaction.commit()
    await (await write(taken)).transaction.commit()
    await ended.uploads.end()
    expect(await notes()).toBe(4)
    temporary.clock.now += DAY - 1_000
    expect(await open().run()).toBe(0)
    temporary.clock.now += 2_000
    const young = await held('young')
    await open().run()
    for (const one of [killed, undone, idle, refused]) expect(await isKept(one)).toEqual([false, false])
    for (const one of [taken, ended, young]) expect(await isKept(one)).toEqual([true, true])
    expect([await notes(), logged]).toEqual([1, ['4 abandoned asset files deleted.']])
  })

  test('a held upload that is deleted, or that a document has, leaves no note', async () => {
    const record = await assets.create(await receive('deleted'), { ...input, held: true }, by)
    await assets.remove(guidOf(record), by)
    expect(await notes()).toBe(0)
    const documents = await assets.create(await receive('in a document'), { ...input, held: true }, by)
    await transact(temporary.database, (session) =>
      session.update(systemStorages.assets, guidOf(documents), setFields({ documents: ['one'] })),
    )
    temporary.clock.now += 2 * DAY
    await open().run()
    expect([await notes(), await isThere(textIn(documents.file))]).toEqual([0, true])
  })
}

describe('on disk', () => {
  beforeEach(async () => begin(await openAssetFiles(join(temporary.directory, 'assets'), randomUUID)))
  both()

  test('a file that an asset has by now stays, whatever was noted', async () => {
    // The same content is one file here: uploaded again after the deletion that could not be ended.
    const place = await interruptedDeletion('same')
    await upload('same')
    temporary.clock.now += 2 * DAY
    await open().run()
    expect([await isThere(place), await notes()]).toEqual([true, 0])
  })

  test('files without a note are not deleted', async () => {
    const file = await receive('of another database')
    const place = await files.keep(file)
    temporary.clock.now += 2 * DAY
    expect(await open().run()).toBe(0)
    expect([await isThere(place), logged]).toEqual([true, []])
  })

  test('a place in the store that was there before is forgotten', async () => {
    await transact(temporary.database, (session) => noteFile(session, `ab/${'0'.repeat(64)}.bucket`))
    temporary.clock.now += 2 * DAY
    await open().run()
    expect(await notes()).toBe(0)
  })

  test('what goes wrong is in the log, and a later sweep does it', async () => {
    const place = await interruptedUpload('left')
    temporary.clock.now += 2 * DAY
    unreachable = true
    const sweep = open()
    expect(await sweep.run()).toBe(0)
    unreachable = false
    expect(await sweep.run()).toBe(1)
    const failed = 'Abandoned asset files could not be deleted: no bucket'
    // The first was the one of the start.
    expect(logged).toEqual([failed, failed, '1 abandoned asset file deleted.'])
    expect(await isThere(place)).toBe(false)
  })

  test('of several sweeps one works at a time, and each file is deleted once', async () => {
    for (let n = 0; n < 5; n++) await interruptedUpload(`left ${n}`)
    temporary.clock.now += 2 * DAY
    let busy = 0
    const settled: string[] = []
    const watched = {
      async settle(note: Parameters<Assets['settle']>[0]) {
        busy += 1
        expect(busy).toBe(1)
        await assets.settle(note)
        settled.push(note.guid)
        busy -= 1
      },
    }
    await Promise.all([open(watched), open(watched), open(watched)].map((sweep) => sweep.run()))
    expect([settled.length, new Set(settled).size, await notes()]).toEqual([5, 5, 0])
  })

  test('closing ends a sweep in the middle', async () => {
    for (const content of ['a', 'b', 'c']) await interruptedUpload(content)
    temporary.clock.now += 2 * DAY
    let closing: Promise<void> | undefined
    const sweep: AssetSweep = open({
      async settle(note) {
        await assets.settle(note)
        closing ??= sweep.close()
      },
    })
    await sweep.run()
    await closing
    expect(await notes()).toBe(2)
  })
})

describe('in S3', () => {
  let server: S3Server
  let bucket: TestBucket
  let buckets = 0

  beforeAll(async () => {
    server = await openS3Server()
  })
  afterAll(() => server?.close())
  beforeEach(async () => {
    stubCredentials(server)
    bucket = await openBucket(server, `sweep-${++buckets}`)
    const address = parseBucketUrl(`s3://${bucket.name}/in/here?endpoint=${server.endpoint}`)
    await begin(await openAssetBucket({ address, newName: randomUUID, clock: Date.now }))
  })
  afterEach(() => {
    bucket.close()
    vi.unstubAllEnvs()
  })
  both()

  test('the same content twice is two objects, and only the one that was left goes', async () => {
    const left = await interruptedUpload('same')
    const kept = textIn((await upload('same')).file)
    temporary.clock.now += 2 * DAY
    await open().run()
    expect(left).not.toBe(kept)
    expect(await bucket.keys()).toEqual([`in/here/${kept}`])
  })
})
