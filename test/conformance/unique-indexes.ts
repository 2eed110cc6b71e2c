import { expect } from 'vitest'
import { matchAll } from '../../src/shared/query.ts'
import { bodyOf, change, create, failure, set, stored } from './expectations.ts'
import type { It } from './world.ts'

const unique = (...fields: string[]) => ({ indexes: [{ fields, unique: true }] })

export function uniqueChapter(it: It): void {
  it('refuses a second document with the value, naming the field and no cause', async ({
    database,
    name,
  }) => {
    await database.ensure(name, unique('address.email'))
    const first = await create(database, name, { address: { email: 'a@b.c' } })
    const second = await create(database, name, { address: { email: 'x@y.z' } })
    const same = { address: { email: 'a@b.c' } }
    const error = await failure('CONFLICT', () => create(database, name, same))
    expect(error.message).toContain('address.email')
    expect(error.cause).toBeUndefined()
    await failure('CONFLICT', () => change(database, (session) => session.update(name, second, set(same))))
    expect(await stored(database, name, first)).toEqual(same)
    expect(await stored(database, name, second)).toEqual({ address: { email: 'x@y.z' } })
    expect(await database.session().count(name, matchAll)).toBe(2)
    await change(database, (session) => session.update(name, first, set({ other: 1 })))
  })

  it('takes any number of missing and null values', async ({ database, name }) => {
    await database.ensure(name, unique('code'))
    for (const document of [{}, {}, { code: null }, { code: null }]) await create(database, name, document)
    await create(database, name, { code: '' })
    await failure('CONFLICT', () => create(database, name, { code: '' }))
    expect(await database.session().count(name, matchAll)).toBe(5)
  })

  it('over two fields means both', async ({ database, name }) => {
    await database.ensure(name, unique('a', 'b'))
    await create(database, name, { a: 1, b: 1 })
    await create(database, name, { a: 1, b: 2 })
    await create(database, name, { a: 2, b: 1 })
    await create(database, name, { a: 1 })
    await create(database, name, { a: 1 })
    const error = await failure('CONFLICT', () => create(database, name, { a: 1, b: 2 }))
    expect(error.message).toContain('a, b')
  })

  it('does not count removed documents, and refuses to restore into a taken value', async ({
    database,
    name,
  }) => {
    await database.ensure(name, unique('code'))
    const first = await create(database, name, { code: 'x' })
    await change(database, (session) => session.setRemoved(name, first, true))
    const second = await create(database, name, { code: 'x' })
    await failure('CONFLICT', () => change(database, (session) => session.setRemoved(name, first, false)))
    expect(await database.session().get(name, first)).toBeUndefined()
    await change(database, (session) => session.delete(name, second))
    const restored = await change(database, (session) => session.setRemoved(name, first, false))
    expect(restored.outcome).toBe('written')
    expect(bodyOf(await database.session().get(name, first))).toEqual({ code: 'x' })
  })

  it('cannot be made over documents that break it', async ({ database, name }) => {
    const first = await create(database, name, { code: 'x' })
    await create(database, name, { code: 'x' })
    const error = await failure('CONFLICT', () =>
      database.ensure(name, { indexes: [{ fields: ['other'] }, { fields: ['code'], unique: true }] }),
    )
    expect(error.message).toContain('code')
    await create(database, name, { code: 'x' })
    expect(await database.session().count(name, matchAll)).toBe(3)
    for (const guid of [first]) await change(database, (session) => session.setRemoved(name, guid, true))
    await failure('CONFLICT', () => database.ensure(name, unique('code')))
  })

  it('of two at the same time one wins', async ({ database, name }) => {
    await database.ensure(name, unique('code'))
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () => create(database, name, { code: 'x' })),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await database.session().count(name, matchAll)).toBe(1)
  })
}
