import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { type Mutation, setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { createAll } from '../../storage/create-all.ts'
import { type Database, documentOf } from '../../storage/database.ts'
import { guidOf, objectsIn } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import { createField, type FieldInput, updateField } from './field-records.ts'
import { openFieldRules } from './field-rules.ts'
import { validatedDatabase } from './validated-database.ts'

const by = { guid: 'u', username: 'ann' }
let fixture: TestDatabase
let database: Database
beforeEach(async () => {
  fixture = await openTestDatabase()
  const random = (bytes: Uint8Array) => void bytes.fill(7)
  database = validatedDatabase(fixture.database, await openFieldRules(fixture.database), {
    clock: fixture.clock,
    random,
  })
  await database.ensure('orders')
})
afterEach(() => fixture.close())

const field = (input: FieldInput) => createField(database, { storage: 'orders', ...input }, by)
const create = (fields: JsonObject) =>
  transact(database, async (session) => documentOf(await session.create('orders', setFields(fields))), {
    user: by,
  })
const change = (guid: string, mutations: readonly Mutation[]) =>
  transact(database, (session) => session.update('orders', guid, mutations))
const stored = async () => {
  const { documents } = await fixture.database.session().find('orders', search({ limit: 10 }))
  return objectsIn(documents.value).map(({ _meta, ...fields }) => fields)
}
const total = { name: 'total', type: 'decimal', computed: 'doc.price * (doc.quantity ?? 1)' }

test('of two changes of one field at once the second is held against the first', async () => {
  const guid = guidOf(await field({ name: 'size', type: 'string' }))
  const outcomes = await Promise.allSettled([
    updateField(database, guid, { type: 'integer' }, by),
    updateField(database, guid, { default_value: 'large' }, by),
  ])
  const [one, other] = outcomes.toSorted((a, b) => a.status.localeCompare(b.status))
  expect([one, other]).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'INVALID_BODY' } },
  ])
  expect(await create({ size: outcomes[0]?.status === 'fulfilled' ? 7 : 'small' })).toMatchObject({})
})

describe('a computed field', () => {
  test.each([
    ['text(number(doc.secret))', 'abc-7'],
    ['text(condition(doc.secret))', 'abc-7'],
    ["text(startOf('2026-07-01T10:00:00Z', doc.secret))", 'abc-7'],
    ["text(startOf('2026-07-01T10:00:00Z', 'day', doc.secret))", 'abc-7'],
    ["text(startOf(doc.secret, 'hour'))", '2026-07-01'],
  ])('%s does not tell the value that does not fit', async (computed, secret) => {
    await field({ name: 'told', type: 'string', computed })
    const refused = await create({ secret }).then(
      () => undefined,
      (error: Error) => error.message,
    )
    expect(refused).toMatch(/^told cannot be computed: \w+: \w+ does not fit\.$/)
  })

  test('is worked out when a document is created and in every change', async () => {
    await field(total)
    const made = await create({ price: 1.15, quantity: 3 })
    expect(made.total).toBe(3.45)
    const guid = guidOf(made)
    await change(guid, [{ op: 'set', field: 'quantity', value: 2 }])
    expect(await stored()).toEqual([{ price: 1.15, quantity: 2, total: 2.3 }])
    await change(guid, [{ op: 'increment', field: 'quantity', amount: 2 }])
    await change(guid, [{ op: 'set', field: 'other', value: true }])
    expect(await stored()).toEqual([{ price: 1.15, quantity: 4, total: 4.6, other: true }])
    await change(guid, [{ op: 'remove', field: 'quantity' }])
    expect(await stored()).toEqual([{ price: 1.15, total: 1.15, other: true }])
  })

  test('replaces what is sent for it', async () => {
    await field(total)
    const made = await create({ price: 2, total: 'a lie' })
    expect(made.total).toBe(2)
    await change(guidOf(made), [{ op: 'set', field: 'total', value: 99 }])
    await change(guidOf(made), [{ op: 'remove', field: 'total' }])
    expect(await stored()).toEqual([{ price: 2, total: 2 }])
  })

  test('is found, sorted and in many documents at once', async () => {
    await field(total)
    await transact(database, (session) =>
      createAll(
        session,
        'orders',
        [3, 1, 2].map((price) => ({ mutations: setFields({ price }) })),
      ),
    )
    const query = { kind: 'range', field: 'total', bounds: { gte: 2 } } as const
    const sort = [{ field: 'total', order: 'asc', missing: 'last' } as const]
    const { documents } = await database.session().find('orders', search({ query, sort }))
    expect(objectsIn(documents.value).map(({ price }) => price)).toEqual([2, 3])
  })

  test('reads those that it depends on, whatever their order', async () => {
    await field({ name: 'gross', type: 'decimal', computed: 'doc.total * 1.2' })
    await field(total)
    const made = await create({ price: 10 })
    expect(made).toMatchObject({ total: 10, gross: 12 })
    await change(guidOf(made), [{ op: 'set', field: 'price', value: 20 }])
    expect(await stored()).toEqual([{ price: 20, total: 20, gross: 24 }])
  })

  test.each<[string, FieldInput, JsonObject, string]>([
    ['cannot be worked out', total, { price: 'ten' }, 'total'],
    ['does not fit its type', { ...total, type: 'integer' }, { price: 1.5 }, 'total'],
    ['breaks its rules', { ...total, validation_rules: { max: 5 } }, { price: 6 }, 'total'],
    [
      'is required and nothing',
      { name: 'total', type: 'string', required: true, computed: 'doc.none' },
      {},
      'total',
    ],
  ])('that %s refuses the document, and the change', async (_what, input, fields, name) => {
    const made = guidOf(await create({ price: 1 }))
    const before = await stored()
    await field(input)
    const refusal = { code: 'INVALID_BODY', fields: [name] }
    await expect(create(fields)).rejects.toMatchObject(refusal)
    await expect(change(made, setFields({ ...fields, other: 1 }))).rejects.toMatchObject(refusal)
    expect(await stored()).toEqual(before)
  })

  test('of a change that is refused is not in the transaction that goes on', async () => {
    await field({ ...total, validation_rules: { max: 5 } })
    const guid = guidOf(await create({ price: 5 }))
    const session = database.session()
    await session.update('orders', guid, [{ op: 'set', field: 'seen', value: true }])
    await expect(async () =>
      session.update('orders', guid, [{ op: 'set', field: 'price', value: 6 }]),
    ).rejects.toMatchObject({ fields: ['total'] })
    await session.transaction.commit()
    expect(await stored()).toEqual([{ price: 5, total: 5, seen: true }])
  })

  test('of many changes at once is that of the last one', async () => {
    await field(total)
    const guid = guidOf(await create({ price: 2, quantity: 0 }))
    await Promise.all(
      Array.from({ length: 20 }, () => change(guid, [{ op: 'increment', field: 'quantity', amount: 1 }])),
    )
    expect(await stored()).toEqual([{ price: 2, quantity: 20, total: 40 }])
  })

  test('looks at a bounded number of elements', async () => {
    await field({ name: 'n', type: 'number', computed: 'sumBy(doc.list, a => sum(doc.list))' })
    expect(await create({ list: [1, 2] })).toMatchObject({ n: 6 })
    await expect(create({ list: Array.from({ length: 1000 }, () => 1) })).rejects.toMatchObject({
      code: 'INVALID_BODY',
      message: expect.stringContaining('20,000 elements'),
    })
  })

  test('is kept current when a reference that it reads is cleared', async () => {
    await database.ensure('customers')
    const reference = { storage: 'customers', on_delete: 'clear' }
    await field({ name: 'customer', type: 'reference', reference })
    await field({ name: 'known', type: 'boolean', computed: 'doc.customer != null' })
    const ann = guidOf(
      documentOf(await transact(database, async (session) => session.create('customers', []))),
    )
    await create({ customer: ann })
    expect(await stored()).toEqual([{ customer: ann, known: true }])
    await transact(database, async (session) => session.setRemoved('customers', ann, true))
    expect(await stored()).toEqual([{ customer: null, known: false }])
  })

  test('can be unique', async () => {
    await field({ name: 'key', type: 'string', unique: true, computed: 'lower(doc.email)' })
    await create({ email: 'Ann@example.com' })
    await expect(create({ email: 'ann@EXAMPLE.com' })).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await stored()).toHaveLength(1)
  })
})

describe('an expression that a field cannot have', () => {
  test.each<[FieldInput, RegExp]>([
    [{ computed: 'doc.price *' }, /not finished/],
    [{ computed: 'price' }, /There is no name price/],
    [{ computed: 'now()' }, /cannot use the clock or random values/],
    [{ computed: 'uuid()' }, /cannot use the clock or random values/],
    [{ computed: 'user.guid' }, /There is no name user/],
    [{ computed: 'doc' }, /by name, such as doc.price/],
    [{ computed: 'doc._meta.created' }, /doc._meta is written by the storage/],
    [{ computed: 'number(format(doc.day, "YYYY"))' }, /pattern has YYYY/],
    [{ computed: 'increment(1)' }, /increment is for blocks/],
    [{ computed: '"text"' }, /must be a number/],
    [{ computed: 'doc.n + 1' }, /must not depend on themselves: n → n/],
    [{ computed: 'doc.price', storage: null }, /needs a storage/],
    [{ computed: 'doc.price', default_value: 1 }, /has one of/],
    [{ default_expression: 'doc.price', default_value: 1 }, /has one of/],
    [{ default_expression: 'body.x' }, /There is no name body/],
  ])('%j is refused', async (input, message) => {
    await expect(field({ name: 'n', type: 'number', ...input })).rejects.toMatchObject({
      code: 'INVALID_BODY',
      fields: [Object.keys(input)[0]],
      message: expect.stringMatching(message),
    })
  })

  test('is one by which fields depend on each other', async () => {
    await field({ name: 'a', type: 'number', computed: 'doc.b' })
    const b = guidOf(await field({ name: 'b', type: 'number', computed: 'doc.c' }))
    const circle = { code: 'INVALID_BODY', fields: ['computed'] }
    await expect(field({ name: 'c', type: 'number', computed: 'doc.a' })).rejects.toMatchObject(circle)
    await expect(updateField(database, b, { computed: 'doc.a' }, by)).rejects.toMatchObject(circle)
    await updateField(database, b, { computed: 'doc.x' }, by)
    expect(await create({ x: 1 })).toMatchObject({ a: 1, b: 1 })
  })

  test('is the 21st computed field', async () => {
    for (let n = 0; n < 20; n++) await field({ name: `c${n}`, type: 'number', computed: '1' })
    await expect(field({ name: 'c20', type: 'number', computed: '1' })).rejects.toMatchObject({
      fields: ['computed'],
    })
  })
})

describe('a default expression', () => {
  test.each<[string, string, JsonObject, JsonValue]>([
    ['the day', 'today()', {}, '2026-01-01'],
    ['who writes', 'user.username', {}, 'ann'],
    ['another field', 'upper(doc.name)', { name: 'x' }, 'X'],
    ['not what is given', '"other"', { f: 'given' }, 'given'],
    ['not null that is given', '"other"', { f: null }, null],
  ])('gives %s', async (_what, expression, fields, value) => {
    await field({ name: 'f', type: 'string', default_expression: expression })
    const made = await create(fields)
    expect(made.f).toEqual(value)
    await change(guidOf(made), [{ op: 'set', field: 'f', value: null }])
    expect((await stored())[0]?.f).toBeNull()
  })

  test('that gives nothing leaves the field out, and a required one refuses the document', async () => {
    const made = guidOf(await field({ name: 'f', type: 'string', default_expression: 'doc.none' }))
    const older = await create({})
    expect(older).not.toHaveProperty('f')
    await change(guidOf(older), [{ op: 'set', field: 'f', value: 'x' }])
    await updateField(database, made, { required: true }, by)
    await expect(create({})).rejects.toMatchObject({ fields: ['f'] })
  })
})

describe('who writes', () => {
  beforeEach(async () => {
    await field({ name: 'made', type: 'created_by' })
    await field({ name: 'changed', type: 'changed_by' })
  })
  const ann = { guid: 'u', username: 'ann' }
  const bob = { guid: 'b', username: 'bob' }
  const as = (user: typeof ann, guid: string, mutations: readonly Mutation[]) =>
    transact(database, (session) => session.update('orders', guid, mutations), { user })

  test('is kept with a document, whatever is sent', async () => {
    const guid = guidOf(await create({ made: bob, changed: 'a lie', 'made.guid': 'x' }))
    expect(await stored()).toEqual([{ made: ann, changed: ann }])
    await as(bob, guid, setFields({ made: bob, 'made.username': 'eve', changed: null, n: 1 }))
    expect(await stored()).toEqual([{ made: ann, changed: bob, n: 1 }])
    await change(guid, [{ op: 'remove', field: 'made' }])
    expect(await stored()).toEqual([{ made: ann, changed: null, n: 1 }])
  })

  test('is required of callers by a required field', async () => {
    await field({ name: 'owner', type: 'created_by', required: true })
    const anonymous = transact(database, async (session) => session.create('orders', []))
    await expect(anonymous).rejects.toMatchObject({ code: 'INVALID_BODY', fields: ['owner'] })
    expect(await create({})).toMatchObject({ owner: ann })
  })

  test.each<[FieldInput]>([
    [{ storage: null }],
    [{ name: 'a.b' }],
    [{ default_value: ann }],
    [{ computed: 'doc.x' }],
  ])('%j is refused for such a field', async (input) => {
    await expect(field({ name: 'x', type: 'created_by', ...input })).rejects.toMatchObject({
      code: 'INVALID_BODY',
    })
  })
})

test('an instant is stored in UTC, so that instants sort', async () => {
  await field({ name: 'at', type: 'instant' })
  const made = await create({ at: '2026-01-31T09:00+02:00' })
  expect(made.at).toBe('2026-01-31T07:00:00.000Z')
  await change(guidOf(made), [{ op: 'set', field: 'at', value: '2026-01-31T09:00:30Z' }])
  expect(await stored()).toEqual([{ at: '2026-01-31T09:00:30.000Z' }])
})
