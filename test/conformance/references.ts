/** What references need of an engine: documents that stay present, or unreferred, until a session ends. */
import { expect } from 'vitest'
import { matchAll } from '../../src/shared/query.ts'
import type { Session } from '../../src/storage/database.ts'
import { transact } from '../../src/storage/transact.ts'
import { change, create, set, turns } from './expectations.ts'
import type { It } from './world.ts'

const nowhere = '019b76da-a800-7000-8000-000000000000'

export function referenceChapter(it: It): void {
  it('holds documents that are present, of a storage that is there', async ({ database, name }) => {
    const [here, gone] = [await create(database, name, {}), await create(database, name, {})]
    await change(database, (session) => session.setRemoved(name, gone, true))
    for (const use of ['reference', 'removal', 'change'] as const) {
      const session = database.session()
      expect((await session.claims.lockDocuments(name, [here, gone, nowhere], use)).guids).toEqual([here])
      expect((await session.claims.lockDocuments(`${name}_not`, [here], use)).guids).toEqual([])
      await session.transaction.rollback()
    }
  })

  it('commits and undoes a session that has only held, and lets others go on', async ({ database, name }) => {
    const guid = await create(database, name, {})
    for (const end of ['commit', 'rollback'] as const) {
      const session = database.session()
      await session.claims.lockDocuments(name, [guid], 'removal')
      await session.transaction[end]()
      expect((await change(database, (other) => other.update(name, guid, set({ end })))).outcome).toBe(
        'written',
      )
    }
  })

  it('lets a removal wait for the end of a session that holds for a reference', async ({
    database,
    name,
  }) => {
    const guid = await create(database, name, {})
    const session = database.session()
    await session.claims.lockDocuments(name, [guid], 'reference')
    const ends: string[] = []
    const removal = change(database, (other) => other.setRemoved(name, guid, true)).then(({ outcome }) =>
      ends.push(outcome),
    )
    await turns()
    await session.create(name, set({ to: guid }))
    ends.push('held')
    await session.transaction.commit()
    await removal
    expect(ends).toEqual(['held', 'written'])
  })

  it('lets one session at a time hold a document for a change, and shows it what the one before has committed', async ({
    database,
    name,
  }) => {
    const guid = await create(database, name, {})
    const seen: number[] = []
    const work = async (session: Session) => {
      await session.claims.lockDocuments(name, [guid], 'change')
      seen.push(await session.count(name, matchAll))
      await turns()
      await session.create(name, set({ of: guid }))
    }
    await Promise.all([transact(database, work), transact(database, work), transact(database, work)])
    expect(seen).toEqual([1, 2, 3])
  })

  it('finds the present documents that refer to those that are held, at most as many as are asked for', async ({
    database,
    name,
  }) => {
    const [one, two, other] = [
      await create(database, name, {}),
      await create(database, name, {}),
      await create(database, name, {}),
    ]
    const from: string[] = []
    for (const to of [one, one, two, other, [one], { guid: one }, 7, null])
      from.push(await create(database, name, { deep: { to } }))
    const removed = await create(database, name, { deep: { to: one } })
    await change(database, (session) => session.setRemoved(name, removed, true))
    await transact(database, async (session) => {
      const own = await session.create(name, set({ deep: { to: two } }))
      const held = await session.claims.lockDocuments(name, [one, two], 'removal')
      const found = [...(await held.referrers(name, 'deep.to', 10))].sort()
      expect(found).toHaveLength(4)
      expect(found).toEqual(expect.arrayContaining(from.slice(0, 3)))
      expect(own.text).toContain(found.find((guid) => !from.includes(guid)))
      expect(await held.referrers(name, 'deep.to', 2)).toHaveLength(2)
      expect(await held.referrers(`${name}_not`, 'deep.to', 2)).toEqual([])
    })
    expect(await database.session().count(name, matchAll)).toBe(12)
  })
}
