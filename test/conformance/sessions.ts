import { expect } from 'vitest'
import { andThen } from '../../src/shared/maybe-promise.ts'
import { matchAll, search } from '../../src/shared/query.ts'
import type { Session } from '../../src/storage/database.ts'
import { transact } from '../../src/storage/transact.ts'
import { bodyOf, create, failure, metaOf, set, stored, turns } from './expectations.ts'
import type { It } from './world.ts'

const add = (amount: number) => [{ op: 'increment', field: 'n', amount }] as const

async function titles(session: Session, name: string): Promise<unknown[]> {
  const found = await session.find(
    name,
    search({ sort: [{ field: 'title', order: 'asc', missing: 'last' }] }),
  )
  const documents = found.documents.value
  if (!Array.isArray(documents)) throw new TypeError('A search gives an array.')
  return documents.map((document: { title?: unknown }) => document.title)
}

export function sessionChapter(it: It): void {
  it('only the session itself sees its writes before the commit', async ({ database, name }) => {
    const guid = await create(database, name, { title: 'a' })
    const writer = database.session()
    const reader = database.session()
    const added = metaOf(await writer.create(name, set({ title: 'b' }))).guid
    await writer.update(name, guid, set({ title: 'c' }))
    expect(await titles(writer, name)).toEqual(['b', 'c'])
    expect(await writer.count(name, matchAll)).toBe(2)
    expect(bodyOf(await writer.get(name, added))).toEqual({ title: 'b' })
    await turns()
    expect([writer.transaction.hasWritten, reader.transaction.hasWritten]).toEqual([true, false])
    expect(await titles(reader, name)).toEqual(['a'])
    expect(await reader.count(name, matchAll)).toBe(1)
    expect(await reader.get(name, added)).toBeUndefined()
    expect(bodyOf(await reader.get(name, guid))).toEqual({ title: 'a' })
    await writer.transaction.commit()
    expect(writer.transaction.hasWritten).toBe(false)
    expect(await titles(reader, name)).toEqual(['b', 'c'])
  })

  it('observers are told of each write, and their writes are committed or rolled back with it', async ({
    database,
    name,
  }) => {
    const reported: unknown[] = []
    const log = `${name}_log`
    await database.ensure(log)
    const end = database.observe(name, (session, change) => {
      reported.push([change.kind, bodyOf(change.before), bodyOf(change.after), session.origin.user?.username])
      return andThen(session.create(log, set({ kind: change.kind })), () => undefined)
    })
    const by = { user: { guid: 'g', username: 'ada' } }
    const guid = await transact(
      database,
      async (session) => {
        const made = metaOf(await session.create(name, set({ n: 1 }))).guid
        await session.update(name, made, set({ n: 2 }))
        return made
      },
      by,
    )
    await transact(database, (session) => session.setRemoved(name, guid, true), by)
    await transact(database, (session) => session.setRemoved(name, guid, false), by)
    await transact(database, (session) => session.delete(name, guid))
    await transact(database, (session) => session.update(name, guid, set({ n: 3 })))
    expect(reported).toEqual([
      ['created', undefined, { n: 1 }, 'ada'],
      ['updated', { n: 1 }, { n: 2 }, 'ada'],
      ['removed', { n: 2 }, { n: 2 }, 'ada'],
      ['restored', { n: 2 }, { n: 2 }, 'ada'],
      ['deleted', { n: 2 }, undefined, undefined],
    ])
    expect(await database.session().count(log, matchAll)).toBe(5)

    const undone = database.session()
    await undone.create(name, set({ n: 9 }))
    await undone.transaction.rollback()
    expect(await database.session().count(log, matchAll)).toBe(5)
    end()
    await create(database, name, { n: 10 })
    expect(await database.session().count(log, matchAll)).toBe(5)
  })

  it('what an observer throws, the write throws, and the transaction leaves nothing', async ({
    database,
    name,
  }) => {
    const end = database.observe(name, () => {
      throw new Error('refused by the observer')
    })
    await expect(transact(database, (session) => session.create(name, set({ n: 1 })))).rejects.toThrow(
      'refused by',
    )
    end()
    expect(await database.session().count(name, matchAll)).toBe(0)
  })

  it('rollback leaves nothing, and the session can be used again', async ({ database, name }) => {
    const guid = await create(database, name, { title: 'a' })
    const session = database.session()
    await session.create(name, set({ title: 'b' }))
    await session.setRemoved(name, guid, true)
    expect(await titles(session, name)).toEqual(['b'])
    await session.transaction.rollback()
    expect(session.transaction.hasWritten).toBe(false)
    expect(await titles(session, name)).toEqual(['a'])
    await session.create(name, set({ title: 'c' }))
    await session.transaction.commit()
    await session.transaction.rollback()
    expect(await titles(database.session(), name)).toEqual(['a', 'c'])
  })

  it('a write while its own commit is under way waits for that, and is of the next unit', async ({
    database,
    name,
  }) => {
    const session = database.session()
    await session.create(name, add(1))
    const first = session.transaction.commit()
    const second = session.create(name, add(2))
    await first
    expect(await database.session().count(name, matchAll)).toBe(1)
    await second
    await session.transaction.commit()
    expect(await database.session().count(name, matchAll)).toBe(2)
  })

  it('commit has nothing to wait for when nothing was written', async ({ database, name }) => {
    const session = database.session()
    expect(session.transaction.commit()).toBeUndefined()
    await session.find(name, search())
    expect(session.transaction.commit()).toBeUndefined()
    await session.transaction.rollback()
  })

  it('one commit writes several documents and storages together', async ({ database, name }) => {
    const other = `${name}_b`
    await database.ensure(other)
    await failure('INTERNAL', () =>
      transact(database, async (session) => {
        await session.create(name, set({ title: 'a' }))
        await session.create(other, set({ title: 'b' }))
        await session.create('nothing_of_the_kind', [])
      }),
    )
    expect(await titles(database.session(), name)).toEqual([])
    expect(await titles(database.session(), other)).toEqual([])
    await transact(database, async (session) => {
      await session.create(name, set({ title: 'a' }))
      await session.create(other, set({ title: 'b' }))
    })
    expect(await titles(database.session(), name)).toEqual(['a'])
    expect(await titles(database.session(), other)).toEqual(['b'])
  })

  it('transact undoes everything when the work throws', async ({ database, name }) => {
    const work = transact(database, async (session) => {
      await session.create(name, set({ title: 'a' }))
      await turns()
      throw new RangeError('no')
    })
    await expect(work).rejects.toThrow(RangeError)
    expect(await titles(database.session(), name)).toEqual([])
    await create(database, name, { title: 'b' })
    expect(await titles(database.session(), name)).toEqual(['b'])
  })

  it('a refused write leaves what the session wrote before', async ({ database, name }) => {
    await database.ensure(name, { indexes: [{ fields: ['title'], unique: true }] })
    const session = database.session()
    const guid = metaOf(await session.create(name, set({ title: 'a' }))).guid
    await failure('CONFLICT', () => session.create(name, set({ title: 'a' })))
    await failure('INVALID_BODY', () =>
      session.update(name, guid, [{ op: 'increment', field: 'title', amount: 1 }]),
    )
    await session.create(name, set({ title: 'b' }))
    await session.transaction.commit()
    expect(await titles(database.session(), name)).toEqual(['a', 'b'])
  })

  it('another session may write while one keeps its transaction open; the rollback of one is not the other’s', async ({
    database,
    name,
  }) => {
    const slow = database.session()
    await slow.create(name, set({ title: 'slow' }))
    const others = ['a', 'b', 'c'].map((title) => create(database, name, { title }))
    await turns()
    await slow.create(name, set({ title: 'slow too' }))
    expect(await titles(slow, name)).toEqual(expect.arrayContaining(['slow', 'slow too']))
    await turns()
    await slow.transaction.rollback()
    await Promise.all(others)
    expect(await titles(database.session(), name)).toEqual(['a', 'b', 'c'])
  })

  it('and both stay when both commit', async ({ database, name }) => {
    const slow = database.session()
    await slow.create(name, set({ title: 'slow' }))
    const other = create(database, name, { title: 'a' })
    await turns()
    const committed = slow.transaction.commit()
    const third = create(database, name, { title: 'b' })
    await Promise.all([committed, other, third])
    expect(await titles(database.session(), name)).toEqual(['a', 'b', 'slow'])
  })

  it('two that change one document come one after the other, on the newest version', async ({
    database,
    name,
  }) => {
    const guid = await create(database, name, { n: 0 })
    const [first, second, third] = [database.session(), database.session(), database.session()]
    await first.update(name, guid, add(1))
    const waiting = [second, third].map(async (session, index) =>
      session.update(name, guid, add(index === 0 ? 10 : 100)),
    )
    await turns()
    // An engine may group commits, so one of them may have to wait for the next writer.
    const ended = [
      first.transaction.commit(),
      waiting[0]?.then(() => second.transaction.rollback()),
      waiting[1]?.then(() => third.transaction.commit()),
    ]
    await Promise.all(ended)
    expect(await stored(database, name, guid)).toEqual({ n: 101 })
  })

  it('a write that finds nothing does not keep others from writing', async ({ database, name }) => {
    const session = database.session()
    const written = await session.update(name, 'nobody', set({ a: 1 }))
    expect(written.outcome).toBe('not_found')
    expect(session.transaction.hasWritten).toBe(false)
    const guid = await create(database, name, { a: 1 })
    expect(bodyOf(await session.get(name, guid))).toEqual({ a: 1 })
    await session.transaction.commit()
  })

  it('many sessions at once, some rolled back, leave exactly the committed ones', async ({
    database,
    name,
  }) => {
    const results = await Promise.allSettled(
      Array.from({ length: 60 }, (_, index) =>
        transact(database, async (session) => {
          await session.create(name, set({ title: `a${index}` }))
          if (index % 3 === 1) await turns()
          await session.create(name, set({ title: `b${index}` }))
          if (index % 4 === 0) throw new RangeError('no')
        }),
      ),
    )
    const expected = results.flatMap(({ status }, index) =>
      status === 'fulfilled' ? [`a${index}`, `b${index}`] : [],
    )
    expect(expected.length).toBe(90)
    const found = await database.session().find(name, search({ limit: 1000 }))
    const documents = found.documents.value
    if (!Array.isArray(documents)) throw new TypeError('A search gives an array.')
    expect(documents.map((document: { title: string }) => document.title).toSorted()).toEqual(
      expected.toSorted(),
    )
  })
}
