/** Searches while documents are changed all the time: each shows one moment, its total included. */
import { expect } from 'vitest'
import type { Query, Search } from '../../src/shared/query.ts'
import { search } from '../../src/shared/query.ts'
import { documentsOf, findWithTotal } from '../../src/storage/find-documents.ts'
import { transact } from '../../src/storage/transact.ts'
import { create, set, turns } from './expectations.ts'
import type { It, World } from './world.ts'

const DOCUMENTS = 8
const LISTS = 15

const word = (field: string, text = 'bolt'): Query => ({ kind: 'simple_query_string', fields: [field], text })
const either: Query = { kind: 'or', queries: [word('first'), word('second')] }
const filter = (query: Query): Query => ({ kind: 'filter', query })
const byGuid: Partial<Search> = { sort: [{ field: '_meta.guid', order: 'asc', missing: 'last' }] }

/** Of the eight documents, each holds `bolt` in exactly one of two fields at every moment. */
const lists: readonly (readonly [
  string,
  Partial<Search>,
  (firsts: readonly unknown[], total: number) => unknown,
  unknown,
])[] = [
  [
    'all match in one of two fields',
    { query: filter(either), ...byGuid },
    (firsts, total) => [firsts.length, total],
    [8, 8],
  ],
  [
    'the first page and the total',
    { query: filter(either), ...byGuid, limit: 3 },
    (firsts, total) => [firsts.length, total],
    [3, 8],
  ],
  ['all, ranked', { query: either }, (firsts, total) => [firsts.length, total], [8, 8]],
  [
    'all, with a misspelling',
    { query: filter({ ...either, queries: [word('first', 'bolz~1'), word('second', 'bolz~1')] }) },
    (firsts) => firsts.length,
    8,
  ],
  [
    'no document that does not match',
    { query: filter(word('first')) },
    (firsts) => firsts.filter((first) => first !== 'bolt'),
    [],
  ],
]

/** Does the writes over and over until the work is done. */
async function whileWriting(writes: readonly (() => Promise<unknown>)[], work: () => Promise<void>) {
  let over = false
  const writers = writes.map(async (write) => {
    while (!over) {
      await write()
      await turns()
    }
  })
  try {
    await work()
  } finally {
    over = true
    await Promise.all(writers)
  }
}

async function textStorm({ database, name }: World): Promise<void> {
  const guids: string[] = []
  for (let n = 0; n < DOCUMENTS; n++)
    guids.push(await create(database, name, { first: 'bolt', second: 'nut' }))
  let turn = 0
  const swap = () => {
    const turned = Math.floor(turn / DOCUMENTS) % 2 === 0
    const guid = guids[turn++ % DOCUMENTS] ?? ''
    const fields = turned ? { first: 'nut', second: 'bolt' } : { first: 'bolt', second: 'nut' }
    return transact(database, (session) => session.update(name, guid, set(fields)))
  }
  await whileWriting([swap, swap], async () => {
    for (let n = 0; n < LISTS; n++)
      for (const [title, requested, seen, expected] of lists) {
        await turns()
        const { found, total } = await findWithTotal(database.session(), name, search(requested))
        const firsts = documentsOf(found).map(({ first }) => first ?? null)
        expect(seen(firsts, total), title).toEqual(expected)
      }
  })
  expect(turn).toBeGreaterThan(DOCUMENTS)
}

export function searchStormChapter(it: It): void {
  it('a search by text in fields sees one moment', textStorm)

  it('the same with an index of free text', async (world) => {
    await world.database.ensure(world.name, { text: true })
    await textStorm(world)
  })

  it('a search by text in fields sees what its own session has written, and no other does', async ({
    database,
    name,
  }) => {
    const guid = await create(database, name, { first: 'nut' })
    const session = database.session()
    await session.update(name, guid, set({ first: 'bolt' }))
    const requested = search({ query: word('first') })
    expect((await findWithTotal(session, name, requested)).total).toBe(1)
    expect((await findWithTotal(database.session(), name, requested)).total).toBe(0)
    await session.transaction.rollback()
    expect((await findWithTotal(session, name, requested)).total).toBe(0)
  })

  it('a page and its total are of one moment', async ({ database, name }) => {
    await create(database, name, { state: 'open' })
    const guids = [
      await create(database, name, { state: 'done' }),
      await create(database, name, { state: 'done' }),
    ]
    let turn = 0
    const toggle = () =>
      transact(database, async (session) => {
        const state = turn++ % 2 === 0 ? 'open' : 'done'
        for (const guid of guids) await session.update(name, guid, set({ state }))
      })
    const requested = search({ query: { kind: 'term', field: 'state', value: 'open' }, limit: 2 })
    await whileWriting([toggle], async () => {
      for (let n = 0; n < LISTS * 10; n++) {
        await turns()
        const { found, total } = await findWithTotal(database.session(), name, requested)
        expect([
          [1, 1],
          [2, 3],
        ]).toContainEqual([found.length, total])
      }
    })
    expect(turn).toBeGreaterThan(1)
  })
}
