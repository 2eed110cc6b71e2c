/** Units of work: what a session has read still holds when it writes, or it hears of it and stores nothing. */
import { expect } from 'vitest'
import { matchAll, search } from '../../src/shared/query.ts'
import type { Database, Session } from '../../src/storage/database.ts'
import { ALONE_FROM, SerializationConflict } from '../../src/storage/unit-of-work.ts'
import { bodyOf, create, set, turns } from './expectations.ts'
import type { It } from './world.ts'

const counted = {
  query: matchAll,
  groups: [],
  values: [{ figure: 'count', as: 'n' }],
  order: [],
  limit: 1,
} as const

type Read = (session: Session, name: string, guid: string) => unknown

const reads: readonly [string, Read][] = [
  ['a document', (session, name, guid) => session.get(name, guid)],
  ['a search', (session, name) => session.find(name, search({}))],
  ['a count', (session, name) => session.count(name, matchAll)],
  ['an aggregate', (session, name) => session.aggregate(name, counted)],
]

const unitOn = (database: Database, attempt = 1) => database.session({ unit: { attempt } })

async function outcome(work: () => unknown): Promise<string> {
  try {
    await work()
    return 'stored'
  } catch (error) {
    if (error instanceof SerializationConflict) return 'conflict'
    throw error
  }
}

/** Both read, then both write and commit, one after the other. How each ended. */
async function race(
  one: Session,
  two: Session,
  read: Read,
  write: Read,
  at: readonly [string, string, string],
) {
  const [name, first, second] = at
  await read(one, name, first)
  await read(two, name, first)
  const ends: string[] = []
  for (const [session, guid] of [
    [one, first],
    [two, second],
  ] as const) {
    ends.push(
      await outcome(async () => {
        await write(session, name, guid)
        await session.transaction.commit()
      }),
    )
    await session.transaction.rollback()
  }
  return ends
}

const change: Read = (session, name, guid) => session.update(name, guid, set({ by: 'one' }))

export function unitChapter(it: It): void {
  for (const [what, read] of reads)
    it(`a unit is refused when another has changed what it has read: ${what}`, async ({ database, name }) => {
      const guid = await create(database, name, { by: 'none' })
      const [one, two] = [unitOn(database), unitOn(database)]
      expect(await race(one, two, read, change, [name, guid, guid])).toEqual(['stored', 'conflict'])
      // Tried once more it sees the change, and nothing is in its way.
      const again = unitOn(database, 2)
      expect(bodyOf(await again.get(name, guid))).toEqual({ by: 'one' })
      await again.update(name, guid, set({ by: 'two' }))
      await again.transaction.commit()
      expect(bodyOf(await database.session().get(name, guid))).toEqual({ by: 'two' })
    })

  it('of two units that read both documents and change one each, one is refused', async ({
    database,
    name,
  }) => {
    const guids = [await create(database, name, { n: 1 }), await create(database, name, { n: 1 })] as const
    const read: Read = (session) => session.find(name, search({}))
    const ends = await race(unitOn(database), unitOn(database), read, change, [name, ...guids])
    expect(ends).toEqual(['stored', 'conflict'])
  })

  it('of two units that found nothing and create the same, one is refused', async ({ database, name }) => {
    const read: Read = (session) => session.find(name, search({}))
    const write: Read = (session) => session.create(name, set({ key: 'a' }))
    const ends = await race(unitOn(database), unitOn(database), read, write, [name, '', ''])
    expect(ends).toEqual(['stored', 'conflict'])
    expect(await database.session().count(name, matchAll)).toBe(1)
  })

  it('control: sessions that are no units overwrite each other, and create the same twice', async ({
    database,
    name,
  }) => {
    const guid = await create(database, name, { by: 'none' })
    const plain = () => database.session()
    const get: Read = (session) => session.get(name, guid)
    expect(await race(plain(), plain(), get, change, [name, guid, guid])).toEqual(['stored', 'stored'])
    const make: Read = (session) => session.create(name, set({ key: 'a' }))
    expect(await race(plain(), plain(), get, make, [name, guid, guid])).toEqual(['stored', 'stored'])
    expect(await database.session().count(name, matchAll)).toBe(3)
  })

  it('units that only read, read elsewhere, or come one after the other are not refused', async ({
    database,
    name,
  }) => {
    const guid = await create(database, name, { by: 'none' })
    const other = `${name}_other`
    await database.ensure(other)
    const reader = unitOn(database)
    const elsewhere = unitOn(database)
    await reader.get(name, guid)
    await elsewhere.count(other, matchAll)
    const writer = unitOn(database)
    await writer.get(name, guid)
    await writer.update(name, guid, set({ by: 'one' }))
    await writer.update(name, guid, set({ by: 'two' }))
    await writer.transaction.commit()
    await elsewhere.create(other, set({ n: 1 }))
    await elsewhere.transaction.commit()
    await reader.transaction.commit()
    expect(bodyOf(await database.session().get(name, guid))).toEqual({ by: 'two' })
    expect(await database.session().count(other, matchAll)).toBe(1)
  })

  it('what a session reads and writes after its first commit is no unit: it cannot be done once more', async ({
    database,
    name,
  }) => {
    const guid = await create(database, name, { by: 'none' })
    const [one, two] = [unitOn(database), unitOn(database)]
    for (const session of [one, two]) {
      await session.get(name, guid)
      await session.transaction.commit()
    }
    const get: Read = (session) => session.get(name, guid)
    expect(await race(one, two, get, change, [name, guid, guid])).toEqual(['stored', 'stored'])
  })

  it('a unit that was refused is the only one when it begins once more', async ({ database, name }) => {
    const guid = await create(database, name, { by: 'none' })
    const alone = unitOn(database, ALONE_FROM)
    await alone.get(name, guid)
    const other = unitOn(database)
    let isOver = false
    const waiting = (async () => {
      await other.update(name, guid, set({ by: 'other' }))
      isOver = true
      await other.transaction.commit()
    })()
    await turns()
    expect(isOver).toBe(false)
    await alone.update(name, guid, set({ by: 'alone' }))
    await alone.transaction.commit()
    await waiting
    expect(bodyOf(await database.session().get(name, guid))).toEqual({ by: 'other' })
  })

  it('what is undone leaves nothing behind', async ({ database, name }) => {
    const guid = await create(database, name, { by: 'none' })
    const unit = unitOn(database)
    await unit.get(name, guid)
    await unit.update(name, guid, set({ by: 'unit' }))
    await unit.transaction.rollback()
    const other = database.session()
    await other.update(name, guid, set({ by: 'other' }))
    await other.transaction.commit()
    expect(bodyOf(await unit.get(name, guid))).toEqual({ by: 'other' })
    await unit.update(name, guid, set({ by: 'unit' }))
    await unit.transaction.commit()
    expect(bodyOf(await database.session().get(name, guid))).toEqual({ by: 'unit' })
  })
}
