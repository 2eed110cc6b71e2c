import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll } from '../../shared/query.ts'
import { type Database, documentOf } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import { upsertDocument } from '../../storage/upsert-document.ts'
import type { RawDatabase } from '../../storage/validated.ts'
import { createField, removeField, updateField } from './field-records.ts'
import { openFieldRules } from './field-rules.ts'
import { settleAllUnique } from './unique-fields.ts'
import { validatedDatabase } from './validated-database.ts'

const by = { guid: 'u', username: 'ann' }
let fixture: TestDatabase
let database: Database

const world = { clock: () => 0, random: () => undefined }
const validated = async (raw: RawDatabase) => validatedDatabase(raw, await openFieldRules(raw), world)

beforeEach(async () => {
  fixture = await openTestDatabase()
  database = await validated(fixture.database)
  await database.ensure('goods')
})
afterEach(() => fixture.close())

const field = async (name: string, unique: JsonValue, storage: string | null = 'goods') =>
  guidOf(await createField(database, { name, type: 'string', storage, unique }, by))
const create = (fields: JsonObject, storage = 'goods') =>
  transact(database, async (session) => guidOf(documentOf(await session.create(storage, setFields(fields)))))
const taken = (...fields: string[]) => ({ code: 'CONFLICT', fields })
const kept = (storage = 'goods') => database.capabilities.uniqueValues.of(storage)

describe('a field becomes unique', () => {
  test.each<[string, JsonValue, JsonObject, JsonObject]>([
    ['true', true, { sku: 'a' }, { sku: 'A' }],
    ['an empty object', {}, { sku: 'a' }, { sku: 'á' }],
    ['without case', { ignore_case: true }, { sku: 'A' }, { sku: 'á' }],
    ['without accents', { ignore_accents: true }, { sku: 'á' }, { sku: 'A' }],
  ])('%s', async (_what, unique, same, other) => {
    await field('sku', unique)
    await create({ sku: 'a' })
    await expect(create(same)).rejects.toMatchObject(taken('sku'))
    await create(other)
    await create({})
    await create({ sku: null })
    expect(await fixture.database.session().count('goods', matchAll)).toBe(4)
  })

  test('with others of the same name, which are unique together', async () => {
    await field('number', 'invoice')
    await field('year', { with: 'invoice' })
    await create({ number: '1', year: '2025' })
    await create({ number: '1', year: '2026' })
    await create({ number: '1' })
    await create({ number: '1' })
    await expect(create({ number: '1', year: '2026' })).rejects.toMatchObject(taken('number', 'year'))
  })

  test('not when documents have the same value, which are listed; and then nothing has changed', async () => {
    const guids = [await create({ sku: 'x' }), await create({ sku: 'X' }), await create({ sku: 'x' })]
    await expect(field('sku', { ignore_case: true })).rejects.toMatchObject({
      code: 'CONFLICT',
      fields: ['unique'],
      details: { total: 2, documents: [{ same_as: guids[0] }, { same_as: guids[0] }] },
    })
    expect(kept()).toEqual([])
    expect(await database.session().count('_fields', matchAll)).toBe(0)
    const guid = await field('sku', null)
    await expect(updateField(database, guid, { unique: true }, by)).rejects.toMatchObject({
      details: { total: 1, documents: [{ guid: guids[2], same_as: guids[0] }] },
    })
    await create({ sku: 'x' })
  })

  test.each<[string, () => Promise<unknown>]>([
    ['without a storage', () => field('sku', true, null)],
    ['together with a name that is a field unique by itself', () => field('size', 'sku')],
  ])('not %s', async (_what, work) => {
    await field('sku', true)
    await expect(work()).rejects.toMatchObject({ code: 'INVALID_BODY', fields: ['unique'] })
    expect(kept()).toHaveLength(1)
  })

  test('of a storage that is made later', async () => {
    await field('sku', true, 'later')
    await database.ensure('later')
    await create({ sku: 'a' }, 'later')
    await expect(create({ sku: 'a' }, 'later')).rejects.toMatchObject(taken('sku'))
    await database.drop('later')
    await database.ensure('later')
    await create({ sku: 'a' }, 'later')
    await expect(create({ sku: 'a' }, 'later')).rejects.toMatchObject(taken('sku'))
  })
})

describe('a unique field changes', () => {
  test('its folding, as far as documents let it', async () => {
    const guid = await field('sku', true)
    await create({ sku: 'a' })
    const upper = await create({ sku: 'A' })
    await expect(updateField(database, guid, { unique: { ignore_case: true } }, by)).rejects.toMatchObject({
      details: { total: 1 },
    })
    await expect(create({ sku: 'a' })).rejects.toMatchObject(taken('sku'))
    await transact(database, (session) => session.delete('goods', upper))
    await updateField(database, guid, { unique: { ignore_case: true } }, by)
    await expect(create({ sku: 'A' })).rejects.toMatchObject(taken('sku'))
    expect(kept()).toHaveLength(1)
  })

  test('its name', async () => {
    const guid = await field('sku', true)
    await create({ sku: 'a', ean: 'b' })
    await updateField(database, guid, { name: 'ean' }, by)
    await create({ sku: 'a' })
    await expect(create({ ean: 'b' })).rejects.toMatchObject(taken('ean'))
  })

  test('and is unique no longer', async () => {
    const [first, second] = [await field('sku', true), await field('ean', true)]
    await create({ sku: 'a', ean: 'b' })
    await updateField(database, first, { unique: false }, by)
    await create({ sku: 'a' })
    await removeField(database, second, by)
    await create({ ean: 'b' })
    expect(kept()).toEqual([])
  })

  test('leaves those that it was unique with only where they stay unique without it', async () => {
    await field('number', 'invoice')
    const year = await field('year', 'invoice')
    await create({ number: '1', year: '2025' })
    const other = await create({ number: '1', year: '2026' })
    await expect(removeField(database, year, by)).rejects.toMatchObject({ details: { total: 1 } })
    await create({ number: '1', year: '2027' }).then((guid) =>
      transact(database, (session) => session.delete('goods', guid)),
    )
    await transact(database, (session) => session.delete('goods', other))
    await removeField(database, year, by)
    await expect(create({ number: '1', year: '2026' })).rejects.toMatchObject(taken('number'))
  })
})

test('a start settles what a change that was cut short has left', async () => {
  await field('sku', true)
  await create({ sku: 'a' })
  const { uniqueValues } = fixture.database.capabilities
  await uniqueValues.dropOthers('goods', [])
  await uniqueValues.keep('goods', {
    name: 'left',
    fields: [{ name: 'left', ignoreCase: false, ignoreAccents: false }],
  })
  await create({ left: '1' })
  const again = await fixture.reopen()
  await settleAllUnique(again, await openFieldRules(again))
  database = await validated(again)
  expect(kept().map(({ name }) => name)).toEqual(['sku'])
  await create({ left: '1' })
  await expect(create({ sku: 'a' })).rejects.toMatchObject(taken('sku'))
})

test('an upsert by an instant finds the document, however the same time is written', async () => {
  await createField(database, { name: 'at', type: 'instant', storage: 'goods', unique: true }, by)
  const upsert = (at: JsonValue, n: number) => {
    const fields = { at, n }
    const mutations = setFields(fields)
    const one = { storage: 'goods', by: ['at'], fields, create: mutations, change: mutations }
    return transact(database, (session) => upsertDocument(session, one))
  }
  expect(await upsert('2026-01-31T09:00:00+02:00', 1)).toMatchObject({ created: true })
  for (const [n, same] of [
    '2026-01-31T09:00:00+02:00',
    '2026-01-31T07:00:00Z',
    '2026-01-31T07:00:00.000Z',
  ].entries())
    expect(await upsert(same, n)).toMatchObject({ created: false })
  expect(await upsert('2026-01-31T07:00:00.001Z', 9)).toMatchObject({ created: true })
  expect(await database.session().count('goods', matchAll)).toBe(2)
})
