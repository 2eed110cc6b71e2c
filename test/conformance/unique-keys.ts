import { expect } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { matchAll, search } from '../../src/shared/query.ts'
import type { Database } from '../../src/storage/database.ts'
import { transact } from '../../src/storage/transact.ts'
import type { UniqueKey } from '../../src/storage/unique/unique-key.ts'
import { change, create, failure, set, stored } from './expectations.ts'
import type { It } from './world.ts'

const plain = { ignoreCase: false, ignoreAccents: false }
const key = (name: string, ...fields: string[]): UniqueKey => ({
  name,
  fields: fields.map((field) => ({ name: field, ...plain })),
})

const keep = async (database: Database, name: string, requested: UniqueKey) => {
  expect(await database.capabilities.uniqueValues.keep(name, requested)).toBeUndefined()
}

const holder = async (database: Database, name: string, of: string, document: JsonObject) =>
  (await transact(database, (session) => session.claims.findByUniqueKey(name, [of], document)))?.guid

export function uniqueKeyChapter(it: It): void {
  it('refuses a second document with the value, naming the field', async ({ database, name }) => {
    await keep(database, name, key('sku', 'item.sku'))
    const first = await create(database, name, { item: { sku: 'a' } })
    const second = await create(database, name, { item: { sku: 'b' } })
    const same = { item: { sku: 'a' } }
    const error = await failure('CONFLICT', () => create(database, name, same))
    expect([error.fields, error.cause]).toEqual([['item.sku'], undefined])
    await failure('CONFLICT', () => change(database, (session) => session.update(name, second, set(same))))
    expect(await stored(database, name, first)).toEqual(same)
    expect(await stored(database, name, second)).toEqual({ item: { sku: 'b' } })
    expect(await database.session().count(name, matchAll)).toBe(2)
    expect(await holder(database, name, 'sku', same)).toBe(first)
    expect(await holder(database, name, 'sku', { item: { sku: 'c' } })).toBeUndefined()
  })

  it('lets a value be changed, freed and taken', async ({ database, name }) => {
    await keep(database, name, key('sku', 'sku'))
    const first = await create(database, name, { sku: 'a' })
    await change(database, (session) => session.update(name, first, set({ sku: 'b', other: 1 })))
    await change(database, (session) => session.update(name, first, set({ other: 2 })))
    const second = await create(database, name, { sku: 'a' })
    await failure('CONFLICT', () => create(database, name, { sku: 'b' }))
    await change(database, (session) => session.delete(name, first))
    await change(database, (session) => session.update(name, second, set({ sku: 'b' })))
    expect(await holder(database, name, 'sku', { sku: 'b' })).toBe(second)
    await create(database, name, { sku: 'a' })
  })

  it('does not hold what is missing or null', async ({ database, name }) => {
    await keep(database, name, key('pair', 'a', 'b'))
    for (const document of [{}, {}, { a: 1 }, { a: 1 }, { a: 1, b: null }, { a: 1, b: null }])
      await create(database, name, document)
    await create(database, name, { a: 1, b: '' })
    const error = await failure('CONFLICT', () => create(database, name, { a: 1, b: '' }))
    expect(error.fields).toEqual(['a', 'b'])
    await create(database, name, { a: '1', b: '' })
    expect(await holder(database, name, 'pair', { a: 1 })).toBeUndefined()
  })

  it('is not held by removed documents, and is taken again by one that is restored', async ({
    database,
    name,
  }) => {
    await keep(database, name, key('sku', 'sku'))
    const first = await create(database, name, { sku: 'a' })
    await change(database, (session) => session.setRemoved(name, first, true))
    const second = await create(database, name, { sku: 'a' })
    await failure('CONFLICT', () => change(database, (session) => session.setRemoved(name, first, false)))
    expect(await stored(database, name, first)).toBeUndefined()
    await change(database, (session) => session.delete(name, second))
    expect((await change(database, (session) => session.setRemoved(name, first, false))).outcome).toBe(
      'written',
    )
    await failure('CONFLICT', () => create(database, name, { sku: 'a' }))
    await change(database, (session) => session.setRemoved(name, first, true))
    // A removed document holds nothing, so its end frees nothing of another one.
    const third = await create(database, name, { sku: 'a' })
    await change(database, (session) => session.delete(name, first))
    expect(await holder(database, name, 'sku', { sku: 'a' })).toBe(third)
    await failure('CONFLICT', () => create(database, name, { sku: 'a' }))
  })

  it('folds case and accents as it says', async ({ database, name }) => {
    const fields = [{ name: 'mail', ignoreCase: true, ignoreAccents: true }]
    await keep(database, name, { name: 'mail', fields })
    await create(database, name, { mail: 'Émile@Straße.example' })
    for (const mail of ['emile@strasse.example', 'ÉMILE@STRASSE.EXAMPLE', 'E\u0301mile@Straße.example'])
      await failure('CONFLICT', () => create(database, name, { mail }))
    await keep(database, name, key('mail', 'mail'))
    await create(database, name, { mail: 'emile@strasse.example' })
    await failure('CONFLICT', () => create(database, name, { mail: 'E\u0301mile@Straße.example' }))
    expect(database.capabilities.uniqueValues.of(name)).toEqual([key('mail', 'mail')])
  })

  it('leaves the session as it was when it refuses', async ({ database, name }) => {
    await keep(database, name, key('a', 'a'))
    await keep(database, name, key('b', 'b'))
    await create(database, name, { b: 'taken' })
    const session = database.session()
    await session.create(name, set({ a: 'one' }))
    await failure('CONFLICT', () => session.create(name, set({ a: 'two', b: 'taken' })))
    await failure('CONFLICT', () => session.create(name, set({ a: 'one' })))
    await session.create(name, set({ a: 'two', b: 'free' }))
    await session.transaction.commit()
    expect(await database.session().count(name, matchAll)).toBe(3)
    await failure('CONFLICT', () => create(database, name, { a: 'two' }))
  })

  it('is free again when the session is rolled back', async ({ database, name }) => {
    await keep(database, name, key('sku', 'sku'))
    const session = database.session()
    await session.create(name, set({ sku: 'a' }))
    await session.transaction.rollback()
    const guid = await create(database, name, { sku: 'a' })
    const other = database.session()
    await other.delete(name, guid)
    await other.transaction.rollback()
    await failure('CONFLICT', () => create(database, name, { sku: 'a' }))
  })

  it('of many at the same time one wins', async ({ database, name }) => {
    await keep(database, name, key('sku', 'sku'))
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, at) => create(database, name, { sku: 'a', at })),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ code: 'CONFLICT', fields: ['sku'] })
    expect(await database.session().count(name, matchAll)).toBe(1)
  })

  it('lists the documents that break it, and then nothing has changed', async ({ database, name }) => {
    const first = await create(database, name, { sku: 'a' })
    const second = await create(database, name, { sku: 'a' })
    await create(database, name, { sku: 'b' })
    const gone = await create(database, name, { sku: 'b' })
    await change(database, (session) => session.setRemoved(name, gone, true))
    const { uniqueValues } = database.capabilities
    const duplicates = await uniqueValues.keep(name, key('sku', 'sku'))
    expect(duplicates?.total).toBe(1)
    const [found] = duplicates?.documents ?? []
    expect([found?.guid, found?.same_as].sort()).toEqual([first, second].sort())
    expect([uniqueValues.of(name), uniqueValues.unfinished(name)]).toEqual([[], []])
    await create(database, name, { sku: 'a' })
    await change(database, (session) => session.setRemoved(name, first, true))
    expect((await uniqueValues.keep(name, key('sku', 'sku')))?.total).toBe(1)
  })

  it('is kept while others write', async ({ database, name }) => {
    const guids: string[] = []
    for (let at = 0; at < 60; at++) guids.push(await create(database, name, { sku: at, version: 0 }))
    let isOver = false
    const writers = [0, 1, 2].map(async (writer) => {
      let made = 0
      for (let round = 0; !isOver || round < 20; round++) {
        const at = (round * 3 + writer) % guids.length
        const guid = guids[at] ?? ''
        const sku = 1000 + round * 3 + writer
        await change(database, (session) => session.update(name, guid, set({ sku, version: round })))
        await create(database, name, { sku: -sku })
        made++
      }
      return made
    })
    await keep(database, name, key('sku', 'sku'))
    isOver = true
    const made = (await Promise.all(writers)).reduce((all, one) => all + one, 0)
    const found = await database.session().find(name, search({ limit: 10_000 }))
    expect(found.length).toBe(60 + made)
    const values = found.documents.value
    if (!Array.isArray(values)) throw new TypeError('no list')
    for (const document of values) {
      if (typeof document !== 'object' || document === null || Array.isArray(document))
        throw new TypeError('no document')
      const { sku = null } = document
      await failure('CONFLICT', () => create(database, name, { sku }))
    }
    await create(database, name, { sku: 'free' })
  })

  it('goes with its storage, and stays over a restart', async (world) => {
    const { name } = world
    await keep(world.database, name, key('sku', 'sku'))
    await create(world.database, name, { sku: 'a' })
    await world.reopen()
    const { database } = world
    await failure('CONFLICT', () => create(database, name, { sku: 'a' }))
    await database.drop(name)
    await database.ensure(name)
    expect(database.capabilities.uniqueValues.of(name)).toEqual([])
    await create(database, name, { sku: 'a' })
    await create(database, name, { sku: 'a' })
    expect((await database.capabilities.uniqueValues.keep(name, key('sku', 'sku')))?.total).toBe(1)
  })

  it('can be dropped', async ({ database, name }) => {
    await keep(database, name, key('sku', 'sku'))
    await create(database, name, { sku: 'a' })
    await database.capabilities.uniqueValues.dropOthers(name, [])
    await create(database, name, { sku: 'a' })
    await failure('INTERNAL', () => holder(database, name, 'sku', { sku: 'a' }))
  })
}
