import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { create, failure, set } from '../../../../test/conformance/expectations.ts'
import { testClock } from '../../../../test/test-database.ts'
import { matchAll, search } from '../../../shared/query.ts'
import { documentOf } from '../../database.ts'
import { transact } from '../../transact.ts'
import { Ballast } from './ballast.ts'
import { SqliteDatabase } from './sqlite-database.ts'
import { openSqliteParts } from './sqlite-parts.ts'

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

const size = async () => (await stat(path).catch(() => undefined))?.size
/** Whole: one that was given away is empty. */
const isThere = async () => ((await size()) ?? 0) > 0
const existing = true

test('is made in its whole size for its owner only, given away at once, and made again when its time has come', async () => {
  const ballast = new Ballast({ path, bytes: MIB + 1, random, existing })
  await ballast.fill()
  const { mode } = await stat(path)
  expect([await size(), (mode & 0o777).toString(8), ballast.full]).toEqual([MIB + 1, '600', false])
  ballast.giveAway()
  expect([ballast.full, await readdir(directory), await size()]).toEqual([true, ['ballast'], 0])
  vi.advanceTimersByTime(10_000)
  await ballast.fill()
  expect([ballast.full, await readdir(directory), await size()]).toEqual([false, ['ballast'], MIB + 1])
  await ballast.close()
  expect(await isThere()).toBe(true)
})

test('given away while it is being made, it is gone, and the disk counts as full', async () => {
  const ballast = new Ballast({ path, bytes: 8 * MIB, random, existing })
  const filled = ballast.fill()
  await vi.waitUntil(async () => (await readdir(directory)).length > 0)
  ballast.giveAway()
  expect([ballast.full, (await size()) ?? 0]).toEqual([true, 0])
  await ballast.close()
  await filled
  expect((await size()) ?? 0).toBe(0)
  expect((await readdir(directory)).filter((name) => name.endsWith('.part'))).toEqual([])
})

test('is not made where there is no room for it, and leaves nothing', async () => {
  const ballast = new Ballast({ path, bytes: 2 ** 60, random, existing: false })
  await ballast.fill()
  ballast.giveAway()
  await ballast.fill()
  expect([ballast.full, await readdir(directory)]).toEqual([true, []])
  await ballast.close()
})

test('while the disk is full a delete has room for its records, and so has a session with the reserve; up to its end', async () => {
  const { parts, database } = await open()
  await database.ensure('things')
  await database.ensure('kept')
  const stop = database.observe('things', async (session, change) => {
    if (change.kind === 'deleted') await session.create('kept', big)
  })
  for (let count = 0; count < 5; count++) await addBig(database)
  const pages = () => Number(parts.writer.connection.get('PRAGMA page_count')?.page_count)
  const before = pages()
  parts.writer.connection.exec(`PRAGMA max_page_count = ${before + 2}`)
  await failure('STORAGE_FULL', () => addBig(database))
  const create = (reserve: boolean) =>
    transact(database, (session) => session.create('things', big), reserve ? { reserve } : {})
  await create(true)
  const grown = pages()
  expect(grown).toBeGreaterThan(before)
  await failure('STORAGE_FULL', () => create(false))
  for (const guid of (await guids(database)).slice(0, 3)) await remove(database, guid)
  expect(await database.session().count('kept', matchAll)).toBe(3)
  // 3 MiB / 4 in pages of 4 KiB.
  await failure('STORAGE_FULL', async () => {
    for (let count = 0; count < 100; count++) await create(true)
  })
  expect(pages()).toBeLessThanOrEqual(before + 192)
  stop()
  await database.close()
})

/** Bytes for which no disk has room. */
const TOO_MUCH = 2 ** 60

describe('at a start', () => {
  test.each([
    ['a new database has given nothing away', undefined, TOO_MUCH, false, false],
    ['the file is missing and there is no room for it', undefined, TOO_MUCH, true, true],
    ['the file is missing and there is room', undefined, MIB, true, false],
    ['it was given away, and there is no room', 0, TOO_MUCH, true, true],
    ['it was given away, and there is room by now', 0, MIB, true, true],
    ['it is there', MIB, MIB, true, false],
  ])('%s', async (_, lying, bytes, wasThere, full) => {
    if (lying !== undefined) await writeFile(path, Buffer.alloc(lying))
    const ballast = new Ballast({ path, bytes, random, existing: wasThere })
    expect(ballast.full).toBe(full)
    await ballast.fill()
    expect(ballast.full).toBe(full && bytes === TOO_MUCH)
    await ballast.close()
  })
})

async function open(ballastBytes = 3 * MIB) {
  const clock = testClock()
  const parts = await openSqliteParts({ directory, clock, random, entity: 1, ballastBytes })
  if (ballastBytes < TOO_MUCH) await vi.waitUntil(isThere)
  return { parts, database: new SqliteDatabase(parts) }
}

async function guids(database: SqliteDatabase): Promise<string[]> {
  const found = await database.session().find('things', search({ limit: 1000 }))
  const documents = Array.isArray(found.documents.value) ? found.documents.value : []
  return documents.map((document) => String(Object(Object(document)._meta).guid))
}

const remove = (database: SqliteDatabase, guid: string) =>
  transact(database, (session) => session.delete('things', guid))
const big = set({ text: 'x'.repeat(50_000) })
const addBig = (database: SqliteDatabase) =>
  transact(database, (session) => session.create('things', big)).then(documentOf)

test('a write that finds no room: the ballast goes, the database may not grow until it is there again', async () => {
  const { parts, database } = await open()
  await database.ensure('things')
  for (let count = 0; count < 5; count++) await addBig(database)
  const pragma = (name: string) =>
    Number(Object.values(parts.writer.connection.get(`PRAGMA ${name}`) ?? {})[0])
  const pages = pragma('page_count')
  parts.writer.connection.exec(`PRAGMA max_page_count = ${pages + 5}`)
  await failure('STORAGE_FULL', () => addBig(database))
  expect(await isThere()).toBe(false)
  const [first = ''] = await guids(database)
  await remove(database, first)
  expect([pragma('page_count'), await database.session().count('things', matchAll)]).toEqual([pages, 4])
  // Into the pages that are free now.
  await addBig(database)
  await failure('STORAGE_FULL', () => addBig(database))
  expect(pragma('page_count')).toBe(pages)
  vi.advanceTimersByTime(10_000)
  await vi.waitUntil(isThere)
  await vi.waitFor(() => addBig(database))
  expect(pragma('page_count')).toBeGreaterThan(pages)
  await database.close()
})

test('a start on a full disk keeps what is left for deletes', async () => {
  const first = await open()
  await first.database.ensure('things')
  for (let count = 0; count < 5; count++) await addBig(first.database)
  const pages = Number(Object.values(first.parts.writer.connection.get('PRAGMA page_count') ?? {})[0])
  first.parts.writer.connection.exec(`PRAGMA max_page_count = ${pages + 5}`)
  await failure('STORAGE_FULL', () => addBig(first.database))
  await first.database.close()
  const second = await open(TOO_MUCH)
  await failure('STORAGE_FULL', () => addBig(second.database))
  const all = await guids(second.database)
  expect(all).toHaveLength(5)
  for (const guid of all) await remove(second.database, guid)
  // Into the pages that are free now, and no further.
  await addBig(second.database)
  expect(second.parts.writer.connection.get('PRAGMA page_count')).toEqual({ page_count: pages })
  await second.database.close()
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
  // A file of another program: deleting it later makes room.
  await writeFile(join(directory, 'else'), Buffer.alloc(6 * MIB))
  const { database } = await open()
  await database.ensure('things')
  await failure('STORAGE_FULL', async () => {
    for (let count = 0; count < 1_000; count++) await addBig(database)
  })
  expect(await isThere()).toBe(false)
  await failure('STORAGE_FULL', () =>
    transact(database, async (session) => {
      for (let count = 0; count < 20; count++) await session.create('things', big)
    }),
  )
  const all = await guids(database)
  expect(all.length).toBeGreaterThan(20)
  for (const guid of all) await remove(database, guid)
  expect(await guids(database)).toEqual([])
  await addBig(database)
  await rm(join(directory, 'else'))
  vi.advanceTimersByTime(10_000)
  await vi.waitUntil(isThere)
  await create(database, 'things', { small: 1 })
  await database.close()
})
