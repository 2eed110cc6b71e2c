/** What happens to words in memory when others write in between, when notes are lost, and when it was not asked for long. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type FullTextFixture, openFullTextFixture } from '../../../../test/postgres/full-text-fixture.ts'
import { setFields } from '../../../shared/mutation.ts'
import { type Query, type Search, search } from '../../../shared/query.ts'
import { createAll } from '../../create-all.ts'
import { documentOf } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import { StoredJson } from '../../stored-json.ts'
import { transact } from '../../transact.ts'
import { TEXT_BOUNDS } from '../sql/text-estimate.ts'

let fixture: FullTextFixture
beforeAll(async () => {
  fixture = await openFullTextFixture()
})
beforeEach(async () => {
  fixture.words.forget()
  fixture.reported.length = 0
  fixture.requested.length = 0
  fixture.fewest = 0
  fixture.bounds = TEXT_BOUNDS
  fixture.beforePage = async () => undefined
  fixture.beforeFetch = async () => undefined
  await fixture.admin.query(`DELETE FROM ${fixture.table}`)
})
afterAll(() => fixture?.close())

const apples = {
  query: { kind: 'simple_query_string', fields: [], text: 'apple' },
  limit: 3,
} as const satisfies Partial<Search>

const eitherWord: Query = { kind: 'simple_query_string', fields: [], text: 'plum | apple' }
const bothWords = (other: Query): Query => ({ kind: 'and', queries: [eitherWord, other] })

async function isInMemory(requested: Partial<Search> = apples): Promise<boolean> {
  const { found, inMemory } = await fixture.ranked(requested)
  expect(found).toBe(await fixture.direct(requested))
  return inMemory
}

/** Three documents; asked until words in memory answer. */
async function filled(): Promise<string> {
  const guid = await fixture.create({ title: 'apple pear' })
  await fixture.create({ title: 'apple' })
  await fixture.create({ title: 'plum' })
  expect([await isInMemory(), await isInMemory()]).toEqual([false, true])
  return guid
}

test.each<[string, Partial<Parameters<FullTextFixture['ranked']>[0]>]>([
  ['removed documents too', { includeRemoved: true }],
  ['another order', { sort: [{ field: 'title', order: 'asc', missing: 'last' }] }],
  ['a named field', { query: { kind: 'simple_query_string', fields: ['title'], text: 'apple' } }],
  ['a misspelled word', { query: { kind: 'simple_query_string', fields: [], text: 'aple~1 -paer~1' } }],
  ['words near each other', { query: { kind: 'simple_query_string', fields: [], text: '"apple pear"~3' } }],
  [
    'text on one side of an or',
    { query: { kind: 'or', queries: [apples.query, { kind: 'exists', field: 'n' }] } },
  ],
  [
    'nothing but what is behind a minus',
    { query: { kind: 'simple_query_string', fields: [], text: '-apple' } },
  ],
  ['a page far behind', { offset: 5_000 }],
])('PostgreSQL ranks where a search asks for %s', async (_, changes) => {
  await filled()
  const requested = { ...apples, ...changes }
  for (let asked = 0; asked < 2; asked++) {
    const { found, inMemory } = await fixture.ranked(requested)
    expect([found, inMemory]).toEqual([await fixture.direct(requested), false])
  }
})

test.each<[string, number, boolean]>([
  ['fewer than 25,000: PostgreSQL ranks', 24_999, false],
  ['25,000: from words in memory', 25_000, true],
  ['more than four million: PostgreSQL ranks', 4_000_001, false],
])('of a storage with so many documents, %s', async (_, documents, isRead) => {
  await fixture.create({ title: 'apple' })
  fixture.fewest = undefined
  const count = 'INSERT INTO text_total (storage, documents, tokens) VALUES ($1, $2, 0)'
  await fixture.admin.query(count, [fixture.entry.id, documents - 1])
  try {
    const asked = []
    for (let time = 0; time < 2; time++) asked.push((await fixture.ranked(apples)).inMemory)
    expect(asked).toEqual([false, isRead])
    // Noting costs each write.
    const isNotTracked = { ...fixture.entry, noted: false }
    fixture.words.forget()
    await fixture.words.find(isNotTracked, search(apples), async () => ({
      documents: new StoredJson('[]'),
      length: 0,
      next: () => undefined,
    }))
    await fixture.words.idle()
    expect(fixture.requested).toEqual(isRead ? [fixture.name] : [])
  } finally {
    await fixture.admin.query(count, [fixture.entry.id, 1 - documents])
  }
})

test('a word that very many documents have is not read into memory, nor the documents for it', async () => {
  for (let n = 0; n < 4; n++) await fixture.create({ title: n === 0 ? 'apple' : 'plum' })
  await fixture.admin.query(`ANALYZE ${fixture.table}`)
  fixture.bounds = { ...TEXT_BOUNDS, frequent: 2 }
  const plum = { ...apples, query: { kind: 'simple_query_string', fields: [], text: 'plum apple' } } as const
  expect([await isInMemory(plum), await isInMemory(plum)]).toEqual([false, false])
  fixture.bounds = TEXT_BOUNDS
  expect([await isInMemory(plum), await isInMemory(plum)]).toEqual([false, true])
})

test('what is written between ranking and the page is seen, and of one moment', async () => {
  const guid = await filled()
  let wrote = 0
  fixture.beforePage = async () => {
    wrote += 1
    await transact(fixture.nodes[1], (session) =>
      session.update(fixture.name, guid, setFields({ title: 'apple apple apple' })),
    )
  }
  const before = await fixture.direct(apples)
  const { found, inMemory } = await fixture.ranked(apples)
  expect(wrote).toBeGreaterThan(0)
  expect([found === before, found, inMemory]).toEqual([false, await fixture.direct(apples), true])
})

test.each<[string, (guid: string) => Promise<unknown>]>([
  ['a new document', () => fixture.create({ title: 'pear pear' }, fixture.nodes[1])],
  [
    'another text',
    (guid) =>
      transact(fixture.nodes[1], (session) =>
        session.update(fixture.name, guid, setFields({ title: 'apple' })),
      ),
  ],
  [
    'a deleted document',
    (guid) => transact(fixture.nodes[1], (session) => session.delete(fixture.name, guid)),
  ],
])(
  'a word that is read while others write follows what they wrote, and others were told of: %s',
  async (_, happen) => {
    const guid = await filled()
    const pears = { query: { kind: 'simple_query_string', fields: [], text: 'pear' }, limit: 3 } as const
    let happened = 0
    fixture.beforeFetch = async () => {
      happened += 1
      await happen(guid)
      // Brings it in, for the words that are there already.
      expect(await fixture.words.find(fixture.entry, search(apples), never)).toBeDefined()
    }
    await fixture.ranked(pears)
    expect(happened).toBe(1)
    expect(await isInMemory(pears)).toBe(true)
  },
)

function never(): never {
  throw new Error('PostgreSQL was asked.')
}

test.each<[string, Partial<Search>]>([
  ['as it is', {}],
  ['on a further page', { offset: 13 }],
  ['beyond what has the rare word', { offset: 35, limit: 10 }],
  ['beside another text', { query: bothWords({ kind: 'simple_query_string', fields: [], text: 'fig' }) }],
  ['beside another condition', { query: bothWords({ kind: 'term', field: 'n', value: 0 }) }],
])('a rare word or a frequent one, %s: as PostgreSQL ranks, without what was removed', async (_, changes) => {
  const documents = Array.from({ length: 1_300 }, (_, n) => ({
    mutations: setFields({
      title: `apple ${n % 40 === 0 ? 'plum '.repeat(1 + (n % 3)) : ''}${n % 11 === 0 ? 'fig' : ''}`,
      n: n % 3,
    }),
  }))
  const { documents: made } = await transact(fixture.nodes[0], (session) =>
    createAll(session, fixture.name, documents),
  )
  const guids = made.map((one) => guidOf(documentOf(one)))
  for (const at of [0, 40, 80, 1_200])
    await transact(fixture.nodes[1], (session) => session.setRemoved(fixture.name, guids[at] ?? '', true))
  const requested = { query: eitherWord, limit: 5, ...changes }
  await fixture.ranked(requested)
  const { found, page, inMemory } = await fixture.ranked(requested)
  const direct = await fixture.direct(requested)
  expect([found, page, inMemory]).toEqual([direct, direct, true])
})

test('filters beside the text: further hits are looked at until the page is full', async () => {
  await transact(fixture.nodes[0], async (session) => {
    for (let n = 0; n < 600; n++)
      await session.create(fixture.name, setFields({ title: 'apple '.repeat(1 + (n % 7)), n: n % 100 }))
  })
  const query: Query = { kind: 'and', queries: [apples.query, { kind: 'term', field: 'n', value: 42 }] }
  expect([await isInMemory({ query, limit: 5 }), await isInMemory({ query, limit: 5 })]).toEqual([
    false,
    true,
  ])
  expect(await isInMemory({ query, limit: 50 })).toBe(true)
})

test('of many that are equally good the newest are shown, in whatever order they were read', async () => {
  await transact(fixture.nodes[0], async (session) => {
    for (let n = 0; n < 60; n++)
      await session.create(fixture.name, setFields({ title: 'apple' }), { cms: 1 + ((n * 37) % 60) })
  })
  expect([await isInMemory(), await isInMemory()]).toEqual([false, true])
  expect(await isInMemory({ ...apples, limit: 7, offset: 2 })).toBe(true)
})

test('all parts of a search are of one moment, also when others catch up in between', async () => {
  const query: Query = { kind: 'and', queries: [apples.query, { kind: 'term', field: 'n', value: 1 }] }
  const requested = { query, limit: 5 }
  const create = (n: number, node = fixture.nodes[0]) =>
    fixture.create({ title: n === 1 ? 'apple pear pear' : 'apple', n }, node)
  const olds: string[] = []
  for (let n = 0; n < 5; n++) olds.push(await create(1))
  for (let n = 0; n < 40; n++) await create(2)
  expect([await isInMemory(requested), await isInMemory(requested)]).toEqual([false, true])
  let pages = 0
  let fresh = ''
  fixture.beforePage = async () => {
    pages += 1
    if (pages === 1) await create(3, fixture.nodes[1])
    // Of the second try, whose state of the database stays as it is.
    if (pages !== 2) return
    await transact(fixture.nodes[1], async (session) => {
      await session.delete(fixture.name, olds[0] ?? '')
      fresh = guidOf(
        documentOf(await session.create(fixture.name, setFields({ title: 'apple pear pear', n: 1 }))),
      )
    })
    expect(await fixture.words.find(fixture.entry, search(apples), never)).toBeDefined()
  }
  const found: { readonly _meta: { readonly guid: string } }[] = JSON.parse(
    (
      await fixture.words
        .find(fixture.entry, search(requested), () => Promise.reject(new Error('asked')))
        .catch(() => fixture.words.find(fixture.entry, search(requested), never))
    ).documents.text,
  )
  const guids = found.map(({ _meta }) => _meta.guid)
  expect(pages).toBeGreaterThan(2)
  expect([guids.length, guids.includes(fresh) !== guids.includes(olds[0] ?? '')]).toEqual([5, true])
})

test.each<[string, () => Promise<unknown>, boolean]>([
  ['many writes', async () => fixture.create({ title: 'apple' }), true],
  [
    'notes that were lost',
    async () => {
      await fixture.admin.query('TRUNCATE noted_write, noted_write_life')
      await fixture.create({ title: 'apple' })
    },
    false,
  ],
  [
    'notes that were lost and begun again',
    async () => {
      await fixture.create({ title: 'apple' })
      await fixture.admin.query('TRUNCATE noted_write, noted_write_life')
      await fixture.admin.query('INSERT INTO noted_write_life DEFAULT VALUES')
    },
    false,
  ],
  [
    'a minute without a question',
    async () => {
      fixture.clocks.passed += 60_000
    },
    false,
  ],
  [
    'a minute in which it was followed',
    async () => {
      fixture.clocks.passed += 50_000
      await fixture.words.follow()
      fixture.clocks.passed += 50_000
      await fixture.create({ title: 'apple' })
    },
    true,
  ],
  [
    'more written than is brought in one by one',
    () =>
      fixture.admin.query(
        `INSERT INTO ${fixture.table} SELECT guid, n, n, 0, 1, json_build_object('_meta', json_build_object('guid', guid), 'title', 'apple'), 'apple:1'::tsvector, 1
          FROM (SELECT n, gen_random_uuid()::text AS guid FROM generate_series(1, 4001) AS n) AS made`,
      ),
    false,
  ],
  [
    'a guid of another kind',
    () =>
      fixture.admin.query(
        `INSERT INTO ${fixture.table} SELECT 'other', 1, 1, 0, 1, '{"_meta":{"guid":"other"},"title":"apple"}', 'apple:1'::tsvector, 1`,
      ),
    false,
  ],
])('after %s', async (_, happen, inMemory) => {
  await filled()
  await happen()
  expect(await isInMemory()).toBe(inMemory)
  // Beginning again waits for some minutes where it was lost.
  expect(await isInMemory()).toBe(inMemory)
  fixture.clocks.passed += 300_001
  await fixture.words.follow()
  expect(fixture.reported).toEqual([])
})

test.each<[string, string, number]>([
  ['a storage that was dropped is lost without a word', 'RENAME TO elsewhere', 0],
  ['what cannot be read for another reason is reported', 'RENAME COLUMN guid TO elsewhere', 1],
])('%s', async (_, change, reports) => {
  await filled()
  await fixture.create({ title: 'apple' }, fixture.nodes[1])
  await fixture.admin.query(`ALTER TABLE ${fixture.table} ${change}`)
  try {
    await fixture.words.follow()
    expect(fixture.reported).toHaveLength(reports)
  } finally {
    await fixture.admin.query(
      change === 'RENAME TO elsewhere'
        ? `ALTER TABLE elsewhere RENAME TO ${fixture.table}`
        : `ALTER TABLE ${fixture.table} RENAME COLUMN elsewhere TO guid`,
    )
  }
})

test('what is forgotten is not read any further', async () => {
  await filled()
  let read = 0
  fixture.beforeFetch = async () => {
    read += 1
    fixture.words.forget()
  }
  const text = ['pear', 'plum', 'fig', 'a'].join(' | ')
  await fixture.ranked({ query: { ...apples.query, text } })
  // A word for the page and one for the total, which are asked for apart.
  expect(read).toBe(2)
})
