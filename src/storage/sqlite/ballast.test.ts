import { execFileSync } from 'node:child_process'
import { access, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { testClock } from '../../../test/temporary-storage.ts'
import { matchAll, search } from '../../shared/query.ts'
import { create, failure, set } from '../conformance/expectations.ts'
import { documentOf } from '../storage.ts'
import { transact } from '../transact.ts'
import { Ballast } from './ballast.ts'
import { openGround } from './sqlite-ground.ts'
import { SqliteStorage } from './sqlite-storage.ts'

const MIB = 1024 * 1024
const random = (bytes: Uint8Array<ArrayBuffer>) => void crypto.getRandomValues(bytes)

const disk = (command: 'mount' | 'umount', ...rest: string[]) =>
  execFileSync(command, rest, { stdio: 'ignore' })

let directory: string
let path: string
let mounted = false

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  path = join(directory, 'ballast')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})

afterEach(async () => {
  vi.useRealTimers()
  if (mounted) disk('umount', directory)
  mounted = false
  await rm(directory, { recursive: true })
})

const isThere = () =>
  access(path).then(
    () => true,
    () => false,
  )

test('is made in its whole size for its owner only, given away at once, and made anew when its time has come', async () => {
  const ballast = new Ballast({ path, bytes: MIB + 1, random })
  await ballast.fill()
  const { size, mode } = await stat(path)
  expect([size, (mode & 0o777).toString(8), ballast.full]).toEqual([MIB + 1, '600', false])
  ballast.giveAway()
  expect([ballast.full, await readdir(directory)]).toEqual([true, []])
  vi.advanceTimersByTime(10_000)
  await ballast.fill()
  expect([ballast.full, await readdir(directory)]).toEqual([false, ['ballast']])
  await ballast.close()
  expect(await isThere()).toBe(true)
})

test('given away while it is being made, it is gone, and the disk counts as full', async () => {
  const ballast = new Ballast({ path, bytes: 8 * MIB, random })
  const filled = ballast.fill()
  await vi.waitUntil(async () => (await readdir(directory)).length > 0)
  ballast.giveAway()
  expect([ballast.full, await readdir(directory)]).toEqual([true, []])
  await ballast.close()
  await filled
  expect((await readdir(directory)).filter((name) => name.endsWith('.part'))).toEqual([])
})

test('is not made where there is no room for it, and leaves nothing', async () => {
  const ballast = new Ballast({ path, bytes: 2 ** 60, random })
  await ballast.fill()
  ballast.giveAway()
  await ballast.fill()
  expect([ballast.full, await readdir(directory)]).toEqual([true, []])
  await ballast.close()
})

async function open() {
  const clock = testClock()
  const ground = await openGround({ directory, clock, random, entity: 1, ballastBytes: 3 * MIB })
  await vi.waitUntil(isThere)
  return { ground, storage: new SqliteStorage(ground) }
}

async function guids(storage: SqliteStorage): Promise<string[]> {
  const found = await storage.session().find('things', search({ limit: 1000 }))
  const documents = Array.isArray(found.documents.value) ? found.documents.value : []
  return documents.map((document) => String(Object(Object(document)._meta).guid))
}

const remove = (storage: SqliteStorage, guid: string) =>
  transact(storage, (session) => session.delete('things', guid))
const big = set({ text: 'x'.repeat(50_000) })
const addBig = (storage: SqliteStorage) =>
  transact(storage, (session) => session.create('things', big)).then(documentOf)

test('a write that finds no room: the ballast goes, the database may not grow until it is there again', async () => {
  const { ground, storage } = await open()
  await storage.ensure('things')
  for (let count = 0; count < 5; count++) await addBig(storage)
  const pragma = (name: string) =>
    Number(Object.values(ground.writer.connection.get(`PRAGMA ${name}`) ?? {})[0])
  const pages = pragma('page_count')
  ground.writer.connection.exec(`PRAGMA max_page_count = ${pages + 5}`)
  await failure('STORAGE_FULL', () => addBig(storage))
  expect(await isThere()).toBe(false)
  const [first = ''] = await guids(storage)
  await remove(storage, first)
  expect([pragma('max_page_count'), await storage.session().count('things', matchAll)]).toEqual([pages, 4])
  // Into the pages that are free now.
  await addBig(storage)
  await failure('STORAGE_FULL', () => addBig(storage))
  vi.advanceTimersByTime(10_000)
  await vi.waitUntil(isThere)
  await vi.waitFor(() => addBig(storage))
  expect(pragma('page_count')).toBeGreaterThan(pages)
  await storage.close()
})

test('on a disk that is really full, documents can be deleted, and stored again when there is room', async ({
  skip,
}) => {
  try {
    disk('mount', '-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', directory)
    mounted = true
  } catch {
    skip('A small disk of its own can be mounted here only by root.')
  }
  // Somebody else's file, so that there is room to be had later.
  await writeFile(join(directory, 'else'), Buffer.alloc(6 * MIB))
  const { storage } = await open()
  await storage.ensure('things')
  await failure('STORAGE_FULL', async () => {
    for (let count = 0; count < 1_000; count++) await addBig(storage)
  })
  expect(await isThere()).toBe(false)
  await failure('STORAGE_FULL', () =>
    transact(storage, async (session) => {
      for (let count = 0; count < 20; count++) await session.create('things', big)
    }),
  )
  const all = await guids(storage)
  expect(all.length).toBeGreaterThan(20)
  for (const guid of all) await remove(storage, guid)
  expect(await guids(storage)).toEqual([])
  await addBig(storage)
  await rm(join(directory, 'else'))
  vi.advanceTimersByTime(10_000)
  await vi.waitUntil(isThere)
  await create(storage, 'things', { small: 1 })
  await storage.close()
})
