import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll } from '../../shared/query.ts'
import { createAll } from '../../storage/create-all.ts'
import { type Database, documentOf } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import { SerializationConflict } from '../../storage/unit-of-work.ts'
import { createField, removeField, updateField } from './field-records.ts'
import { openFieldRules } from './field-rules.ts'
import { validatedDatabase } from './validated-database.ts'

const by = { guid: 'u', username: 'ann' }
const nowhere = '019b76da-a800-7000-8000-000000000000'
let fixture: TestDatabase
let database: Database

beforeEach(async () => {
  fixture = await openTestDatabase()
  database = validatedDatabase(fixture.database, await openFieldRules(fixture.database), {
    clock: fixture.clock,
    random: () => undefined,
  })
  for (const name of ['customers', 'orders', 'lines']) await database.ensure(name)
})
afterEach(() => fixture.close())

interface Options {
  readonly from?: string
  readonly to?: string
  readonly more?: JsonObject
}

const refer = async (name = 'customer', on_delete = 'refuse', options: Options = {}) => {
  const { from = 'orders', to = 'customers', more = {} } = options
  const reference: JsonValue = { storage: to, on_delete }
  return guidOf(await createField(database, { name, type: 'string', storage: from, reference, ...more }, by))
}
const create = (storage: string, fields: JsonObject = {}) =>
  transact(database, async (session) => guidOf(documentOf(await session.create(storage, setFields(fields)))))
const update = (storage: string, guid: string, fields: JsonObject, condition = {}) =>
  transact(database, (session) => session.update(storage, guid, setFields(fields), condition))
const remove = (storage: string, guid: string, hard = false) =>
  transact(database, (session) =>
    hard ? session.delete(storage, guid) : session.setRemoved(storage, guid, true),
  )
const restore = (storage: string, guid: string) =>
  transact(database, (session) => session.setRemoved(storage, guid, false))
const count = (storage: string) => database.session().count(storage, matchAll)
const stored = async (storage: string, guid: string) => {
  const document = await database.session().get(storage, guid)
  return document && documentOf(document)
}
const missing = (field = 'customer') => ({ code: 'INVALID_BODY', fields: [field] })

describe('a write of a value', () => {
  test.each<[string, JsonObject]>([
    ['that names no document', { customer: nowhere }],
    ['that is no guid', { customer: 'Ann' }],
    ['of another type', { customer: 5 }],
    ['that is an object', { customer: { _meta: {} } }],
  ])('%s is refused by every way, and nothing is stored', async (_what, wrong) => {
    await refer()
    const ann = await create('customers')
    const order = await create('orders', { customer: ann })
    await expect(create('orders', wrong)).rejects.toMatchObject(missing())
    await expect(update('orders', order, wrong)).rejects.toMatchObject(missing())
    const many = await transact(database, (session) =>
      createAll(session, 'orders', [
        { mutations: setFields({ customer: ann }) },
        { mutations: setFields(wrong) },
        { mutations: setFields({}) },
      ]),
    )
    expect([many.documents.length, many.refused]).toEqual([1, expect.objectContaining(missing())])
    expect(await count('orders')).toBe(2)
    expect(await stored('orders', order)).toMatchObject({ customer: ann })
  })

  test.each<[string, JsonObject]>([
    ['nothing', {}],
    ['null', { customer: null }],
    ['blank text', { customer: ' ' }],
  ])('that is %s is stored', async (_what, fields) => {
    await refer()
    const order = await create('orders', fields)
    await update('orders', order, fields)
    expect(await count('orders')).toBe(1)
  })

  test('that names a removed document is refused, and one of another storage too', async () => {
    await refer()
    const [ann, other] = [await create('customers'), await create('lines')]
    await remove('customers', ann)
    await expect(create('orders', { customer: ann })).rejects.toMatchObject(missing())
    await expect(create('orders', { customer: other })).rejects.toMatchObject(missing())
  })

  test('inside an object, and one that its own transaction has made', async () => {
    await refer('to.customer')
    await transact(database, async (session) => {
      const ann = guidOf(documentOf(await session.create('customers', [])))
      await session.create('orders', setFields({ to: { customer: ann } }))
    })
    await expect(create('orders', { to: { customer: nowhere } })).rejects.toMatchObject(
      missing('to.customer'),
    )
    await expect(create('orders', { 'to.customer': nowhere })).rejects.toMatchObject(missing('to.customer'))
    expect(await count('orders')).toBe(1)
  })

  test('is refused behind not found and conflict', async () => {
    await refer()
    const order = await create('orders')
    const wrong = { customer: nowhere }
    expect(await update('orders', nowhere, wrong, { allows: () => true })).toEqual({ outcome: 'not_found' })
    expect(await update('orders', nowhere, wrong)).toEqual({ outcome: 'not_found' })
    expect(await update('orders', order, wrong, { updateHash: 'x' })).toMatchObject({ outcome: 'conflict' })
    expect(await update('orders', order, wrong, { allows: () => false })).toMatchObject({
      outcome: 'refused',
    })
    await expect(update('orders', order, wrong, { allows: () => true })).rejects.toMatchObject(missing())
  })

  test('may name a document that is made with it, before it or itself', async () => {
    await refer('parent', 'refuse', { from: 'lines', to: 'lines' })
    const [a, b, c] = [nowhere.replace('8000', '8001'), nowhere.replace('8000', '8002'), nowhere]
    const made = (guid: string, parent: string) => ({
      mutations: setFields({ parent }),
      options: { guid },
    })
    const all = await transact(database, (session) =>
      createAll(session, 'lines', [made(a, a), made(b, a), made(c, nowhere.replace('8000', '8003'))]),
    )
    expect([all.documents.length, all.refused]).toEqual([2, expect.objectContaining(missing('parent'))])
  })
})

describe('the end of a document that others refer to', () => {
  const ends = [
    ['a removal', false],
    ['a delete', true],
  ] as const

  test.each(ends)('%s is refused, naming storage, field and how many', async (_what, hard) => {
    await refer()
    const [ann, bob] = [await create('customers'), await create('customers')]
    const first = await create('orders', { customer: ann })
    await create('orders', { customer: ann })
    await create('orders', { customer: bob })
    await expect(remove('customers', ann, hard)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('2 documents of the storage orders refer'),
      details: { storage: 'orders', field: 'customer', total: 2 },
    })
    expect(await count('customers')).toBe(2)
    for (const guid of [first]) await remove('orders', guid)
    await expect(remove('customers', ann, hard)).rejects.toMatchObject({ details: { total: 1 } })
    expect(await remove('customers', nowhere, hard)).toEqual({ outcome: 'not_found' })
  })

  test.each(ends)('%s clears the field', async (_what, hard) => {
    await refer('customer', 'clear')
    const [ann, bob] = [await create('customers'), await create('customers')]
    const [first, other] = [
      await create('orders', { customer: ann, n: 1 }),
      await create('orders', { customer: bob }),
    ]
    expect((await remove('customers', ann, hard)).outcome).toBe('written')
    expect(await stored('orders', first)).toMatchObject({ customer: null, n: 1 })
    expect(await stored('orders', other)).toMatchObject({ customer: bob })
  })

  test.each(ends)('%s ends them too, and what refers to them', async (_what, hard) => {
    await refer('customer', 'delete')
    await refer('order', 'delete', { from: 'lines', to: 'orders' })
    const [ann, bob] = [await create('customers'), await create('customers')]
    const orders = [
      await create('orders', { customer: ann }),
      await create('orders', { customer: ann }),
      await create('orders', { customer: bob }),
    ]
    for (const order of orders) await create('lines', { order })
    await remove('customers', ann, hard)
    expect([await count('customers'), await count('orders'), await count('lines')]).toEqual([1, 1, 1])
    expect(await database.session().count('orders', matchAll, true)).toBe(hard ? 1 : 3)
  })

  test('is refused as a whole when one of those that go with it is referred to', async () => {
    await refer('customer', 'delete')
    await refer('order', 'refuse', { from: 'lines', to: 'orders' })
    await refer('payer', 'clear')
    const ann = await create('customers')
    const order = await create('orders', { customer: ann, payer: ann })
    await create('lines', { order })
    await expect(remove('customers', ann)).rejects.toMatchObject({ details: { storage: 'lines', total: 1 } })
    expect(await stored('orders', order)).toMatchObject({ customer: ann, payer: ann })
    await refer('customer', 'delete', { from: 'lines' })
    const [line] = [await create('lines', { customer: ann })]
    await expect(remove('customers', ann)).rejects.toMatchObject({ details: { total: 1 } })
    expect(await stored('lines', line)).toBeDefined()
  })

  test('in circles ends', async () => {
    await refer('customer', 'delete')
    await refer('latest', 'delete', { from: 'customers', to: 'orders' })
    await refer('first', 'refuse', { from: 'customers', to: 'orders' })
    const ann = await create('customers')
    const order = await create('orders', { customer: ann })
    await update('customers', ann, { latest: order, first: order })
    await update('orders', order, { customer: ann })
    await remove('orders', order, true)
    expect([await count('customers'), await count('orders')]).toEqual([0, 0])
  })

  test('is refused where it would take more than 1,000 with it', async () => {
    await refer('customer', 'delete')
    const ann = await create('customers')
    const documents = Array.from({ length: 1_001 }, () => ({ mutations: setFields({ customer: ann }) }))
    await transact(database, (session) => createAll(session, 'orders', documents))
    await expect(remove('customers', ann)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect([await count('customers'), await count('orders')]).toEqual([1, 1_001])
  })

  test('comes behind its own condition', async () => {
    await refer()
    const ann = await create('customers')
    await create('orders', { customer: ann })
    const change = (condition: object) =>
      transact(database, (session) => session.delete('customers', ann, condition))
    expect(await change({ updateHash: 'x' })).toMatchObject({ outcome: 'conflict' })
    expect(await change({ allows: () => false })).toMatchObject({ outcome: 'refused' })
    await expect(change({ allows: () => true })).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  test('keeps from being restored what refers to it', async () => {
    await refer('customer', 'delete')
    const ann = await create('customers')
    const order = await create('orders', { customer: ann })
    await remove('customers', ann)
    await expect(restore('orders', order)).rejects.toMatchObject({ code: 'CONFLICT', fields: ['customer'] })
    await restore('customers', ann)
    expect((await restore('orders', order)).outcome).toBe('written')
    expect((await restore('orders', order)).outcome).toBe('not_found')
  })
})

describe('the setting', () => {
  test('is refused over documents that do not fit, which are listed; and then nothing has changed', async () => {
    const ann = await create('customers')
    await create('orders', { customer: ann })
    await create('orders', { customer: null })
    await create('orders', { customer: ' ' })
    const wrong = [await create('orders', { customer: nowhere }), await create('orders', { customer: 7 })]
    await expect(refer()).rejects.toMatchObject({
      code: 'CONFLICT',
      fields: ['reference'],
      details: {
        total: 2,
        documents: [
          { guid: wrong[0], value: nowhere },
          { guid: wrong[1], value: 7 },
        ],
      },
    })
    await create('orders', { customer: 'x' })
    expect(await count('_fields')).toBe(0)
  })

  test.each<[string, () => Promise<unknown>]>([
    [
      'without a storage',
      () => createField(database, { name: 'a', type: 'string', reference: { storage: 'customers' } }, by),
    ],
    ['of another type', () => refer('a', 'refuse', { more: { type: 'number' } })],
    ['to a storage that is not there', () => refer('a', 'refuse', { to: 'nobody' })],
    ['to a storage of Quoin itself', () => refer('a', 'refuse', { to: '_users' })],
    ['that is cleared and required', () => refer('a', 'clear', { more: { required: true } })],
  ])('is refused %s', async (_what, work) => {
    await expect(work()).rejects.toMatchObject({ code: 'INVALID_BODY', fields: ['reference'] })
  })

  test('ends with a change of the field and with its removal', async () => {
    const guid = await refer()
    const ann = await create('customers')
    await create('orders', { customer: ann })
    await expect(remove('customers', ann)).rejects.toMatchObject({ code: 'CONFLICT' })
    await updateField(database, guid, { reference: null }, by)
    await create('orders', { customer: 'x' })
    await expect(
      updateField(database, guid, { reference: { storage: 'customers' } }, by),
    ).rejects.toMatchObject({
      details: { total: 1 },
    })
    await removeField(database, guid, by)
    expect((await remove('customers', ann)).outcome).toBe('written')
  })

  test('gives the field an index, which stays, also in a storage that is made later', async () => {
    await refer()
    await refer('customer', 'refuse', { from: 'later' })
    await database.ensure('later')
    for (const name of ['orders', 'later']) {
      await database.capabilities.indexes.release(name, [])
      expect(database.capabilities.indexes.of(name).indexes).toMatchObject([{ fields: ['customer'] }])
    }
  })
})

describe('50 removals against 50 new references', () => {
  const at50 = Array.from({ length: 50 }, (_, n) => n)

  async function left(customers: readonly string[]) {
    const ends = await Promise.all(
      customers.map(async (customer) => {
        const orders = await database
          .session()
          .count('orders', { kind: 'term', field: 'customer', value: customer })
        return `${(await stored('customers', customer)) ? 'present' : 'removed'}, ${orders} orders`
      }),
    )
    return new Set(ends)
  }

  test.each([
    ['a removal', false, false],
    ['a delete', true, false],
    ['a removal of a unit of work', false, true],
  ])('%s: none is left without what it refers to', async (_what, hard, unit) => {
    await refer()
    const customers = await Promise.all(at50.map(() => create('customers')))
    const origin = unit ? { unit: { attempt: 1 } } : {}
    const end = (guid: string) =>
      transact(
        database,
        async (session) => {
          if (unit) await session.count('orders', matchAll)
          return hard ? session.delete('customers', guid) : session.setRemoved('customers', guid, true)
        },
        origin,
      )
    const outcomes = await Promise.allSettled(
      customers.flatMap((customer, n) => {
        const works = [() => end(customer), () => create('orders', { customer })]
        return (n % 2 ? works : works.reverse()).map((work) => work())
      }),
    )
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(['INVALID_BODY', 'CONFLICT', 'UNAVAILABLE']).toContain(outcome.reason.code)
    for (const state of await left(customers))
      expect(['present, 1 orders', 'present, 0 orders', 'removed, 0 orders']).toContain(state)
  })

  test('a unit of work that looked before the reference was written is refused, or begins once more', async () => {
    await refer()
    const ann = await create('customers')
    const unit = database.session({ unit: { attempt: 1 } })
    await unit.get('customers', ann)
    await create('orders', { customer: ann })
    await expect(async () => unit.setRemoved('customers', ann, true)).rejects.toSatisfy(
      (error) =>
        error instanceof SerializationConflict || (error instanceof QuoinError && error.code === 'CONFLICT'),
    )
    await unit.transaction.rollback()
    expect(await left([ann])).toEqual(new Set(['present, 1 orders']))
  })

  test('a change of what is referred to does not wait for the reference', async () => {
    await refer()
    const ann = await create('customers')
    const [one, two] = [database.session(), database.session()]
    await one.create('orders', setFields({ customer: ann }))
    const both = Promise.all([two.update('customers', ann, setFields({ n: 1 }))]).then(() =>
      two.transaction.commit(),
    )
    await one.update('customers', ann, setFields({ m: 1 }))
    await one.transaction.commit()
    await both
    expect(await stored('customers', ann)).toMatchObject({ n: 1, m: 1 })
  })

  test('control: where both look first and write then, some are', async () => {
    const customers = await Promise.all(at50.map(() => create('customers')))
    const raw = fixture.database
    await Promise.all(customers.map((guid) => raw.session().get('customers', guid)))
    await Promise.all(
      customers.flatMap((customer) => [
        transact(raw, (session) => session.create('orders', setFields({ customer }))),
        transact(raw, (session) => session.setRemoved('customers', customer, true)),
      ]),
    )
    expect(await left(customers)).toEqual(new Set(['removed, 1 orders']))
  })
})
