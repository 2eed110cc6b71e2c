import { expect } from 'vitest'
import { andThen } from '../../shared/maybe-promise.ts'
import { matchAll, search } from '../../shared/query.ts'
import type { Session } from '../storage.ts'
import { transact } from '../transact.ts'
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
  it('nobody sees what is not committed; the session itself does', async ({ storage, name }) => {
    const guid = await create(storage, name, { title: 'a' })
    const writer = storage.session()
    const reader = storage.session()
    const added = metaOf(await writer.create(name, set({ title: 'b' }))).guid
    await writer.update(name, guid, set({ title: 'c' }))
    expect(await titles(writer, name)).toEqual(['b', 'c'])
    expect(await writer.count(name, matchAll)).toBe(2)
    expect(bodyOf(await writer.get(name, added))).toEqual({ title: 'b' })
    await turns()
    expect([writer.hasWritten, reader.hasWritten]).toEqual([true, false])
    expect(await titles(reader, name)).toEqual(['a'])
    expect(await reader.count(name, matchAll)).toBe(1)
    expect(await reader.get(name, added)).toBeUndefined()
    expect(bodyOf(await reader.get(name, guid))).toEqual({ title: 'a' })
    await writer.commit()
    expect(writer.hasWritten).toBe(false)
    expect(await titles(reader, name)).toEqual(['b', 'c'])
  })

  it('observers are told of each write, and what they write stands or falls with it', async ({
    storage,
    name,
  }) => {
    const told: unknown[] = []
    const log = `${name}_log`
    await storage.ensure(log)
    const end = storage.observe(name, (session, change) => {
      told.push([change.kind, bodyOf(change.before), bodyOf(change.after), session.origin.user?.username])
      return andThen(session.create(log, set({ kind: change.kind })), () => undefined)
    })
    const by = { user: { guid: 'g', username: 'ada' } }
    const guid = await transact(
      storage,
      async (session) => {
        const made = metaOf(await session.create(name, set({ n: 1 }))).guid
        await session.update(name, made, set({ n: 2 }))
        return made
      },
      by,
    )
    await transact(storage, (session) => session.remove(name, guid), by)
    await transact(storage, (session) => session.restore(name, guid), by)
    await transact(storage, (session) => session.delete(name, guid))
    await transact(storage, (session) => session.update(name, guid, set({ n: 3 })))
    expect(told).toEqual([
      ['created', undefined, { n: 1 }, 'ada'],
      ['updated', { n: 1 }, { n: 2 }, 'ada'],
      ['removed', { n: 2 }, { n: 2 }, 'ada'],
      ['restored', { n: 2 }, { n: 2 }, 'ada'],
      ['deleted', { n: 2 }, undefined, undefined],
    ])
    expect(await storage.session().count(log, matchAll)).toBe(5)

    const undone = storage.session()
    await undone.create(name, set({ n: 9 }))
    await undone.rollback()
    expect(await storage.session().count(log, matchAll)).toBe(5)
    end()
    await create(storage, name, { n: 10 })
    expect(await storage.session().count(log, matchAll)).toBe(5)
  })

  it('what an observer throws, the write throws, and the transaction leaves nothing', async ({
    storage,
    name,
  }) => {
    const end = storage.observe(name, () => {
      throw new Error('refused by the observer')
    })
    await expect(transact(storage, (session) => session.create(name, set({ n: 1 })))).rejects.toThrow(
      'refused by',
    )
    end()
    expect(await storage.session().count(name, matchAll)).toBe(0)
  })

  it('rollback leaves nothing, and the session can be used again', async ({ storage, name }) => {
    const guid = await create(storage, name, { title: 'a' })
    const session = storage.session()
    await session.create(name, set({ title: 'b' }))
    await session.remove(name, guid)
    expect(await titles(session, name)).toEqual(['b'])
    await session.rollback()
    expect(session.hasWritten).toBe(false)
    expect(await titles(session, name)).toEqual(['a'])
    await session.create(name, set({ title: 'c' }))
    await session.commit()
    await session.rollback()
    expect(await titles(storage.session(), name)).toEqual(['a', 'c'])
  })

  it('commit has nothing to wait for when nothing was written', async ({ storage, name }) => {
    const session = storage.session()
    expect(session.commit()).toBeUndefined()
    await session.find(name, search())
    expect(session.commit()).toBeUndefined()
    await session.rollback()
  })

  it('one commit writes several documents and storages together', async ({ storage, name }) => {
    const other = `${name}_b`
    await storage.ensure(other)
    await failure('INTERNAL', () =>
      transact(storage, async (session) => {
        await session.create(name, set({ title: 'a' }))
        await session.create(other, set({ title: 'b' }))
        await session.create('nothing_of_the_kind', [])
      }),
    )
    expect(await titles(storage.session(), name)).toEqual([])
    expect(await titles(storage.session(), other)).toEqual([])
    await transact(storage, async (session) => {
      await session.create(name, set({ title: 'a' }))
      await session.create(other, set({ title: 'b' }))
    })
    expect(await titles(storage.session(), name)).toEqual(['a'])
    expect(await titles(storage.session(), other)).toEqual(['b'])
  })

  it('transact undoes everything when the work throws', async ({ storage, name }) => {
    const work = transact(storage, async (session) => {
      await session.create(name, set({ title: 'a' }))
      await turns()
      throw new RangeError('no')
    })
    await expect(work).rejects.toThrow(RangeError)
    expect(await titles(storage.session(), name)).toEqual([])
    await create(storage, name, { title: 'b' })
    expect(await titles(storage.session(), name)).toEqual(['b'])
  })

  it('a refused write leaves what the session wrote before', async ({ storage, name }) => {
    await storage.ensure(name, { indexes: [{ fields: ['title'], unique: true }] })
    const session = storage.session()
    const guid = metaOf(await session.create(name, set({ title: 'a' }))).guid
    await failure('CONFLICT', () => session.create(name, set({ title: 'a' })))
    await failure('INVALID_BODY', () =>
      session.update(name, guid, [{ op: 'increment', field: 'title', amount: 1 }]),
    )
    await session.create(name, set({ title: 'b' }))
    await session.commit()
    expect(await titles(storage.session(), name)).toEqual(['a', 'b'])
  })

  it('another session may write while one keeps its transaction open; the rollback of one is not the other’s', async ({
    storage,
    name,
  }) => {
    const slow = storage.session()
    await slow.create(name, set({ title: 'slow' }))
    const others = ['a', 'b', 'c'].map((title) => create(storage, name, { title }))
    await turns()
    await slow.create(name, set({ title: 'slow too' }))
    expect(await titles(slow, name)).toEqual(expect.arrayContaining(['slow', 'slow too']))
    await turns()
    await slow.rollback()
    await Promise.all(others)
    expect(await titles(storage.session(), name)).toEqual(['a', 'b', 'c'])
  })

  it('and both stay when both commit', async ({ storage, name }) => {
    const slow = storage.session()
    await slow.create(name, set({ title: 'slow' }))
    const other = create(storage, name, { title: 'a' })
    await turns()
    const committed = slow.commit()
    const third = create(storage, name, { title: 'b' })
    await Promise.all([committed, other, third])
    expect(await titles(storage.session(), name)).toEqual(['a', 'b', 'slow'])
  })

  it('two that change one document come one after the other, on the newest version', async ({
    storage,
    name,
  }) => {
    const guid = await create(storage, name, { n: 0 })
    const [first, second, third] = [storage.session(), storage.session(), storage.session()]
    await first.update(name, guid, add(1))
    const waiting = [second, third].map(async (session, index) =>
      session.update(name, guid, add(index === 0 ? 10 : 100)),
    )
    await turns()
    // An engine may put commits together, so one of them may have to wait for whoever writes next.
    const ended = [
      first.commit(),
      waiting[0]?.then(() => second.rollback()),
      waiting[1]?.then(() => third.commit()),
    ]
    await Promise.all(ended)
    expect(await stored(storage, name, guid)).toEqual({ n: 101 })
  })

  it('a write that finds nothing does not keep others from writing', async ({ storage, name }) => {
    const session = storage.session()
    const written = await session.update(name, 'nobody', set({ a: 1 }))
    expect(written.outcome).toBe('not_found')
    expect(session.hasWritten).toBe(false)
    const guid = await create(storage, name, { a: 1 })
    expect(bodyOf(await session.get(name, guid))).toEqual({ a: 1 })
    await session.commit()
  })

  it('many sessions at once, some rolled back, leave exactly the committed ones', async ({
    storage,
    name,
  }) => {
    const results = await Promise.allSettled(
      Array.from({ length: 60 }, (_, index) =>
        transact(storage, async (session) => {
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
    const found = await storage.session().find(name, search({ limit: 1000 }))
    const documents = found.documents.value
    if (!Array.isArray(documents)) throw new TypeError('A search gives an array.')
    expect(documents.map((document: { title: string }) => document.title).toSorted()).toEqual(
      expected.toSorted(),
    )
  })
}
