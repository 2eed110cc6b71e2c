/** Fields of which case, or case and accents, do not count: the same in searches, changes of many, what is unique and rules, on both engines. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll, type Query, search } from '../../shared/query.ts'
import { prefixBounds } from '../../shared/texts/folded-text.ts'
import { type Database, documentOf } from '../../storage/database.ts'
import { guidOf, objectsIn } from '../../storage/document-fields.ts'
import { changeDocuments } from '../../storage/many/change-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { upsertDocument } from '../../storage/upsert-document.ts'
import { subjectOf } from '../permissions/judge.ts'
import { openPermissions } from '../permissions/permissions.ts'
import { createField, type FieldInput, updateField } from './field-records.ts'
import { openFieldRules } from './field-rules.ts'
import { validatedDatabase } from './validated-database.ts'

const long = `${'ö'.repeat(1_000)}Z`
const names = ['Émile', 'emile', 'EMIL', 'Straße', 'Åke', 'ake', 'Chleba', 'čaj', 'Иван', 'a|b', long]
const by = { guid: 'u', username: 'ann' }
let fixture: TestDatabase
let database: Database

beforeEach(async () => {
  fixture = await openTestDatabase()
  database = validatedDatabase(fixture.database, await openFieldRules(fixture.database), {
    clock: fixture.clock,
    random: (bytes) => void bytes.fill(7),
  })
  await database.ensure('people')
})
afterEach(() => fixture.close())

const field = async (input: FieldInput) =>
  guidOf(await createField(database, { storage: 'people', name: 'name', type: 'string', ...input }, by))
const fill = () =>
  transact(database, async (session) => {
    for (const name of names) await session.create('people', setFields({ name }))
  })
const found = async (query: Query) => {
  const { documents } = await database.session().find('people', search({ query, limit: 100 }))
  return objectsIn(documents.value)
    .map(({ name }) => String(name))
    .sort()
}
const is = (value: string): Query => ({ kind: 'term', field: 'name', value })
const isOneOf = (...values: string[]): Query => ({ kind: 'terms', field: 'name', values })
const has = (value: string): Query => ({ kind: 'contains', field: 'name', value })
const begins = (value: string): Query => ({
  kind: 'range',
  field: 'name',
  bounds: prefixBounds(value),
  scalar: true,
})

const noCase = { ignore_case: true }
const noAccents = { ignore_case: true, ignore_accents: true }

describe.each([['with an index'], ['without']])('%s', (how) => {
  test.each<[string, FieldInput, Query, readonly string[]]>([
    ['case', noCase, is('éMILE'), ['Émile']],
    ['case', noCase, is('STRASSE'), ['Straße']],
    ['case', noCase, isOneOf('Emile', 'AKE', 'x'), ['ake', 'emile']],
    ['case', noCase, has('МИЛ'), []],
    ['case', noCase, has('ВАН'), ['Иван']],
    ['case', noCase, begins('EM'), ['EMIL', 'emile']],
    ['case', noCase, is(long.toUpperCase()), [long]],
    ['case', noCase, { kind: 'not', query: isOneOf(...names.slice(0, 10)) }, [long]],
    ['accents', noAccents, is('EMILE'), ['emile', 'Émile']],
    ['accents', noAccents, is('e\u0301mile'), ['emile', 'Émile']],
    ['accents', noAccents, isOneOf('äke', 'ivan'), ['ake', 'Åke']],
    ['accents', noAccents, has('MÍL'), ['EMIL', 'emile', 'Émile']],
    ['accents', noAccents, begins('cá'), ['čaj']],
    ['accents', noAccents, is(`${'o'.repeat(1_000)}z`), [long]],
    ['accents', noAccents, is('o'.repeat(1_000)), []],
    ['accents', noAccents, isOneOf(...Array.from({ length: 200 }, (_, n) => `n${n}`), 'STRASSE'), ['Straße']],
    ['the letters of Swedish', { ...noAccents, collation: 'sv' }, is('AKE'), ['ake']],
    ['the letters of Czech', { ...noAccents, collation: 'cs' }, begins('C'), ['Chleba']],
    ['the letters of Swedish', { ...noAccents, collation: 'sv' }, has('Z'), [long]],
    ['the letters of Czech', { ...noAccents, collation: 'cs' }, has('c'), ['Chleba']],
    ['accents', noAccents, has('и'), ['Иван']],
    ['code points', { ...noCase, collation: 'binary' }, is('EMILE'), ['emile']],
    ['nothing', {}, is('EMILE'), []],
  ])('a field that ignores %s (%j) finds by %j', async (_what, input, query, requested) => {
    await field(input)
    if (how === 'with an index') {
      const { collation = 'und' } = input
      const order = collation === 'binary' ? 'und' : collation
      await database.ensure('people', { indexes: [{ fields: [`name COLLATE "${order}"`] }] })
    }
    await fill()
    expect(await found(query)).toEqual([...requested].sort())
    expect(await database.session().count('people', query)).toBe(requested.length)
  })
})

test('a change of many reaches the documents that its search finds', async () => {
  await field(noAccents)
  await fill()
  const change = {
    storage: 'people',
    kind: 'update',
    query: is('EMILE'),
    includeRemoved: false,
    mutations: setFields({ seen: true }),
  } as const
  const { documents } = await database.session().find('people', search({ query: change.query }))
  const guids = objectsIn(documents.value).map(guidOf)
  const changed = await transact(database, (session) =>
    changeDocuments(session, change, guids, (_, error) => {
      throw error
    }),
  )
  expect(changed).toBe(2)
})

describe('a unique field', () => {
  const create = (document: JsonObject) =>
    transact(database, (session) => session.create('people', setFields(document)))

  test('refuses, and creates or updates by, what is the same', async () => {
    await field({ unique: true, ...noAccents })
    await create({ name: 'Émile' })
    await expect(create({ name: 'EMILE' })).rejects.toMatchObject({ code: 'CONFLICT', fields: ['name'] })
    await create({ name: 'Emil' })
    const requested = { name: 'ÉMILE', seen: true }
    const written = await transact(database, (session) =>
      upsertDocument(session, {
        ...{ storage: 'people', by: ['name'], fields: requested },
        ...{ create: setFields(requested), change: setFields(requested) },
      }),
    )
    expect([written?.created, await database.session().count('people', matchAll)]).toEqual([false, 2])
  })

  test('keeps the letters of its language apart', async () => {
    await field({ unique: true, ...noAccents, collation: 'sv' })
    await create({ name: 'Åke' })
    await create({ name: 'Ake' })
    await expect(create({ name: 'ÅKE' })).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  test('ignores no more while documents would become the same, which are listed; nothing has changed then', async () => {
    const guid = await field({ unique: true })
    await fill()
    const change = () => updateField(database, guid, noAccents, by)
    await expect(change()).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { total: 2, documents: [{ guid: expect.any(String), same_as: expect.any(String) }, {}] },
    })
    expect(await found(is('EMILE'))).toEqual([])
    await create({ name: 'ÉMILE' })
    await updateField(database, guid, { unique: null }, by)
    await updateField(database, guid, noAccents, by)
    expect(await found(is('EMILE'))).toHaveLength(3)
  })
})

test.each<[FieldInput, string]>([
  [{ ignore_accents: true }, 'ignore_accents'],
  [{ type: 'integer', ignore_case: true }, 'ignore_case'],
])('%j is refused', async (input, name) => {
  await expect(field(input)).rejects.toMatchObject({ code: 'INVALID_BODY', fields: [name] })
})

test('rules of the storage compare as searches do: what is found can be read', async () => {
  await field(noCase)
  const rule = 'doc.name == user.username'
  await transact(fixture.database, (session) =>
    session.create(
      systemStorages.storages,
      setFields({ name: 'people', rules: { see: rule, change: rule } }),
    ),
  )
  const guids: string[] = []
  await transact(database, async (session) => {
    for (const name of ['ANN', 'bob'])
      guids.push(guidOf(documentOf(await session.create('people', setFields({ name })))))
  })
  const rules = await openFieldRules(fixture.database)
  const permissions = openPermissions({ rules, clock: fixture.clock, warn: () => undefined })
  const ann = permissions.session(
    database.session(),
    subjectOf({ _meta: { guid: 'a' }, username: 'ann' }, new Set()),
  )
  const seen = await ann.find('people', search())
  expect(objectsIn(seen.documents.value).map(guidOf)).toEqual([guids[0]])
  const read = await Promise.all(guids.map((guid) => ann.get('people', guid)))
  expect(read.map((one) => one !== undefined)).toEqual([true, false])
  const written = await ann.update('people', guids[0] ?? '', setFields({ seen: true }))
  expect(written.outcome).toBe('written')
  await ann.transaction.rollback()
})
