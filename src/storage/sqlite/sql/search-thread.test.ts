/** Searches that look at too much for a turn of the event loop: where they run, what they see, and that they are refused. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { metaOf, set } from '../../../../test/conformance/expectations.ts'
import { searchDocuments } from '../../../../test/conformance/order-documents.ts'
import { openSqliteWorld, type SqliteWorld } from '../../../../test/sqlite-world.ts'
import { guardTurns, LONGEST_TURN_MS } from '../../../../test/turn-guard.ts'
import { matchAll, type Query, type Search, search } from '../../../shared/query.ts'
import { createAll } from '../../create-all.ts'
import type { Session } from '../../database.ts'
import { documentsOf, findWithTotal } from '../../find-documents.ts'
import { candidatesOf } from '../../ranking/text-candidates.ts'
import { EFFORT_OF_A_SEARCH } from '../../search/search-effort.ts'
import { followWrites } from '../core/sqlite-catalogue.ts'
import { readWords } from '../text/ranked-words.ts'

/** More than are searched in a turn. */
const MANY = 2_200

let world: SqliteWorld

beforeAll(async () => {
  world = await openSqliteWorld()
  await fill('indexed', true)
  await fill('plain', false)
})
afterAll(() => world.close())

const names = ['ant', 'bee', 'cat', 'dog', 'emu', 'fox', 'gnu']

async function fill(name: string, text: boolean): Promise<void> {
  await world.database.ensure(name, { text })
  const session = world.database.session()
  const documents = Array.from({ length: MANY }, (_, n) => ({
    mutations: set({
      n,
      name: `${names[n % 7]} ${names[(n * 3) % 5]}${n % 50} all`,
      note: Array.from({ length: n % 9 }, (_, at) => names[(n + at * at) % 7]).join(' '),
    }),
  }))
  await createAll(session, name, documents)
  await session.transaction.commit()
}

const text = (words: string, ...fields: string[]): Query => ({
  kind: 'simple_query_string',
  fields,
  text: words,
})

async function expectSame(session: Session, name: string, changes: Partial<Search>): Promise<void> {
  const everything = search({ limit: 10_000, includeRemoved: true })
  const all = documentsOf(await session.find(name, everything))
  const requested = search(changes)
  const { found, total } = await findWithTotal(session, name, requested)
  const expected = searchDocuments(all, requested)
  expect(documentsOf(found).map((document) => document.n)).toEqual(expected.map((document) => document.n))
  const counted = searchDocuments(all, search({ ...changes, limit: 10_000, offset: 0 })).length
  expect([total, await session.count(name, requested.query)]).toEqual([counted, counted])
}

test('a page of a storage with long documents is read in the thread, and one of few documents is not, whatever its limit is', async () => {
  const { database } = world
  await database.ensure('long')
  const session = database.session()
  for (let n = 0; n < 30; n++)
    await session.create('long', set({ n, note: 'x'.repeat(n < 28 ? 100_000 : 1) }))
  await session.transaction.commit()
  const find = (changes: Partial<Search>) => database.session().find('long', search(changes))
  const isAside = (found: unknown) => found instanceof Promise
  // Nothing is known of its documents before one of its pages was read, and reading the first one ends when it is too long.
  for (const offset of [2, 3]) {
    const long = find({ limit: 20, offset })
    expect(isAside(long)).toBe(true)
    expect(documentsOf(await long)).toHaveLength(20)
  }
  const few: Query = { kind: 'range', field: 'n', bounds: { gte: 28 } }
  const page = find({ query: few, limit: 10_000 })
  expect([isAside(page), documentsOf(await page).length]).toEqual([false, 2])
  expect(isAside(find({ limit: 5 }))).toBe(false)
  // What a session has written itself only its own connection sees.
  const writing = database.session()
  await writing.create('long', set({ n: 30, note: 'own' }))
  expect((await writing.find('long', search({ limit: 20, offset: 20 }))).length).toBe(11)
  await writing.transaction.rollback()
})

test('documents that no index narrows are passed over in the thread, where they are many', async () => {
  const { database } = world
  for (const name of ['passed', 'other']) await database.ensure(name)
  const session = database.session()
  const documents = Array.from({ length: 1_200 }, (_, n) => ({
    mutations: set({ n, tags: [`t${n % 3}`], note: 'x'.repeat(10_000) }),
  }))
  await createAll(session, 'passed', documents)
  await session.transaction.commit()
  const one: Query = { kind: 'term', field: 'n', value: 5 }
  const tagged: Query = { kind: 'term', field: 'tags', value: 't1' }
  const counted = (from: Session, query: Query) => {
    const count = from.count('passed', query)
    return [count instanceof Promise, count] as const
  }
  for (const [query, total] of [
    [one, 1],
    [tagged, 400],
    [{ kind: 'not', query: tagged }, 800],
  ] as const) {
    const [isAside, count] = counted(database.session(), query)
    expect([isAside, await count]).toEqual([true, total])
  }
  // The first five are found soon.
  const soon = database.session().find('passed', search({ query: tagged, limit: 5 }))
  expect([soon instanceof Promise, (await soon).length]).toEqual([false, 5])
  // Only its own connection sees what a session has written: it is not refused, and finds it here.
  const writing = database.session()
  await writing.create('passed', set({ n: 5 }))
  expect(counted(writing, one)).toEqual([false, 2])
  await writing.transaction.rollback()
  await writing.create('other', set({ n: 5 }))
  const [isAside, count] = counted(writing, { ...one, value: 6 })
  expect([isAside, await count]).toEqual([true, 1])
  await writing.transaction.rollback()
  await database.ensure('passed', { indexes: [{ fields: ['n'] }] })
  expect(counted(database.session(), { ...one, value: 7 })).toEqual([false, 1])
})

test('what leads through a reference is found in the thread by what the other storage holds', async () => {
  const { database, parts } = world
  for (const name of ['owners', 'owned']) await database.ensure(name)
  const session = database.session()
  const owners = ['ann', 'bob'].map(
    async (name) => metaOf(await session.create('owners', set({ name }))).guid,
  )
  for (const owner of await Promise.all(owners))
    for (const n of [1, 2]) await session.create('owned', set({ owner, n }))
  await session.transaction.commit()
  const named = (value: string): Query => ({
    kind: 'through',
    ...{ field: 'owner', storage: 'owners', query: { kind: 'term', field: 'name', value } },
  })
  const count = (query: Query) =>
    parts.thread.count({ storage: 'owned', query, includeRemoved: false, effort: EFFORT_OF_A_SEARCH })
  expect((await count(named('ann'))).total).toBe(2)
  expect((await count({ kind: 'or', queries: [named('ann'), named('bob')] })).total).toBe(4)
  expect((await count(named('eve'))).total).toBe(0)
  await expect(
    parts.thread.count({ storage: 'none', query: matchAll, includeRemoved: false, effort: 1 }),
  ).rejects.toMatchObject({
    code: 'INTERNAL',
  })
})

describe.each(['indexed', 'plain'])('%s documents, as the reference finds them', (name) => {
  test.each<[string, Partial<Search>]>([
    ['a word', { query: text('bee') }],
    ['a word that all have', { query: text('all'), limit: 5, offset: 700 }],
    ['misspelled words', { query: text('cas~1 | emo~2 | fux1~2') }],
    ['misspelled words in a field', { query: text('dig~1 all', 'name') }],
    ['beginnings of words', { query: text('a* b* -c1*') }],
    ['a phrase', { query: text('"cat dog"') }],
    ['a phrase with gaps', { query: text('"gnu ant bee"~9', 'note') }],
    ['what lacks a word', { query: text('-ant', 'note'), limit: 50 }],
    [
      'in another order',
      { query: text('fox~1', 'name'), sort: [{ field: 'n', order: 'desc', missing: 'last' }] },
    ],
    [
      'beside something else',
      { query: { kind: 'or', queries: [text('gnu', 'note'), { kind: 'term', field: 'n', value: 5 }] } },
    ],
  ])('%s', async (_name, changes) => {
    await expectSame(world.database.session(), name, changes)
  })
})

describe('what a search in the thread sees', () => {
  const slow = search({ query: text('"zebra zebu"~5 | zebro~2', 'note'), limit: 3 })

  test('what was acknowledged before, also by another session', async () => {
    const { database } = world
    const session = database.session()
    const { guid } = metaOf(await session.create('plain', set({ n: -1, note: 'zebra' })))
    await session.transaction.commit()
    expect((await database.session().find('plain', slow)).length).toBe(1)
    await session.delete('plain', guid)
    await session.transaction.commit()
    expect((await database.session().find('plain', slow)).length).toBe(0)
  })

  test('one moment, for the page and the total', async () => {
    const { database } = world
    const session = database.session()
    let ended = false
    const writing = (async () => {
      for (let round = 0; round < 40; round++) {
        const first = metaOf(await session.create('plain', set({ n: -1, note: 'zebra' }))).guid
        const second = metaOf(await session.create('plain', set({ n: -1, note: 'zebra' }))).guid
        await session.transaction.commit()
        await session.delete('plain', first)
        await session.delete('plain', second)
        await session.transaction.commit()
      }
      ended = true
    })()
    const seen = new Set<string>()
    const all = search({ ...slow, limit: 1 })
    while (!ended) {
      const both = await findWithTotal(database.session(), 'plain', all)
      seen.add(`${both.found.length} of ${both.total}`)
    }
    await writing
    expect([...seen].filter((one) => one !== '0 of 0' && one !== '1 of 2')).toEqual([])
  })

  test('a result is kept until something is written, and then no longer', async () => {
    const { database } = world
    const session = database.session()
    const asked = () => session.find('plain', search({ ...slow, limit: 7 }))
    expect(asked()).toBeInstanceOf(Promise)
    await asked()
    expect(asked()).not.toBeInstanceOf(Promise)
    const { guid } = metaOf(await session.create('plain', set({ n: -1, note: 'zebra' })))
    await session.transaction.commit()
    expect((await asked()).length).toBe(1)
    await session.delete('plain', guid)
    await session.transaction.commit()
    expect((await asked()).length).toBe(0)
  })

  describe('a count is kept, alone or beside a page', () => {
    // In all text of a storage without an index of it. The words of one field are read in the turn of the first search that
    // names it, for 10 ms of the clock: a process that has compiled this path reads those of all documents in time.
    const alone = search({ query: text('"zebra zebu"~6 | zebro~2') })
    const beside = search({ query: text('"zebra zebu"~7 | zebro~2') })
    const zebra = (session: Session, name: string) => session.create(name, set({ n: -1, note: 'zebra' }))
    const kept = (name: string) => {
      const entry = world.parts.catalogue.entry(name)
      followWrites(world.parts, entry)
      return [alone, beside].map((one) => entry.counts?.known(one))
    }
    /** In the search thread. */
    const ask = async (name: string) => {
      const session = world.database.session()
      const count = session.count(name, alone.query)
      expect(count).toBeInstanceOf(Promise)
      return [await count, (await findWithTotal(session, name, beside)).total]
    }

    test('and corrected by what is written', async () => {
      await fill('counted', false)
      expect(await ask('counted')).toEqual([0, 0])
      expect(kept('counted')).toEqual([0, 0])
      const session = world.database.session()
      await zebra(session, 'counted')
      await session.transaction.commit()
      expect(kept('counted')).toEqual([1, 1])
    })

    test('but not while the cache is behind what is committed', async () => {
      await fill('behind', false)
      expect(kept('behind')).toEqual([undefined, undefined])
      const [session, other] = [world.database.session(), world.database.session()]
      // After the second commit without a search in between the cache is not checked, and then another one writes.
      for (const _ of [1, 2]) {
        await zebra(session, 'behind')
        await session.transaction.commit()
      }
      await zebra(other, 'behind')
      expect(await ask('behind')).toEqual([2, 2])
      expect(kept('behind')).toEqual([undefined, undefined])
      await other.transaction.rollback()
    })
  })

  test('in a transaction: other storages as they are committed, its own as it wrote it or not at all', async () => {
    const { database } = world
    await database.ensure('small')
    const session = database.session()
    await session.create('small', set({ note: 'zebra' }))
    expect((await session.find('small', slow)).length).toBe(1)
    expect((await session.find('plain', slow)).length).toBe(0)
    await session.create('plain', set({ n: -1, note: 'zebra' }))
    expect((await session.find('plain', slow)).length).toBe(1)
    const words = search({ query: text(Array.from({ length: 60 }, (_, n) => `yak${n}`).join('|')) })
    expect(() => session.find('plain', words)).toThrow(
      expect.objectContaining({
        code: 'SEARCH_TOO_COSTLY',
        message: expect.stringContaining('has written to plain'),
      }),
    )
    await session.transaction.rollback()
    expect((await session.find('plain', slow)).length).toBe(0)
  })

  async function postings() {
    const { database, parts } = world
    for (;;) {
      const { postings: read } = parts.catalogue.entry('indexed')
      if (read?.complete) return read
      await database.session().find('indexed', search({ query: text('all'), limit: 1 }))
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  test.each([
    ['gnu*', { tokens: ['gnu'], prefix: true }],
    ['"gnu gnus*"', { tokens: ['gnu', 'gnus'], prefix: true }],
  ])(
    'words that it reads for the memory of this process are right, whatever is written meanwhile: %s',
    async (words, phrase) => {
      const { database, parts } = world
      const read = await postings()
      const writer = database.session()
      const requested = { query: text(words), limit: 40 }
      // Written and not committed when the thread reads; and, when it has read, changed and brought in by another search.
      const { guid } = metaOf(await writer.create('indexed', set({ n: -1, note: 'gnu gnus gnus' })))
      const thread = {
        places: async (task: Parameters<typeof parts.thread.places>[0]) => {
          const answer = await parts.thread.places(task)
          await writer.create('indexed', set({ n: -2, note: 'gnu gnus gnu gnus' }))
          await writer.transaction.commit()
          await writer.delete('indexed', guid)
          await writer.transaction.commit()
          await database.session().find('indexed', search({ query: text('ant') }))
          return answer
        },
      }
      await read.expectPlaces(thread, phrase)
      await expectSame(database.session(), 'indexed', requested)
    },
  )

  test('a word that a turn was too short for is read for the next search, a phrase when it is missed again', async () => {
    const { reader, thread } = world.parts
    const read = await postings()
    read.settle(reader, true)
    const asked: string[][] = []
    const reading = {
      similar: thread.similar.bind(thread),
      places: (task: Parameters<typeof thread.places>[0]) => {
        asked.push([...task.phrase.tokens])
        return thread.places(task)
      },
    }
    const miss = async (...tokens: string[]) => {
      expect(() => reader.within(300, () => read.of(reader, { tokens, prefix: false }))).toThrow(
        'looks at more',
      )
      await read.readMissing(reading)
    }
    await miss('fox')
    expect(asked).toEqual([['fox']])
    await miss('bee', 'dog')
    expect(asked).toHaveLength(1)
    await miss('bee', 'dog')
    expect(asked).toEqual([['fox'], ['bee', 'dog']])
    for (const tokens of [['fox'], ['bee', 'dog']])
      reader.within(0, () => read.of(reader, { tokens, prefix: false }))
  })

  /** They were once read one for each search that missed one, so that the fortieth search was the first to be fast. */
  test('all words that a misspelled one may be are read for the next search, once', async () => {
    const { reader, thread } = world.parts
    const read = await postings()
    read.settle(reader, true)
    const similar = ['cat', 'dog', 'emu']
    read.of(reader, { tokens: ['cat'], prefix: false })
    const words = { ...readWords(reader, read), similarTo: () => new Set(similar) }
    const find = () => candidatesOf(words, { kind: 'fuzzy', token: 'x', distance: 1 }, true)
    expect(() => reader.within(300, find)).toThrow('looks at more')
    const asked: string[] = []
    await read.readMissing({
      similar: thread.similar.bind(thread),
      places: (task) => {
        asked.push(...task.phrase.tokens)
        return thread.places(task)
      },
    })
    expect(asked).toEqual(['dog', 'emu'])
    expect(reader.within(300, find)?.rows.length).toBeGreaterThan(0)
  })
})

test('more searches than may wait are refused, and so is what looks at too much', async () => {
  const { database } = world
  const session = database.session()
  const long = `"${Array.from({ length: 300 }, (_, n) => names[n % 7]).join(' ')}"~50`
  const tooMuch = session.find(
    'plain',
    search({ query: text(Array(8).fill(long).join('|').slice(0, 3_900)) }),
  )
  const outcomes = await Promise.allSettled([
    tooMuch,
    ...Array.from({ length: 20 }, (_, n) =>
      session.find('plain', search({ query: text(`yak${n}~2`), limit: n })),
    ),
  ])
  const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [String(one.reason.message)] : []))
  expect(refused.filter((message) => message.startsWith('Too many slow searches'))).toHaveLength(4)
  expect(await session.count('plain', matchAll)).toBe(MANY)
})

test('no search takes a long turn', async () => {
  const guard = guardTurns()
  const session = world.database.session()
  for (const [at, query] of ['yaks~2', 'y*', '"all ant1"~9', 'all'].entries()) {
    await guard.longest()
    await session.find('plain', search({ query: text(query), limit: 100 + at }))
    await session.count('indexed', text(`${query} x${at}`, 'note'))
    expect(await guard.longest()).toBeLessThan(LONGEST_TURN_MS)
  }
  guard.stop()
})
