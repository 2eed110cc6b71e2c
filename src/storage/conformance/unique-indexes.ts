import { expect } from 'vitest'
import { matchAll } from '../../shared/query.ts'
import { bodyOf, change, create, failure, set, stored } from './expectations.ts'
import type { It } from './world.ts'

const unique = (...fields: string[]) => ({ indexes: [{ fields, unique: true }] })

export function uniqueChapter(it: It): void {
  it('refuses a second document with the value, naming the field and no cause', async ({ storage, name }) => {
    await storage.ensure(name, unique('address.email'))
    const first = await create(storage, name, { address: { email: 'a@b.c' } })
    const second = await create(storage, name, { address: { email: 'x@y.z' } })
    const same = { address: { email: 'a@b.c' } }
    const error = await failure('CONFLICT', () => create(storage, name, same))
    expect(error.message).toContain('address.email')
    expect(error.cause).toBeUndefined()
    await failure('CONFLICT', () => change(storage, (session) => session.update(name, second, set(same))))
    expect(await stored(storage, name, first)).toEqual(same)
    expect(await stored(storage, name, second)).toEqual({ address: { email: 'x@y.z' } })
    expect(await storage.session().count(name, matchAll)).toBe(2)
    await change(storage, (session) => session.update(name, first, set({ other: 1 })))
  })

  it('takes any number of missing and null values', async ({ storage, name }) => {
    await storage.ensure(name, unique('code'))
    for (const document of [{}, {}, { code: null }, { code: null }]) await create(storage, name, document)
    await create(storage, name, { code: '' })
    await failure('CONFLICT', () => create(storage, name, { code: '' }))
    expect(await storage.session().count(name, matchAll)).toBe(5)
  })

  it('over two fields means both', async ({ storage, name }) => {
    await storage.ensure(name, unique('a', 'b'))
    await create(storage, name, { a: 1, b: 1 })
    await create(storage, name, { a: 1, b: 2 })
    await create(storage, name, { a: 2, b: 1 })
    await create(storage, name, { a: 1 })
    await create(storage, name, { a: 1 })
    const error = await failure('CONFLICT', () => create(storage, name, { a: 1, b: 2 }))
    expect(error.message).toContain('a, b')
  })

  it('does not count removed documents, and refuses to restore into a taken value', async ({
    storage,
    name,
  }) => {
    await storage.ensure(name, unique('code'))
    const first = await create(storage, name, { code: 'x' })
    await change(storage, (session) => session.remove(name, first))
    const second = await create(storage, name, { code: 'x' })
    await failure('CONFLICT', () => change(storage, (session) => session.restore(name, first)))
    expect(await storage.session().get(name, first)).toBeUndefined()
    await change(storage, (session) => session.delete(name, second))
    const restored = await change(storage, (session) => session.restore(name, first))
    expect(restored.outcome).toBe('written')
    expect(bodyOf(await storage.session().get(name, first))).toEqual({ code: 'x' })
  })

  it('cannot be made over documents that break it', async ({ storage, name }) => {
    const first = await create(storage, name, { code: 'x' })
    await create(storage, name, { code: 'x' })
    const error = await failure('CONFLICT', () =>
      storage.ensure(name, { indexes: [{ fields: ['other'] }, { fields: ['code'], unique: true }] }),
    )
    expect(error.message).toContain('code')
    await create(storage, name, { code: 'x' })
    expect(await storage.session().count(name, matchAll)).toBe(3)
    for (const guid of [first]) await change(storage, (session) => session.remove(name, guid))
    await failure('CONFLICT', () => storage.ensure(name, unique('code')))
  })

  it('of two at the same time one wins', async ({ storage, name }) => {
    await storage.ensure(name, unique('code'))
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () => create(storage, name, { code: 'x' })),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await storage.session().count(name, matchAll)).toBe(1)
  })
}
