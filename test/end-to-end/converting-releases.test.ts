/** A release gives stored documents values ahead of it, by `fill` and `convert`: the old release serves meanwhile and loses nothing. */
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { matchAll, search } from '../../src/shared/query.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
beforeAll(async () => {
  quoin = await openTestQuoin()
})
afterAll(() => quoin?.close())

let made = 0
/** A name that no test had, also where one is tried twice. */
const fresh = () => `converted${Date.now().toString(36)}${made++}`

/** Its endpoint lists one field of all documents. */
const application = (name: string, fields: JsonObject, read = 'price'): JsonObject => ({
  about: { name },
  blueprints: {
    goods: {
      name: `${name} goods`,
      blocks: {
        goods: { type: 'storage', fields: { storage: name } },
        list: { type: 'on_startup_register_uri_get', in: { uri: name }, scopes: ['*public'] },
        search: {
          type: 'function_search',
          in: { storage: '@goods.storage', flow: '@list.flow', limit: 10_000 },
        },
        listed: {
          type: 'httpconnection_set_json',
          in: { flow: '@search.flow', value: `=search.documents.map(one => one.${read} ?? "none")` },
        },
      },
    },
  },
  storages: { [name]: { fields } },
  groups: {},
  templates: {},
  seed: {},
  tests: {},
})

const text = { price: { type: 'string' } }
const amount = { amount: { was: 'price', convert: '=number(value)', type: 'integer' } }

async function plan(requested: JsonObject): Promise<JsonObject> {
  return objectOf(await quoin.manage('POST', '/_system/applications/plan', { application: requested }))
}

async function pushOnce(requested: JsonObject, state: JsonValue | undefined, allow_loss = false) {
  const body = { application: requested, state: state ?? '', allow_loss }
  const {
    status,
    body: reply,
    text: said,
  } = await quoin.send('POST', '/_system/applications/push', {
    as: 'admin',
    body,
  })
  return { status, reply: objectOf(reply ?? null), said }
}

/** Until it is live; gives how often it was not yet. */
async function push(requested: JsonObject, allowLoss = false): Promise<number> {
  const { state } = await plan(requested)
  for (let waited = 0; ; waited++) {
    const { status, said } = await pushOnce(requested, state, allowLoss)
    if (status === 200) return waited
    expect([status, said]).toEqual([202, expect.anything()])
    await wait(20)
  }
}

const pathOf = async (name: string) => {
  const [storage] = objectsOf(await quoin.manage('POST', '/_system/storages/search', { filters: { name } }))
  return `/_system/storages/${guidOf(storage ?? {})}/documents`
}
const fieldsOf = async (name: string) =>
  objectsOf(await quoin.manage('POST', '/blueprintfields/search', { filters: { storage: name } })).toSorted(
    (one, other) => (String(one.name) < String(other.name) ? -1 : 1),
  )

/** Pushes the first release, and stores a document for each. */
async function stored(name: string, fields: JsonObject, documents: readonly JsonObject[]): Promise<string> {
  await push(application(name, fields))
  const path = await pathOf(name)
  for (const one of documents) await quoin.manage('POST', path, one)
  return path
}

const withoutMeta = async (name: string) =>
  (await quoin.documents(name)).map(({ _meta, ...fields }) => fields)
const listOf = async (name: string) => {
  const { status, body } = await quoin.send('GET', `/${name}`)
  return [status, Array.isArray(body) ? body.toSorted() : body]
}

describe('refused', () => {
  const fields: readonly (readonly [what: string, fields: JsonObject, says: string])[] = [
    [
      'a convert that is no expression',
      { price: { type: 'string', convert: 'number' } },
      'must be an expression',
    ],
    ['an expression that cannot be read', { price: { type: 'string', convert: '=value +' } }, 'convert: '],
    ['an expression with the clock', { price: { type: 'date', convert: '=now()' } }, 'cannot use the clock'],
    ['a name that there is not', { price: { type: 'string', fill: '=other' } }, 'other'],
    ['a fill that does not fit', { price: { type: 'integer', fill: 'many' } }, 'fill must be a whole number'],
    ['a calculated field', { price: { type: 'integer', computed: '1', fill: 1 } }, 'written by Quoin'],
  ]
  test.each(fields)('%s', async (_what, wrong, says) => {
    const requested = application(fresh(), wrong)
    const { status, text: said } = await quoin.send('POST', '/_system/applications/plan', {
      as: 'admin',
      body: { application: requested },
    })
    expect([status, said]).toEqual([409, expect.stringContaining(says)])
  })

  const changes: readonly (readonly [what: string, next: JsonObject, says: string])[] = [
    [
      'required, where documents have none',
      { price: { type: 'string', required: true } },
      '1 stored documents do not fit: price is required',
    ],
    [
      'another type without a conversion',
      { price: { type: 'integer' } },
      '2 stored documents do not fit: price must be a whole number',
    ],
    [
      'a conversion that one value does not survive',
      amount,
      '1 of 3 stored documents do not fit: amount cannot be made: ',
    ],
    [
      'another type under the same name, which the old release would read',
      { price: { type: 'integer', convert: '=value.length' } },
      'Give the new field another name, with "was": "price"',
    ],
    [
      'a conversion of a field that there is not',
      { ...text, size: { type: 'integer', convert: '=value' } },
      'convert of size needs a stored field',
    ],
    [
      'a required field, filled by an expression that gives nothing',
      { ...text, code: { type: 'string', required: true, fill: '=doc.none' } },
      'code is required, and gets no value',
    ],
  ]
  test.each(changes)('%s', async (_what, next, says) => {
    const name = fresh()
    await stored(name, text, [{ price: '12' }, { price: 'dear' }, {}])
    const { refused, state } = await plan(application(name, next))
    expect(refused).toContainEqual(expect.stringContaining(says))
    const before = await quoin.documents(name)
    expect((await pushOnce(application(name, next), state, true)).status).toBe(409)
    expect(await quoin.documents(name)).toEqual(before)
    expect((await fieldsOf(name)).map((one) => one.migration ?? null)).toEqual([null])
  })

  test('a former value that would be lost, unless that is allowed', async () => {
    const name = fresh()
    await stored(name, text, [{ price: ' a ' }, { price: 'b' }])
    const trimmed = application(name, {
      price: { type: 'string', validation_rules: { max_length: 1 }, convert: '=value.trim()' },
    })
    const { state, lost, steps } = await plan(trimmed)
    expect(lost).toEqual([expect.stringContaining('1 documents lose their former value of price')])
    expect(steps).toContain(
      `1 documents of ${name} get another value of price, while the present release serves`,
    )
    const { status, said } = await pushOnce(trimmed, state)
    expect([status, said]).toEqual([409, expect.stringContaining('allow_loss')])
    await push(trimmed, true)
    expect(await withoutMeta(name)).toEqual([{ price: 'a' }, { price: 'b' }])
  })
})

test('convert with was gives a new field from the old one, which the old release reads until the switch', async () => {
  const name = fresh()
  const path = await stored(name, text, [{ price: '1' }, { price: '2' }, {}])
  const next = application(name, amount, 'amount')
  const { state, steps, lost } = await plan(next)
  expect(lost).toEqual([])
  expect(steps).toContain(
    `2 documents of ${name} get amount from their value of price, which stays, while the present release serves`,
  )
  expect((await pushOnce(next, state)).status).toBe(202)
  await expect.poll(async () => (await fieldsOf(name))[0]?.migration).toMatchObject({ copied: true })
  // Writes of the old release are converted too; what cannot be converted is written all the same, and then keeps the release back.
  const written = objectOf(await quoin.manage('POST', path, { price: '4' }))
  await quoin.manage('PUT', `${path}/${guidOf(written)}`, { price: 'dear' })
  expect(await listOf(name)).toEqual([200, ['1', '2', 'dear', 'none']])
  const late = await pushOnce(next, (await plan(next)).state)
  expect([late.status, late.said]).toEqual([
    409,
    expect.stringContaining('1 of 4 stored documents do not fit'),
  ])
  await quoin.manage('PUT', `${path}/${guidOf(written)}`, { price: '5' })
  await push(next)
  expect(await listOf(name)).toEqual([200, [1, 2, 5, 'none']])
  expect(await fieldsOf(name)).toMatchObject([{ name: 'amount', type: 'integer', migration: null }])
  expect(await withoutMeta(name)).toEqual([
    { price: '1', amount: 1 },
    { price: '2', amount: 2 },
    {},
    { price: '5', amount: 5 },
  ])
  expect((await plan(next)).steps).toEqual([])

  // Back: the former values are where they were, and what the later field holds stays.
  await push(objectOf(await quoin.manage('GET', `/_system/applications/${name}/releases/1/content`)))
  expect(await listOf(name)).toEqual([200, ['1', '2', '5', 'none']])
  expect((await withoutMeta(name))[0]).toEqual({ price: '1', amount: 1 })
})

test('fill gives documents without a value one, in a new field and in one that becomes required', async () => {
  const name = fresh()
  const path = await stored(name, text, [{ price: '1' }, {}, { price: null }])
  const next = application(name, {
    price: { type: 'string', required: true, fill: '0' },
    state: { type: 'string', required: true, unique: false, fill: '="new " + (doc.price ?? "0")' },
  })
  const { state, steps } = await plan(next)
  expect(steps).toContain(`2 documents of ${name} get a value of price, while the present release serves`)
  expect(steps).toContain(`3 documents of ${name} get a value of state, while the present release serves`)
  expect((await pushOnce(next, state)).status).toBe(202)
  await expect
    .poll(async () => (await fieldsOf(name)).map((one) => objectOf(one.migration ?? null).copied))
    .toEqual([true, true])
  await quoin.manage('POST', path, {})
  // The field that is ahead is part of no application yet.
  const content = objectOf(await quoin.manage('GET', `/_system/applications/${name}/content`))
  expect(content.storages).toEqual({ [name]: { fields: text } })
  await push(next)
  expect(await withoutMeta(name)).toEqual([
    { price: '1', state: 'new 1' },
    { price: '0', state: 'new 0' },
    { price: '0', state: 'new 0' },
    { price: '0', state: 'new 0' },
  ])
  expect(await fieldsOf(name)).toMatchObject([
    { name: 'price', required: true, migration: null },
    { name: 'state', required: true, migration: null },
  ])
  // Nodes may go on with the old blueprints for a moment, which do not know that the field is required.
  await expect
    .poll(async () => {
      quoin.advance(6_000)
      return (await quoin.send('POST', path, { as: 'admin', body: {} })).status
    })
    .toBe(400)
  // The words say nothing while the field stays as it is.
  expect((await plan(next)).steps).toEqual([])
})

describe('documents get values ahead', () => {
  const fill = { ...text, unit: { type: 'string', required: true, fill: 'kg' } }
  const whole = { price: { type: 'integer', convert: '=number(value)' } }
  const rows: readonly (readonly [string, first: JsonObject, next: JsonObject, JsonObject[], number])[] = [
    ['not where there are none', text, fill, [], 0],
    ['not where each has one', { ...text, unit: { type: 'string' } }, fill, [{ price: '1', unit: 'g' }], 0],
    ['not where each value fits already', { price: { type: 'number' } }, whole, [{ price: 1 }], 0],
    ['where one has none', text, fill, [{ price: '1', unit: 'g' }, { price: '2' }], 1],
    ['where one does not fit', text, { ...amount }, [{ price: '1' }], 1],
  ]
  test.each(rows)('%s', async (_what, first, next, documents, jobs) => {
    const name = fresh()
    await stored(name, first, documents)
    const { queues } = quoin.quoin.database.capabilities
    await queues.configure('default', { paused: true })
    try {
      const requested = application(name, next)
      const { steps, state, refused } = await plan(requested)
      const ahead = Array.isArray(steps) ? steps.filter((step) => String(step).includes('while the')) : []
      expect([refused, ahead.length]).toEqual([[], jobs])
      expect((await pushOnce(requested, state)).status).toBe(jobs === 0 ? 200 : 202)
      const found = await quoin.manage('POST', '/queue/search', { filters: { type: 'change' }, limit: 1_000 })
      const prepared = objectsOf(found).filter(
        ({ title }) => String(title).startsWith('prepare') && String(title).endsWith(` ${name}`),
      )
      expect(prepared.length).toBe(jobs)
    } finally {
      await queues.configure('default', { paused: false })
    }
  })
})

test('another fill behind one that was begun is refused, and not left out without a word', async () => {
  const name = fresh()
  await stored(name, text, [{ price: '1' }])
  const filled = (fill: string) => application(name, { ...text, state: { type: 'string', fill } })
  const { state } = await plan(filled('nwe'))
  expect((await pushOnce(filled('nwe'), state)).status).toBe(202)
  const { refused } = await plan(filled('new'))
  expect(refused).toEqual([expect.stringContaining('by another fill or convert')])
  expect((await pushOnce(filled('new'), (await plan(filled('new'))).state)).status).toBe(409)
  await push(filled('nwe'))
  expect(await withoutMeta(name)).toEqual([{ price: '1', state: 'nwe' }])
})

test('a push that does not come again leaves the old release, and the next one says what was left and takes it back', async () => {
  const name = fresh()
  await stored(name, { ...text, unit: { type: 'string' } }, [{ price: '1' }, { price: '2', unit: 'kg' }])
  const next = application(name, {
    ...amount,
    unit: { type: 'string', fill: 'pc', required: true },
    size: { type: 'integer', fill: 3 },
  })
  expect((await pushOnce(next, (await plan(next)).state)).status).toBe(202)
  await expect
    .poll(async () => (await fieldsOf(name)).filter((one) => objectOf(one.migration ?? {}).copied).length)
    .toBe(3)
  const old = application(name, { price: { type: 'string', help: 'Of one.' }, unit: { type: 'string' } })
  expect((await plan(old)).steps).toEqual([
    `the values of price that a former push converted to amount in ${name} are removed`,
    `the values of size that a former push gave to documents of ${name} stay`,
    `the values of unit that a former push gave to documents of ${name} stay`,
    expect.stringContaining('field price changed'),
  ])
  await push(old)
  await expect
    .poll(async () => (await fieldsOf(name)).map((one) => one.migration ?? null))
    .toEqual([null, null])
  expect((await fieldsOf(name)).map((one) => one.name).sort()).toEqual(['price', 'unit'])
  expect(await withoutMeta(name)).toEqual([
    { price: '1', unit: 'pc', size: 3 },
    { price: '2', unit: 'kg', size: 3 },
  ])
})

test('what is uninstalled while documents get values ahead can be installed again, and no job is left', async () => {
  const name = fresh()
  await stored(name, text, [{ price: '12' }])
  const grown = { ...text, stock: { type: 'integer', fill: 1 } }
  const { state } = await plan(application(name, grown))
  expect((await pushOnce(application(name, grown), state)).status).toBe(202)
  const path = `/_system/applications/${name}`
  const removal = objectOf(await quoin.manage('GET', `${path}/removal`))
  expect(removal.refused).toEqual([])
  await quoin.manage('POST', `${path}/remove`, { state: removal.state ?? '', allow_loss: true })
  expect(await fieldsOf(name)).toEqual([])
  const jobs = await quoin.quoin.database.capabilities.jobs.search(search({ query: matchAll, limit: 1_000 }))
  expect(jobs.records.filter(({ title }) => title.endsWith(` in ${name}`))).toEqual([])
  expect(await push(application(name, { ...text, stock: { type: 'string' } }))).toBe(0)
  expect((await fieldsOf(name)).map((one) => [one.name, one.type])).toEqual([
    ['price', 'string'],
    ['stock', 'string'],
  ])
})

test('a storage that was deleted by hand comes back with the fields of the push, and no others', async () => {
  const name = fresh()
  const fields = { price: { type: 'string', unique: true }, former: { type: 'string' } }
  await stored(name, fields, [{ price: '12' }])
  const [blueprint] = objectsOf(
    await quoin.manage('POST', '/blueprints/search', { filters: { name: `${name} goods` } }),
  )
  await quoin.manage('PUT', `/blueprints/update/set/inactive/${guidOf(blueprint ?? {})}`)
  const [storage] = objectsOf(await quoin.manage('POST', '/_system/storages/search', { filters: { name } }))
  await quoin.manage('DELETE', `/_system/storages/${guidOf(storage ?? {})}`)
  const again = application(name, { price: { type: 'string', unique: true, label: 'Price' } })
  expect((await plan(again)).steps).toContain(
    `removed the field former that a former storage ${name} has left`,
  )
  expect(await push(again)).toBe(0)
  expect((await fieldsOf(name)).map((one) => [one.name, one.label])).toEqual([['price', 'Price']])
  const path = await pathOf(name)
  await quoin.manage('POST', path, { price: '12' })
  expect((await quoin.send('POST', path, { as: 'admin', body: { price: '12' } })).status).toBe(409)
  expect(await listOf(name)).toEqual([200, ['12']])
  expect((await plan(again)).steps).toEqual([])
})
