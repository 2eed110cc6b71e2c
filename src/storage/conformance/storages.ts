import { expect } from 'vitest'
import { matchAll, search } from '../../shared/query.ts'
import type { Session } from '../storage.ts'
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
  ['remove', (session, name) => session.remove(name, guid)],
  ['restore', (session, name) => session.restore(name, guid)],
  ['delete', (session, name) => session.delete(name, guid)],
]

export function storageChapter(it: It): void {
  for (const bad of badNames)
    it(`refuses the name ${JSON.stringify(bad)}`, async ({ storage }) => {
      const before = storage.names()
      await failure('INVALID_BODY', () => storage.ensure(bad))
      expect(storage.has(bad)).toBe(false)
      expect(storage.names()).toEqual(before)
    })

  for (const [call, run] of calls)
    it(`${call} on a storage that does not exist is INTERNAL`, async ({ storage }) => {
      const session = storage.session()
      await failure('INTERNAL', () => run(session, 'nothing_of_the_kind'))
      await session.rollback()
    })

  it('drops the indexes that nobody needs, but for unique ones, and finds the same without them', async (world) => {
    const { name } = world
    const [a, b, c] = [{ fields: ['a'] }, { fields: ['a', 'b'] }, { fields: ['c'], unique: true }]
    await world.storage.ensure(name, { indexes: [a, b, c] })
    for (const n of [1, 2, 3]) await create(world.storage, name, { a: 'x', b: n, c: n })
    const fields = () => world.storage.kept(name).indexes.map((index) => index.fields.join(' '))
    const find = async () => {
      const sort = [{ field: 'b', order: 'desc', missing: 'last' }] as const
      const query = { kind: 'term', field: 'a', value: 'x' } as const
      const found = await world.storage.session().find(name, search({ query, sort, limit: 2 }))
      return JSON.stringify(found.documents.value)
    }
    const before = await find()
    expect(fields().toSorted()).toEqual(['a', 'a b', 'c'])
    await world.storage.release(name, [a, { fields: ['never'] }])
    expect(fields().toSorted()).toEqual(['a', 'c'])
    expect(await find()).toBe(before)
    await world.reopen()
    expect(fields().toSorted()).toEqual(['a', 'c'])
    await world.storage.release(name, [])
    expect(fields()).toEqual(['c'])
    expect(await find()).toBe(before)
    await failure('CONFLICT', () => create(world.storage, name, { c: 1 }))
    await world.storage.ensure(name, { indexes: [b] })
    expect(fields().toSorted()).toEqual(['a b', 'c'])
    expect(await find()).toBe(before)
    await world.storage.release('nothing_of_the_kind', [])
  })

  it('makes a storage, keeps it, drops it with its documents', async ({ storage, name }) => {
    const other = `${name}_b`
    expect(storage.has(other)).toBe(false)
    await storage.ensure(other)
    expect(storage.has(other)).toBe(true)
    expect(storage.names()).toContain(other)
    const kept = await create(storage, name, { a: 1 })
    const gone = await create(storage, other, { a: 1 })
    await storage.ensure(other)
    expect(await stored(storage, other, gone)).toEqual({ a: 1 })
    await storage.drop(other)
    expect(storage.has(other)).toBe(false)
    expect(storage.names()).not.toContain(other)
    await failure('INTERNAL', () => storage.session().get(other, gone))
    await storage.ensure(other)
    expect(await stored(storage, other, gone)).toBeUndefined()
    expect(await stored(storage, name, kept)).toEqual({ a: 1 })
  })

  it('dropping what does not exist is nothing', async ({ storage }) => {
    await storage.drop('nothing_of_the_kind')
    expect(storage.has('nothing_of_the_kind')).toBe(false)
  })

  it('ensures at the same time agree', async ({ storage, name }) => {
    const other = `${name}_b`
    const needs = { indexes: [{ fields: ['a'] }, { fields: ['b'], unique: true }], text: true }
    await Promise.all(Array.from({ length: 10 }, () => storage.ensure(other, needs)))
    expect(storage.names().filter((known) => known === other)).toEqual([other])
    await create(storage, other, { b: 1 })
    await failure('CONFLICT', () => create(storage, other, { b: 1 }))
  })

  it('refuses an index over a field name that makes no sense', async ({ storage, name }) => {
    for (const field of ['', 'a..b', 'a"b', '__proto__.a'])
      await failure('INVALID_QUERY', () => storage.ensure(name, { indexes: [{ fields: [field] }] }))
    await failure('INVALID_QUERY', () => storage.ensure(name, { indexes: [{ fields: [] }] }))
  })

  it('stamps what is committed, never twice the same, where nobody else can write', async ({
    storage,
    name,
  }) => {
    const stamps: unknown[] = [storage.stamp(name)]
    const session = storage.session()
    await session.create(name, set({ a: 1 }))
    expect(storage.stamp(name)).toBe(stamps[0])
    await session.rollback()
    expect(storage.stamp(name)).toBe(stamps[0])
    for (let write = 0; write < 3; write++) {
      await create(storage, name, { a: write })
      stamps.push(storage.stamp(name))
    }
    await storage.drop(name)
    await storage.ensure(name)
    stamps.push(storage.stamp(name))
    expect(new Set(stamps)).toHaveProperty('size', storage.engine === 'sqlite' ? 5 : 1)
    if (storage.engine === 'postgres') expect(stamps).not.toContainEqual(expect.anything())
  })

  it('says at which version a storage is', async ({ storage, name }) => {
    const other = `${name}_b`
    await storage.ensure(other)
    const [version, otherVersion] = [storage.version(name), storage.version(other)]
    const session = storage.session()
    await session.create(name, set({ a: 1 }))
    expect(storage.version(name)).toBe(version)
    await session.rollback()
    await session.find(name, search())
    await session.commit()
    expect(storage.version(name)).toBe(version)
    await session.create(name, set({ a: 1 }))
    const committed = session.commit()
    let seen = version
    await Promise.resolve(committed).then(() => {
      seen = storage.version(name)
    })
    expect(seen).toBeGreaterThan(version)
    expect(storage.version(other)).toBe(otherVersion)
  })

  it('never repeats a version, also when a storage is dropped and made again', async ({ storage, name }) => {
    const versions = [storage.version(name)]
    await create(storage, name, {})
    versions.push(storage.version(name))
    await storage.drop(name)
    versions.push(storage.version(name))
    await storage.ensure(name)
    await create(storage, name, {})
    versions.push(storage.version(name))
    expect(new Set(versions).size).toBe(versions.length)
  })

  it('keeps everything when it is closed and opened again', async (world) => {
    const { name } = world
    const needs = { indexes: [{ fields: ['email'], unique: true }], text: true }
    await world.storage.ensure(name, needs)
    const guid = await create(world.storage, name, {
      email: 'a@b.c',
      tags: ['red', 'blue'],
      note: 'Café au lait',
    })
    const removed = await create(world.storage, name, { email: 'gone@b.c' })
    const session = world.storage.session()
    await session.remove(name, removed)
    await session.commit()
    const before = (await session.get(name, guid))?.text
    await world.reopen()
    const { storage } = world
    expect(storage.has(name)).toBe(true)
    expect((await storage.session().get(name, guid))?.text).toBe(before)
    expect(await storage.session().get(name, removed)).toBeUndefined()
    expect(await storage.session().get(name, removed, { removed: true })).toBeDefined()
    expect(await storage.session().count(name, { kind: 'term', field: 'tags', value: 'blue' })).toBe(1)
    const text = { kind: 'simple_query_string', fields: [], text: 'cafe' } as const
    expect(await storage.session().count(name, text)).toBe(1)
    await failure('CONFLICT', () => create(storage, name, { email: 'a@b.c' }))
    await storage.ensure(name, needs)
    await create(storage, name, { email: 'b@b.c', note: 'another cafe' })
    expect(await storage.session().count(name, text)).toBe(2)
  })

  it('refuses to work once it is closed', async (world) => {
    const { storage, name } = world
    await world.reopen()
    await failure('UNAVAILABLE', () => storage.session().get(name, guid))
    await failure('UNAVAILABLE', () => storage.session().create(name, []))
    await failure('UNAVAILABLE', () => storage.ensure(name))
    await storage.close()
  })
}
