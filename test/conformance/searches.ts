import { expect } from 'vitest'
import { matchAll, type Query, type Search, type SortKey, search } from '../../src/shared/query.ts'
import type { Found } from '../../src/storage/database.ts'
import type { Needs } from '../../src/storage/document-index.ts'
import { transact } from '../../src/storage/transact.ts'
import { change, create, failure, metaOf, set } from './expectations.ts'
import type { It, World } from './world.ts'

/** In the order of creation, one millisecond apart. `id` says which one it is. */
const things = [
  { id: 'a', n: 1, s: 'one', tags: ['red', 'blue'], deep: { x: { y: 'in' } }, note: 'The quick brown fox' },
  { id: 'b', n: 2, s: 'two', tags: ['red'], ok: true, note: 'Café crème, quickly' },
  { id: 'c', n: 2, s: '2', ok: false, note: ['slow', 'quick tortoise'] },
  { id: 'd', n: '2', s: null, deep: { x: 5 } },
  { id: 'e', n: -1.5, s: '', tags: [] },
  { id: 'f', s: "it's; DROP TABLE storage; --", n: [1, 20] },
]

type Scalar = Extract<Query, { kind: 'term' | 'terms' | 'range' }>

const term = (field: string, value: string | number | boolean): Scalar => ({ kind: 'term', field, value })
/** Of the value itself, as expressions compare. */
const scalar = (query: Scalar): Query => ({ ...query, scalar: true })
const text = (words: string, ...fields: string[]): Query => ({
  kind: 'simple_query_string',
  fields,
  text: words,
})
const range = (field: string, bounds: Extract<Query, { kind: 'range' }>['bounds']): Scalar => ({
  kind: 'range',
  field,
  bounds,
})
const by = (
  field: string,
  order: SortKey['order'] = 'asc',
  missing: SortKey['missing'] = 'last',
): SortKey => ({
  field,
  order,
  missing,
})

const table: readonly [string, Partial<Search>, string][] = [
  ['everything, newest first', {}, 'fedcba'],
  ['a string', { query: term('s', 'two') }, 'b'],
  ['a string is not a number', { query: term('n', '2') }, 'd'],
  ['a number is not a string, and an array holds for an item', { query: term('n', 1) }, 'fa'],
  ['the empty string', { query: term('s', '') }, 'e'],
  ['true is not 1', { query: term('ok', true) }, 'b'],
  ['false', { query: term('ok', false) }, 'c'],
  ['in an array', { query: term('tags', 'red') }, 'ba'],
  ['several values', { query: { kind: 'terms', field: 's', values: ['one', '2', 5] } }, 'ca'],
  ['no values', { query: { kind: 'terms', field: 's', values: [] } }, ''],
  ['a field of a field', { query: term('deep.x.y', 'in') }, 'a'],
  ['a field that is sometimes an object', { query: term('deep.x', 5) }, 'd'],
  ['a field that no document has', { query: term('nothing.here', 5) }, ''],
  ['numbers from', { query: range('n', { gte: 2 }) }, 'fcb'],
  ['numbers between', { query: range('n', { gt: -2, lt: 2 }) }, 'fea'],
  ['one item has to satisfy the whole range', { query: range('n', { gt: 1, lt: 20 }) }, 'cb'],
  ['strings to', { query: range('s', { lte: 'one' }) }, 'feca'],
  ['existing, not null', { query: { kind: 'exists', field: 's' } }, 'fecba'],
  ['a value, no items', { query: { kind: 'term', field: 'n', value: 1, scalar: true } }, 'a'],
  ['a number below zero, no items', { query: scalar(term('n', -1.5)) }, 'e'],
  [
    'some numbers, no items and no texts',
    { query: scalar({ kind: 'terms', field: 'n', values: [-1.5, 2, 20] }) },
    'ecb',
  ],
  ['numbers to, no items and no texts', { query: scalar(range('n', { lte: 2 })) }, 'ecba'],
  [
    'numbers from, of a field that holds texts, items and truth',
    { query: scalar(range('s', { gte: 0 })) },
    '',
  ],
  ['a text, not a number', { query: scalar(term('n', '2')) }, 'd'],
  ['the text of truth', { query: scalar(term('ok', 'true')) }, ''],
  ['texts from, no numbers', { query: scalar(range('n', { gte: '' })) }, 'd'],
  [
    'no number below zero, also where there is none',
    { query: { kind: 'not', query: scalar(range('n', { lt: 0 })) } },
    'fdcba',
  ],
  ['an item', { query: { kind: 'contains', field: 'tags', value: 'red' } }, 'ba'],
  [
    'a part of a text in any case',
    { query: { kind: 'caseless', field: 's', test: 'contains', value: 'W' } },
    'b',
  ],
  [
    'the end of a text in any case',
    { query: { kind: 'caseless', field: 's', test: 'endsWith', value: 'O' } },
    'b',
  ],
  ['a part of a text', { query: { kind: 'contains', field: 's', value: 'w' } }, 'b'],
  ['empty', { query: { kind: 'empty', field: 's' } }, 'ed'],
  [
    'a field with another one',
    { query: { kind: 'fields', field: 'n', operator: '<', other: '_meta.created' } },
    'ecba',
  ],
  ['not', { query: { kind: 'not', query: term('tags', 'red') } }, 'fedc'],
  ['and', { query: { kind: 'and', queries: [term('n', 2), term('ok', true)] } }, 'b'],
  ['or', { query: { kind: 'or', queries: [term('n', 2), term('s', '')] } }, 'ecb'],
  ['and of nothing', { query: { kind: 'and', queries: [] } }, 'fedcba'],
  ['or of nothing', { query: { kind: 'or', queries: [] } }, ''],
  ['sorted by a number, then by age', { sort: [by('n')] }, 'eabcdf'],
  ['sorted backwards', { sort: [by('n', 'desc', 'first')] }, 'fdcbae'],
  ['sorted by strings, missing first', { sort: [by('s', 'asc', 'first')] }, 'decfab'],
  ['sorted by two fields', { sort: [by('n', 'desc'), by('s', 'asc')] }, 'dcbaef'],
  ['sorted by creation', { sort: [by('_meta.created')] }, 'abcdef'],
  ['a page', { sort: [by('s')], limit: 2, offset: 2 }, 'fa'],
  ['a page behind the end', { offset: 6 }, ''],
  ['a page of nothing', { limit: 0 }, ''],
  ['free text, in any field', { query: { kind: 'filter', query: text('quick') } }, 'ca'],
  [
    'free text without accents, with a prefix',
    { query: { kind: 'filter', query: text('cafe + quick*') } },
    'b',
  ],
  ['a phrase in a field', { query: { kind: 'filter', query: text('"brown fox"', 'note') } }, 'a'],
  ['free text in another field', { query: { kind: 'filter', query: text('quick', 's') } }, ''],
  ['quotes and semicolons', { query: term('s', "it's; DROP TABLE storage; --") }, 'f'],
  ['a quote that opens', { query: term('s', "' OR '1'='1") }, ''],
]

const needs: Needs = {
  indexes: [
    { fields: ['n'] },
    { fields: ['s', 'n'] },
    { fields: ['tags'] },
    { fields: ['deep.x'] },
    { fields: ['_meta.created'] },
  ],
  text: true,
}

function ids(found: Found): string {
  const documents = found.documents.value
  if (!Array.isArray(documents)) throw new TypeError('A search gives an array.')
  expect(documents).toHaveLength(found.length)
  return documents.map((document: { id: string }) => document.id).join('')
}

async function fill({ database, name, clock }: World): Promise<void> {
  await transact(database, async (session) => {
    for (const thing of things) {
      clock.now += 1
      await session.create(name, set(thing))
    }
  })
}

async function checkTable({ database, name }: World): Promise<void> {
  const session = database.session()
  for (const [title, changes, expected] of table) {
    expect(ids(await session.find(name, search(changes))), title).toBe(expected)
    const { query = matchAll, limit, offset } = changes
    if (limit === undefined && offset === undefined)
      expect(await session.count(name, query), title).toBe(expected.length)
  }
}

export function searchChapter(it: It): void {
  it('finds, sorts, pages and counts without any index', async (world) => {
    await fill(world)
    await checkTable(world)
  })

  it('the same with indexes that were there before the documents', async (world) => {
    await world.database.ensure(world.name, needs)
    await fill(world)
    await checkTable(world)
  })

  it('the same with indexes made over existing documents', async (world) => {
    await fill(world)
    await world.database.ensure(world.name, needs)
    await checkTable(world)
  })

  it('the same in a session that has written, and after a rollback', async (world) => {
    const { database, name } = world
    await fill(world)
    await database.ensure(name, needs)
    const session = database.session()
    const added = await session.create(name, set({ id: 'g', n: { odd: 1 }, s: ['quick'], deep: [1] }))
    expect(ids(await session.find(name, search({ query: term('s', 'quick') })))).toBe('g')
    expect(
      ids(await session.find(name, search({ query: text('quick') })))
        .split('')
        .toSorted()
        .join(''),
    ).toBe('acg')
    await session.setRemoved(name, metaOf(added).guid, true)
    expect(ids(await session.find(name, search({ query: term('s', 'quick') })))).toBe('')
    await session.transaction.rollback()
    await checkTable(world)
  })

  it('free text follows every change', async ({ database, name }) => {
    await database.ensure(name, { text: true })
    const guid = await create(database, name, { id: 'a', note: 'first words' })
    const count = (words: string, removed = false) => database.session().count(name, text(words), removed)
    expect([await count('first'), await count('second')]).toEqual([1, 0])
    await change(database, (session) => session.update(name, guid, set({ note: 'second words' })))
    expect([await count('first'), await count('second')]).toEqual([0, 1])
    await change(database, (session) => session.update(name, guid, set({ n: 5 })))
    expect([await count('words'), await count('second')]).toEqual([1, 1])
    await change(database, (session) => session.setRemoved(name, guid, true))
    expect([await count('second'), await count('second', true)]).toEqual([0, 1])
    await change(database, (session) => session.setRemoved(name, guid, false))
    expect(await count('second')).toBe(1)
    const session = database.session()
    await session.update(name, guid, set({ note: 'third' }))
    expect(await session.count(name, text('third'))).toBe(1)
    await session.transaction.rollback()
    expect([await count('second'), await count('third')]).toEqual([1, 0])
    await change(database, (s) => s.delete(name, guid))
    expect([await count('second', true), await count('words', true)]).toEqual([0, 0])
  })

  it('an index of free text is complete over many documents', async ({ database, name }) => {
    await transact(database, async (session) => {
      for (let index = 0; index < 1_234; index++)
        await session.create(
          name,
          set({ id: 'a', note: `all ${index % 2 === 0 ? 'even' : 'odd'} n${index}` }),
        )
    })
    const [, during] = await Promise.all([
      database.ensure(name, { text: true }),
      create(database, name, { id: 'b', note: 'all late' }),
    ])
    await change(database, (session) => session.update(name, during, set({ note: 'all later' })))
    const session = database.session()
    expect(await session.count(name, text('all'))).toBe(1_235)
    expect(await session.count(name, text('even'))).toBe(617)
    expect(await session.count(name, text('n1233'))).toBe(1)
    expect([await session.count(name, text('late')), await session.count(name, text('later'))]).toEqual([
      0, 1,
    ])
  })

  it('removed documents are found and counted only when asked for', async (world) => {
    const { database, name } = world
    await fill(world)
    const found = await database.session().find(name, search({ query: term('id', 'c') }))
    const guid = (found.documents.value as { _meta: { guid: string } }[])[0]?._meta.guid ?? ''
    await change(database, (session) => session.setRemoved(name, guid, true))
    const session = database.session()
    expect(ids(await session.find(name, search()))).toBe('fedba')
    expect(ids(await session.find(name, search({ includeRemoved: true })))).toBe('fedcba')
    expect(await session.count(name, matchAll)).toBe(5)
    expect(await session.count(name, matchAll, true)).toBe(6)
    expect(await session.count(name, term('n', 2), true)).toBe(2)
  })

  it('refuses fields and cursors that make no sense', async (world) => {
    const { database, name } = world
    await fill(world)
    const session = database.session()
    for (const field of ['', 'a..b', 'n\') OR 1=1 --"', '__proto__', 'x'.repeat(300)]) {
      await failure('INVALID_QUERY', () => session.find(name, search({ query: term(field, 1) })))
      await failure('INVALID_QUERY', () => session.find(name, search({ sort: [by(field)] })))
      await failure('INVALID_QUERY', () => session.count(name, { kind: 'exists', field }))
    }
    for (const after of ['', 'x', '[]', 'eyJhIjoxfQ', "' OR 1=1"])
      await failure('INVALID_QUERY', () => session.find(name, search({ after })))
  })

  it('treats names and values as what they are, whatever is in them', async (world) => {
    const { database, name } = world
    await fill(world)
    const session = database.session()
    for (const unusual of [
      "a'b",
      'a) OR 1=1 --',
      "'; DROP TABLE doc_1; --",
      '$',
      '?',
      '*',
      '%',
      'x[0]',
      '#-1',
    ]) {
      const guid = await create(database, name, { id: 'g', [unusual]: unusual })
      expect(ids(await session.find(name, search({ query: term(unusual, unusual) }))), unusual).toBe('g')
      expect(await session.count(name, { kind: 'exists', field: unusual }), unusual).toBe(1)
      await database.ensure(name, { indexes: [{ fields: [unusual] }] })
      expect(ids(await session.find(name, search({ query: term(unusual, unusual) }))), unusual).toBe('g')
      await session.find(name, search({ query: text(unusual) }))
      await change(database, (s) => s.delete(name, guid))
    }
    await checkTable(world)
  })
}
