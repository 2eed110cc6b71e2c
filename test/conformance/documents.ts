import { expect } from 'vitest'
import { isGuid } from '../../src/shared/guid.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import type { Mutation } from '../../src/shared/mutation.ts'
import type { Query } from '../../src/shared/query.ts'
import { documentOf } from '../../src/storage/database.ts'
import { matches } from '../../src/storage/search/evaluate-query.ts'
import { transact } from '../../src/storage/transact.ts'
import { bodyOf, change, create, failure, metaOf, set, stored } from './expectations.ts'
import type { It } from './world.ts'

const strangers = [
  '',
  'x',
  "' OR 1=1 --",
  '01900000-0000-7000-8000-000000000000',
  '\u{1f600}',
  'x'.repeat(10_000),
]

const mutations: readonly [string, JsonObject, Mutation[], JsonObject][] = [
  ['set adds and replaces', { a: 1 }, set({ a: 'x', b: [1] }), { a: 'x', b: [1] }],
  ['set reaches into objects', { a: { b: 1 } }, set({ 'a.c': 2 }), { a: { b: 1, c: 2 } }],
  ['set makes the objects on the way', {}, set({ 'a.b.c': 1 }), { a: { b: { c: 1 } } }],
  [
    'each sees what the ones before did',
    { a: 1 },
    [
      { op: 'increment', field: 'a', amount: 2 },
      { op: 'set', field: 'b', value: 10 },
      { op: 'increment', field: 'b', amount: -1 },
      { op: 'remove', field: 'a' },
      { op: 'increment', field: 'a', amount: 5 },
    ],
    { a: 5, b: 9 },
  ],
  [
    'increment counts from 0',
    { b: null },
    [
      { op: 'increment', field: 'a', amount: 2 },
      { op: 'increment', field: 'b', amount: 3 },
    ],
    { a: 2, b: 3 },
  ],
  [
    'increment adds the decimals that are written',
    { price: 6.5, tax: 0.1 },
    [
      { op: 'increment', field: 'price', amount: -4.1 },
      { op: 'increment', field: 'tax', amount: 0.2 },
    ],
    { price: 2.4, tax: 0.3 },
  ],
  [
    'remove of nothing is nothing',
    { a: 1 },
    [
      { op: 'remove', field: 'b' },
      { op: 'remove', field: 'c.d' },
    ],
    { a: 1 },
  ],
  ['no mutations keep the document', { a: 1 }, [], { a: 1 }],
]

const refused: readonly [string, Mutation[], string][] = [
  ['a write to _meta', set({ '_meta.guid': 'x' }), '_meta.guid'],
  ['an increment of a text', [{ op: 'increment', field: 'title', amount: 1 }], 'title'],
  [
    'an increment that a whole number could not count',
    [...set({ count: 2 ** 53 - 1 }), { op: 'increment', field: 'count', amount: 1 }],
    'count',
  ],
  [
    'a bad one after a good one',
    [...set({ good: 1 }), { op: 'increment', field: 'title', amount: 1 }],
    'title',
  ],
]

export function documentChapter(it: It): void {
  it('gives a new document its _meta', async ({ database, name, clock }) => {
    clock.now += 1_234
    const document = await transact(database, (session) => session.create(name, set({ a: 1 })))
    const meta = metaOf(document)
    const seconds = Math.floor(clock.now / 1000)
    expect(meta).toEqual({
      guid: expect.toSatisfy(isGuid),
      entity: 1,
      created: seconds,
      updated: seconds,
      cms: clock.now,
      ums: clock.now,
      removed: 0,
      expiry: -1,
      update_hash: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
    expect((await database.session().get(name, meta.guid))?.value).toEqual(document.value)
    const brief = await transact(database, (session) => session.create(name, [], { expiry: 99 }))
    expect(metaOf(brief).expiry).toBe(99)
    expect(bodyOf(brief)).toEqual({})
  })

  it('keeps guids, times and _meta in the order of creation, also when the clock steps back', async (world) => {
    const { database, name, clock } = world
    const metas = await transact(database, async (session) => {
      const made = []
      for (const step of [0, 0, 5, -60_000, 0, 1]) {
        clock.now += step
        made.push(metaOf(await session.create(name, [])))
      }
      return made
    })
    clock.now += 60_000
    const guids = metas.map((meta) => meta.guid)
    expect(guids).toEqual(guids.toSorted())
    const times = metas.map((meta) => meta.cms)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  for (const guid of strangers)
    it(`finds nothing under ${JSON.stringify(guid).slice(0, 40)}`, async ({ database, name }) => {
      const created = await create(database, name, { a: 1 })
      const session = database.session()
      expect(await session.get(name, guid)).toBeUndefined()
      expect(await session.get(name, guid, { removed: true })).toBeUndefined()
      expect(await session.update(name, guid, set({ a: 2 }))).toEqual({ outcome: 'not_found' })
      expect(await session.setRemoved(name, guid, true)).toEqual({ outcome: 'not_found' })
      expect(await session.setRemoved(name, guid, false)).toEqual({ outcome: 'not_found' })
      expect(await session.delete(name, guid)).toEqual({ outcome: 'not_found' })
      await session.transaction.commit()
      expect(await stored(database, name, created)).toEqual({ a: 1 })
    })

  for (const [title, before, changes, after] of mutations)
    it(`mutations: ${title}`, async ({ database, name }) => {
      const guid = await create(database, name, before)
      const written = await change(database, (session) => session.update(name, guid, changes))
      if (written.outcome !== 'written') throw new Error(written.outcome)
      expect(bodyOf(written.document)).toEqual(after)
      expect(await stored(database, name, guid)).toEqual(after)
    })

  for (const [title, changes, field] of refused)
    it(`refuses ${title}`, async ({ database, name }) => {
      const guid = await create(database, name, { title: 'x' })
      const version = database.capabilities.changes.version(name)
      const error = await failure('INVALID_BODY', () =>
        change(database, (session) => session.update(name, guid, changes)),
      )
      expect(error.fields).toEqual([field])
      expect(await stored(database, name, guid)).toEqual({ title: 'x' })
      const fresh = [...set({ title: 'x' }), ...changes]
      await failure('INVALID_BODY', () => transact(database, (session) => session.create(name, fresh)))
      expect(await database.session().count(name, { kind: 'all' })).toBe(1)
      expect(database.capabilities.changes.version(name)).toBe(version)
    })

  it('takes a guid and a time of creation from outside, once', async ({ database, name, clock }) => {
    const input = { guid: '01900000-0000-7000-8000-00000000000a', cms: Date.UTC(2020, 1, 2), expiry: 5 }
    const created = await transact(database, (session) => session.create(name, set({ a: 1 }), input))
    expect(metaOf(created)).toMatchObject({ ...input, created: input.cms / 1000, updated: input.cms / 1000 })
    await change(database, (session) => session.setRemoved(name, input.guid, true))
    const session = database.session()
    const other = metaOf(await session.create(name, set({ a: 2 }), { cms: clock.now - 1_000 }))
    expect([isGuid(other.guid), other.cms, other.expiry]).toEqual([true, clock.now - 1_000, -1])
    // Also where the document is only hidden; and the session goes on as after every refusal.
    await failure('CONFLICT', () => session.create(name, set({ a: 3 }), input))
    await session.transaction.commit()
    expect(await stored(database, name, other.guid)).toEqual({ a: 2 })
    expect(await database.session().count(name, { kind: 'all' }, true)).toBe(2)
  })

  it('refuses a document of more than 10,000 fields at any depth', async ({ database, name }) => {
    const wide = (length: number) => Object.fromEntries(Array.from({ length }, (_, at) => [`f${at}`, at]))
    const texts = Array.from({ length: 100 }, () => '":":":":"')
    const most = { ...wide(4_997), inside: { list: [wide(5_000)] }, texts }
    const guid = await create(database, name, most)
    for (const more of [{ a: 1 }, { inside: { list: [wide(5_001)] } }, { a: [[{ b: 1 }]] }])
      await failure('INVALID_BODY', () => create(database, name, { ...most, ...more }))
    await failure('INVALID_BODY', () => create(database, name, wide(10_001)))
    await failure('INVALID_BODY', () => create(database, name, { list: wide(10_001) }))
    for (const more of [{ a: 1 }, { 'inside.a': 1 }])
      await failure('INVALID_BODY', () =>
        change(database, (session) => session.update(name, guid, set(more))),
      )
    expect(await stored(database, name, guid)).toEqual(most)
    await change(database, (session) => session.update(name, guid, set({ inside: 1 })))
    expect(Object.keys((await stored(database, name, guid)) ?? {})).toHaveLength(4_999)
  })

  it('refuses a document of more than 16 MiB', async ({ database, name }) => {
    const half = '\u00e9'.repeat(4 * 1024 * 1024)
    const guid = await create(database, name, { half })
    await failure('INVALID_BODY', () => create(database, name, { half, other: half }))
    await failure('INVALID_BODY', () =>
      change(database, (session) => session.update(name, guid, set({ other: half }))),
    )
    expect(await stored(database, name, guid)).toEqual({ half })
  })

  it('an update moves updated and update_hash and nothing else of _meta', async ({
    database,
    name,
    clock,
  }) => {
    const before = await transact(database, (session) => session.create(name, set({ a: 1 })))
    clock.now += 5_000
    const written = await change(database, (session) =>
      session.update(name, metaOf(before).guid, set({ a: 1 })),
    )
    if (written.outcome !== 'written') throw new Error(written.outcome)
    const [old, meta] = [metaOf(before), metaOf(written.document)]
    expect(meta).toEqual({
      ...old,
      updated: Math.floor(clock.now / 1000),
      ums: clock.now,
      update_hash: meta.update_hash,
    })
    expect(meta.update_hash).not.toBe(old.update_hash)
  })

  it('an update with an update_hash needs the newest one', async ({ database, name }) => {
    const before = await transact(database, (session) => session.create(name, set({ a: 1 })))
    const { guid, update_hash: updateHash } = metaOf(before)
    const first = await change(database, (session) =>
      session.update(name, guid, set({ a: 2 }), { updateHash }),
    )
    if (first.outcome !== 'written') throw new Error(first.outcome)
    const late = await change(database, (session) =>
      session.update(name, guid, set({ a: 3 }), { updateHash }),
    )
    expect(late.outcome).toBe('conflict')
    if (late.outcome !== 'conflict') return
    expect(late.document.value).toEqual(first.document.value)
    expect(await stored(database, name, guid)).toEqual({ a: 2 })
    const removed = await change(database, (session) => session.setRemoved(name, guid, true))
    expect(removed.outcome).toBe('written')
    const gone = await change(database, (session) =>
      session.update(name, guid, set({ a: 4 }), { updateHash }),
    )
    expect(gone.outcome).toBe('not_found')
  })

  it('a removed document is out of sight until it is restored', async ({ database, name, clock }) => {
    const guid = await create(database, name, { a: 1 })
    clock.now += 2_000
    const removed = await change(database, (session) => session.setRemoved(name, guid, true))
    if (removed.outcome !== 'written') throw new Error(removed.outcome)
    expect(metaOf(removed.document).removed).toBe(Math.floor(clock.now / 1000))
    const session = database.session()
    expect(await session.get(name, guid)).toBeUndefined()
    expect((await session.get(name, guid, { removed: true }))?.value).toEqual(removed.document.value)
    expect((await change(database, (s) => s.setRemoved(name, guid, true))).outcome).toBe('not_found')
    expect((await change(database, (s) => s.update(name, guid, set({ a: 2 })))).outcome).toBe('not_found')
    const restored = await change(database, (s) => s.setRemoved(name, guid, false))
    if (restored.outcome !== 'written') throw new Error(restored.outcome)
    expect(metaOf(restored.document).removed).toBe(0)
    expect(await stored(database, name, guid)).toEqual({ a: 1 })
    expect((await change(database, (s) => s.setRemoved(name, guid, false))).outcome).toBe('not_found')
  })

  it('a deleted document is gone, removed before or not', async ({ database, name }) => {
    for (const removedBefore of [false, true]) {
      const guid = await create(database, name, { a: 1 })
      if (removedBefore) await change(database, (session) => session.setRemoved(name, guid, true))
      const deleted = await change(database, (session) => session.delete(name, guid))
      if (deleted.outcome !== 'written') throw new Error(deleted.outcome)
      expect(documentOf(deleted.document)).toMatchObject({ _meta: { guid }, a: 1 })
      expect(await database.session().get(name, guid, { removed: true })).toBeUndefined()
      expect((await change(database, (session) => session.setRemoved(name, guid, false))).outcome).toBe(
        'not_found',
      )
      expect((await change(database, (session) => session.delete(name, guid))).outcome).toBe('not_found')
    }
  })

  it('a text is stored composed, and found however it is written', async ({ database, name }) => {
    const [written, composed] = ['Mu\u0308ller', 'M\u00fcller']
    const document = await transact(database, (session) =>
      session.create(name, [
        ...set({ name: written, tags: [written] }),
        { op: 'append', field: 'more', value: written },
      ]),
    )
    const { _meta, ...stored } = documentOf(document)
    expect(stored).toEqual({ name: composed, tags: [composed], more: [composed] })
    for (const value of [written, composed]) {
      const queries: readonly Query[] = [
        { kind: 'term', field: 'name', value },
        { kind: 'term', field: 'name', value, scalar: true },
        { kind: 'term', field: 'tags', value },
        { kind: 'terms', field: 'name', values: ['x', value] },
        { kind: 'contains', field: 'name', value: value.slice(0, -2) },
        { kind: 'contains', field: 'tags', value },
      ]
      for (const query of queries) {
        expect(await database.session().count(name, query), JSON.stringify(query)).toBe(1)
        expect(matches(query, stored)).toBe(true)
      }
    }
  })

  it('200 increments at once lose nothing', async ({ database, name }) => {
    const guid = await create(database, name, {})
    const one: Mutation[] = [{ op: 'increment', field: 'count', amount: 1 }]
    const hashes = await Promise.all(
      Array.from({ length: 200 }, () =>
        transact(database, async (session) => {
          const written = await session.update(name, guid, one)
          if (written.outcome !== 'written') throw new Error(written.outcome)
          return metaOf(written.document).update_hash
        }),
      ),
    )
    expect(await stored(database, name, guid)).toEqual({ count: 200 })
    expect(new Set(hashes).size).toBe(200)
  })
}
