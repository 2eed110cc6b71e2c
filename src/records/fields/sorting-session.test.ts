import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import { setFields } from '../../shared/mutation.ts'
import { type SortKey, search } from '../../shared/query.ts'
import { createAll } from '../../storage/create-all.ts'
import type { Database } from '../../storage/database.ts'
import { objectsIn } from '../../storage/document-fields.ts'
import { findWithTotal } from '../../storage/find-documents.ts'
import { transact } from '../../storage/transact.ts'
import { createField, type FieldInput } from './field-records.ts'
import { openFieldRules } from './field-rules.ts'
import { validatedDatabase } from './validated-database.ts'

const long = 'x'.repeat(400)
const names = ['Zebra', 'apple', 'Émile', 'banana', 'ål', 'Apple pie', 'zoo', 'Österreich', 'owl', long]
const asPeopleSort = [
  'ål',
  'apple',
  'Apple pie',
  'banana',
  'Émile',
  'Österreich',
  'owl',
  long,
  'Zebra',
  'zoo',
]
const swedish = ['apple', 'Apple pie', 'banana', 'Émile', 'owl', long, 'Zebra', 'zoo', 'ål', 'Österreich']
const byCodePoint = [
  'Apple pie',
  'Zebra',
  'apple',
  'banana',
  'owl',
  long,
  'zoo',
  'Émile',
  'Österreich',
  'ål',
].sort()

let fixture: TestDatabase
let database: Database
beforeEach(async () => {
  fixture = await openTestDatabase()
  database = validatedDatabase(fixture.database, await openFieldRules(fixture.database), {
    clock: fixture.clock,
    random: (bytes) => void bytes.fill(7),
  })
  await database.ensure('people')
  await transact(database, (session) =>
    createAll(
      session,
      'people',
      names.map((name) => ({ mutations: setFields({ name }) })),
    ),
  )
})
afterEach(() => fixture.close())

const field = (input: FieldInput) =>
  createField(
    database,
    { storage: 'people', name: 'name', type: 'string', ...input },
    { guid: 'u', username: 'ann' },
  )
const byName: SortKey = { field: 'name', order: 'asc', missing: 'last' }

async function listed(sort: readonly SortKey[] = [byName], limit = 3): Promise<unknown[]> {
  const all: unknown[] = []
  for (let after: string | undefined; ; ) {
    const page = search({ sort, limit, ...(after !== undefined && { after }) })
    const { found, total } = await findWithTotal(database.session(), 'people', page)
    expect(total).toBe(names.length)
    all.push(...objectsIn(found.documents.value).map(({ name }) => name))
    if (found.length < limit) return all
    after = found.next()
  }
}

test.each([
  ['a text field', {}, asPeopleSort],
  ['a field of long texts', { type: 'long_text' }, asPeopleSort],
  ['a field with the order of a language', { collation: 'sv' }, swedish],
  ['a field in the order of code points', { collation: 'binary' }, byCodePoint],
  ['what no field describes', { name: 'other' }, byCodePoint],
])(
  'pages by %s are in its order, with an index and without, in both directions',
  async (_, input, requested) => {
    await field(input)
    const reversed = [{ ...byName, order: 'desc', missing: 'first' } as const]
    expect(await listed()).toEqual(requested)
    expect(await listed(reversed)).toEqual(requested.toReversed())
    await database.ensure('people', {
      indexes: [{ fields: ['name'] }, { fields: ['name COLLATE "und"'] }, { fields: ['name COLLATE "sv"'] }],
    })
    expect(await listed()).toEqual(requested)
    expect(await listed(reversed)).toEqual(requested.toReversed())
  },
)

test('a cursor from before the field had its order is a place in the new one', async () => {
  const first = await database.session().find('people', search({ sort: [byName], limit: 1 }))
  expect(objectsIn(first.documents.value).map(({ name }) => name)).toEqual(['Apple pie'])
  await field({})
  const next = search({ sort: [byName], limit: 1, after: first.next() ?? '' })
  const second = await database.session().find('people', next)
  expect(objectsIn(second.documents.value).map(({ name }) => name)).toEqual(['banana'])
})

test('only texts have a collation', async () => {
  await expect(field({ type: 'integer', collation: 'sv' })).rejects.toMatchObject({ fields: ['collation'] })
})

test('an index in the order is kept once, and let go of by its name', async () => {
  const indexed = { fields: ['name COLLATE "sv"'] }
  const { indexes } = fixture.database.capabilities
  for (let times = 0; times < 2; times++) await database.ensure('people', { indexes: [indexed] })
  expect(indexes.of('people').indexes).toEqual([{ ...indexed, unique: false }])
  await indexes.release('people', [])
  expect(indexes.of('people').indexes).toEqual([])
})
