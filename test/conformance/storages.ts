import { expect } from 'vitest'
import { matchAll, search } from '../../src/shared/query.ts'
import type { Session } from '../../src/storage/database.ts'
import { guidOf } from '../../src/storage/document-fields.ts'
import { create, failure, set, stored } from './expectations.ts'
import type { It } from './world.ts'

const guid = '01900000-0000-7000-8000-000000000000'

const badNames = [
  '',
  'A',
  '1a',
  'a b',
  "a'; DROP TABLE storage; --",
  'ä',
  '__proto__',
  'a'.repeat(64),
  'a.b',
  '_',
]

const calls: readonly [string, (session: Session, name: string) => unknown][] = [
  ['get', (session, name) => session.get(name, guid)],
  ['find', (session, name) => session.find(name, search())],
  ['count', (session, name) => session.count(name, matchAll)],
  ['create', (session, name) => session.create(name, [])],
  ['update', (session, name) => session.update(name, guid, [])],
  ['remove', (session, name) => session.setRemoved(name, guid, true)],
  ['restore', (session, name) => session.setRemoved(name, guid, false)],
  ['delete', (session, name) => session.delete(name, guid)],
]

export function storageChapter(it: It): void {
  for (const bad of badNames)
    it(`refuses the name ${JSON.stringify(bad)}`, async ({ database }) => {
      const before = database.names()
      await failure('INVALID_BODY', () => database.ensure(bad))
      expect(database.has(bad)).toBe(false)
      expect(database.names()).toEqual(before)
    })

  for (const [call, run] of calls)
    it(`${call} on a storage that does not exist is INTERNAL`, async ({ database }) => {
      const session = database.session()
      await failure('INTERNAL', () => run(session, 'nothing_of_the_kind'))
      await session.transaction.rollback()
    })

  it('drops the indexes that no search needs, but for unique ones, and finds the same without them', async (world) => {
    const { name } = world
    const [a, b, c] = [{ fields: ['a'] }, { fields: ['a', 'b'] }, { fields: ['c'], unique: true }]
    await world.database.ensure(name, { indexes: [a, b, c] })
    for (const n of [1, 2, 3]) await create(world.database, name, { a: 'x', b: n, c: n })
    const fields = () =>
      world.database.capabilities.indexes.of(name).indexes.map((index) => index.fields.join(' '))
    const find = async () => {
      const sort = [{ field: 'b', order: 'desc', missing: 'last' }] as const
      const query = { kind: 'term', field: 'a', value: 'x' } as const
      const found = await world.database.session().find(name, search({ query, sort, limit: 2 }))
      return JSON.stringify(found.documents.value)
    }
    const before = await find()
    expect(fields().toSorted()).toEqual(['a', 'a b', 'c'])
    await world.database.capabilities.indexes.release(name, [a, { fields: ['never'] }])
    expect(fields().toSorted()).toEqual(['a', 'c'])
    expect(await find()).toBe(before)
    await world.reopen()
    expect(fields().toSorted()).toEqual(['a', 'c'])
    await world.database.capabilities.indexes.release(name, [])
    expect(fields()).toEqual(['c'])
    expect(await find()).toBe(before)
    await failure('CONFLICT', () => create(world.database, name, { c: 1 }))
    await world.database.ensure(name, { indexes: [b] })
    expect(fields().toSorted()).toEqual(['a b', 'c'])
    expect(await find()).toBe(before)
    await world.database.capabilities.indexes.release('nothing_of_the_kind', [])
  })

  it('makes a storage, keeps it, drops it with its documents', async ({ database, name }) => {
    const other = `${name}_b`
    expect(database.has(other)).toBe(false)
    await database.ensure(other)
    expect(database.has(other)).toBe(true)
    expect(database.names()).toContain(other)
    const created = await create(database, name, { a: 1 })
    const gone = await create(database, other, { a: 1 })
    await database.ensure(other)
    expect(await stored(database, other, gone)).toEqual({ a: 1 })
    await database.drop(other)
    expect(database.has(other)).toBe(false)
    expect(database.names()).not.toContain(other)
    await failure('INTERNAL', () => database.session().get(other, gone))
    await database.ensure(other)
    expect(await stored(database, other, gone)).toBeUndefined()
    expect(await stored(database, name, created)).toEqual({ a: 1 })
  })

  it('dropping what does not exist is nothing', async ({ database }) => {
    await database.drop('nothing_of_the_kind')
    expect(database.has('nothing_of_the_kind')).toBe(false)
  })

  it('ensures at the same time agree', async ({ database, name }) => {
    const other = `${name}_b`
    const needs = { indexes: [{ fields: ['a'] }, { fields: ['b'], unique: true }], text: true }
    await Promise.all(Array.from({ length: 10 }, () => database.ensure(other, needs)))
    expect(database.names().filter((known) => known === other)).toEqual([other])
    await create(database, other, { b: 1 })
    await failure('CONFLICT', () => create(database, other, { b: 1 }))
  })

  it('refuses an index over a field name that makes no sense', async ({ database, name }) => {
    for (const field of ['', 'a..b', 'a"b', '__proto__.a'])
      await failure('INVALID_QUERY', () => database.ensure(name, { indexes: [{ fields: [field] }] }))
    await failure('INVALID_QUERY', () => database.ensure(name, { indexes: [{ fields: [] }] }))
  })

  it('gives each commit a read version of its own', async ({ database, name }) => {
    const { readVersions } = database.capabilities
    const readVersion = readVersions.of(name)
    const version = async () => {
      const { catchUp } = readVersions
      if (!catchUp) return readVersion()
      // An engine may have to begin with noting writes first.
      for (let times = 0; times < 500; times++) {
        if ((await catchUp()) && readVersion() !== undefined) break
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      return readVersion()
    }
    const seen: unknown[] = [await version()]
    const session = database.session()
    await session.create(name, set({ a: 1 }))
    expect(await version()).toBe(seen[0])
    await session.transaction.rollback()
    expect(await version()).toBe(seen[0])
    for (let write = 0; write < 3; write++) {
      await create(database, name, { a: write })
      seen.push(await version())
    }
    await database.drop(name)
    await database.ensure(name)
    seen.push(await version())
    expect(new Set(seen)).toHaveProperty('size', 5)
    expect(seen).not.toContain(undefined)
  })

  it('says at which version a storage is', async ({ database, name }) => {
    const other = `${name}_b`
    await database.ensure(other)
    const [version, otherVersion] = [
      database.capabilities.changes.version(name),
      database.capabilities.changes.version(other),
    ]
    const session = database.session()
    await session.create(name, set({ a: 1 }))
    expect(database.capabilities.changes.version(name)).toBe(version)
    await session.transaction.rollback()
    await session.find(name, search())
    await session.transaction.commit()
    expect(database.capabilities.changes.version(name)).toBe(version)
    await session.create(name, set({ a: 1 }))
    const committed = session.transaction.commit()
    let seen = version
    await Promise.resolve(committed).then(() => {
      seen = database.capabilities.changes.version(name)
    })
    expect(seen).toBeGreaterThan(version)
    expect(database.capabilities.changes.version(other)).toBe(otherVersion)
  })

  it('never repeats a version, also when a storage is dropped and made again', async ({ database, name }) => {
    const versions = [database.capabilities.changes.version(name)]
    await create(database, name, {})
    versions.push(database.capabilities.changes.version(name))
    await database.drop(name)
    versions.push(database.capabilities.changes.version(name))
    await database.ensure(name)
    await create(database, name, {})
    versions.push(database.capabilities.changes.version(name))
    expect(new Set(versions).size).toBe(versions.length)
  })

  it('keeps everything when it is closed and opened again', async (world) => {
    const { name } = world
    const needs = { indexes: [{ fields: ['email'], unique: true }], text: true }
    await world.database.ensure(name, needs)
    const guid = await create(world.database, name, {
      email: 'a@b.c',
      tags: ['red', 'blue'],
      note: 'Café au lait',
    })
    const removed = await create(world.database, name, { email: 'gone@b.c' })
    const session = world.database.session()
    await session.setRemoved(name, removed, true)
    await session.transaction.commit()
    const before = (await session.get(name, guid))?.text
    await world.reopen()
    const { database } = world
    expect(database.has(name)).toBe(true)
    expect((await database.session().get(name, guid))?.text).toBe(before)
    expect(await database.session().get(name, removed)).toBeUndefined()
    expect(await database.session().get(name, removed, { removed: true })).toBeDefined()
    expect(await database.session().count(name, { kind: 'term', field: 'tags', value: 'blue' })).toBe(1)
    const text = { kind: 'simple_query_string', fields: [], text: 'cafe' } as const
    expect(await database.session().count(name, text)).toBe(1)
    await failure('CONFLICT', () => create(database, name, { email: 'a@b.c' }))
    await database.ensure(name, needs)
    await create(database, name, { email: 'b@b.c', note: 'another cafe' })
    expect(await database.session().count(name, text)).toBe(2)
  })

  it('documents that are created after the clock was set back sort behind those that are there', async (world) => {
    const { name, clock } = world
    const present = clock.now
    clock.now = present + 3 * 3_600_000
    const first = await create(world.database, name, { n: 1 })
    const second = await create(world.database, name, { n: 2 })
    clock.now = present
    await world.reopen()
    const third = await create(world.database, name, { n: 3 })
    const found = await world.database.session().find(name, search({}))
    expect(JSON.parse(found.documents.text).map(guidOf)).toEqual([third, second, first])
    clock.now = present + 4 * 3_600_000
    const session = world.database.session()
    const { cms } = JSON.parse((await session.create(name, [])).text)._meta
    // What closes the database would wait for a session that is open, until its time is over.
    await session.transaction.rollback()
    expect(cms).toBe(clock.now)
    clock.now = present
  })

  it('refuses to work once it is closed', async (world) => {
    const { database, name } = world
    await world.reopen()
    await failure('UNAVAILABLE', () => database.session().get(name, guid))
    await failure('UNAVAILABLE', () => database.session().create(name, []))
    await failure('UNAVAILABLE', () => database.ensure(name))
    await database.close()
  })
}
