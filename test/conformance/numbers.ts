/** Numbers that fields are given: each once. */
import { expect } from 'vitest'
import { search } from '../../src/shared/query.ts'
import { type Database, documentOf, type Session } from '../../src/storage/database.ts'
import { documentsOf } from '../../src/storage/find-documents.ts'
import { transact } from '../../src/storage/transact.ts'
import { change, metaOf, set } from './expectations.ts'
import type { It } from './world.ts'

const take = (database: Database, name: string, count = 1, from = 1) =>
  transact(database, (session) => session.claims.numbers(name, 'n', { count, from }))

async function numbered(session: Session, name: string) {
  const n = await session.claims.numbers(name, 'n', { count: 1, from: 1 })
  return session.create(name, set({ n }))
}

const stored = async (database: Database, name: string) =>
  documentsOf(await database.session().find(name, search({ limit: 100 })))
    .map(({ n }) => Number(n))
    .toSorted((a, b) => a - b)

export function numberChapter(it: It): void {
  it('gives them in a row, from the first one that is wanted, for each field', async ({ database, name }) => {
    expect(await take(database, name)).toBe(1)
    expect(await take(database, name, 3)).toBe(2)
    expect(await take(database, name)).toBe(5)
    expect(await take(database, name, 2, 100)).toBe(100)
    expect(await take(database, name)).toBe(102)
    expect(
      await transact(database, (session) => session.claims.numbers(name, 'other', { count: 1, from: 7 })),
    ).toBe(7)
  })

  it('may be raised, and not lowered', async ({ database, name }) => {
    await take(database, name, 0, 41)
    await take(database, name, 0, 11)
    expect(await take(database, name)).toBe(41)
  })

  it('gives none of a document again that is deleted, also after a restart', async (world) => {
    const { name } = world
    const { guid } = metaOf(await transact(world.database, (session) => numbered(session, name)))
    await change(world.database, (session) => session.delete(name, guid))
    await world.reopen()
    const next = await transact(world.database, (session) => numbered(session, name))
    expect(documentOf(next).n).toBe(2)
  })

  it('gives 40 sessions at once a number each, and leaves none out', async ({ database, name }) => {
    const sessions = Array.from({ length: 40 }, () =>
      transact(database, (session) => numbered(session, name)),
    )
    await Promise.all(sessions)
    expect(await stored(database, name)).toEqual(Array.from({ length: 40 }, (_, at) => at + 1))
  })

  it('is no reason for units of work to be in the way of each other', async ({ database, name }) => {
    const [one, two] = [1, 1].map((attempt) => database.session({ unit: { attempt } }))
    if (!one || !two) throw new Error('unreachable')
    await numbered(one, name)
    const second = numbered(two, name)
    const committed = one.transaction.commit()
    await second
    await two.transaction.commit()
    await committed
    expect(await stored(database, name)).toEqual([1, 2])
  })

  it('of a session that is rolled back is in no document, and may be left out', async ({
    database,
    name,
  }) => {
    const session = database.session()
    await numbered(session, name)
    await session.transaction.rollback()
    const next = await transact(database, (other) => numbered(other, name))
    expect([1, 2]).toContain(documentOf(next).n)
    expect(await stored(database, name)).toHaveLength(1)
  })

  it('starts again in a storage that was dropped', async ({ database, name }) => {
    const other = `${name}_2`
    await database.ensure(other)
    await take(database, name, 5)
    await take(database, other, 5)
    await database.drop(name)
    await database.ensure(name)
    expect(await take(database, name)).toBe(1)
    expect(await take(database, other)).toBe(6)
  })
}
