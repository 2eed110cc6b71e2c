/** Data that someone wants to break: duplicates of a field that becomes unique, circles and long chains of references, figures over values of all types, rules that cannot be calculated. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type Answer, guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const open = { scopes: ['*public'] }
const endpoint = (method: 'get' | 'post' | 'delete', uri: string) => ({
  ...{ type: `on_startup_register_uri_${method}`, in: { uri } },
  ...open,
})
const reply = (flow: string, value: string) => ({ type: 'httpconnection_set_json', in: { flow, value } })
const removal = (name: string, type: string): JsonObject => ({
  [name]: endpoint('delete', `${name}/{guid}`),
  [`${name}_do`]: { type, in: { flow: `@${name}.flow`, storage: 'parts', guid: '=params.guid' } },
  [`${name}_done`]: reply(`@${name}_do.flow`, 'done'),
})
const resource = (storage: string): JsonObject => ({
  [storage]: { type: 'on_startup_register_resource', in: { uri: storage, storage }, ...open },
})
const figures = [
  { count: '*', as: 'n' },
  { count: 'price', as: 'priced' },
  { count_distinct: 'price', as: 'prices' },
  { sum: 'price', as: 'sum' },
  { average: 'price', as: 'mean' },
  { min: 'price', as: 'least' },
  { max: 'price', as: 'most' },
]

let quoin: TestQuoin
beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  for (const name of ['parts', 'mixed', 'guarded', 'many'])
    await quoin.manage('POST', '/_system/storages', { name })
  const reference = { storage: 'parts', on_delete: 'delete' }
  await quoin.manage('POST', '/blueprintfields', {
    storage: 'parts',
    name: 'whole',
    type: 'reference',
    reference,
  })
  await quoin.install('Data', {
    ...removal('remove', 'function_remove_document'),
    ...removal('delete', 'function_delete_document'),
    ...resource('parts'),
    ...resource('guarded'),
    sum: endpoint('get', 'figures'),
    sums: {
      type: 'function_aggregate',
      in: { flow: '@sum.flow', storage: 'mixed', group: ['kind'], values: figures, order: [{ kind: 'asc' }] },
    },
    summed: reply('@sums.flow', '@sums.rows'),
  })
  await quoin.addUser('ann', ['storages_view', 'storages_create', 'storages_update', 'storages_remove'])
})
afterAll(() => quoin.close())

const pathOf = (storage: string) => `/_system/storages/${storage}/documents`
const create = async (storage: string, fields: JsonObject) =>
  guidOf(await quoin.manage('POST', pathOf(storage), fields))
const load = async (storage: string, rows: readonly JsonObject[]) => {
  const authorization = `Bearer ${await quoin.tokenOf('admin')}`
  const answer = await quoin.quoin.server.app.inject({
    ...{ method: 'POST', url: `/api/v1${pathOf(storage)}/import` },
    headers: { authorization, 'content-type': 'application/x-ndjson' },
    payload: rows.map((row) => JSON.stringify(row)).join('\n'),
  })
  expect(answer.statusCode).toBe(200)
}
const countOf = async (storage: string) => (await quoin.documents(storage)).length

test('a field of 2,000 documents does not become unique over duplicates, which are listed, and nothing changes', async () => {
  await load(
    'many',
    Array.from({ length: 2_000 }, (_, n) => ({ n, sku: n % 3 === 0 ? `s${n % 300}` : `u${n}` })),
  )
  const fieldsOf = async () =>
    quoin.manage('POST', '/blueprintfields/search', { filters: { storage: 'many' } })
  const plain = guidOf(
    await quoin.manage('POST', '/blueprintfields', { storage: 'many', name: 'sku', type: 'string' }),
  )
  const before = [await fieldsOf(), await quoin.documents('many')]
  const refused = await quoin.send('PUT', `/blueprintfields/${plain}`, {
    as: 'admin',
    body: { unique: true },
  })
  expect(refused).toMatchObject({ status: 409, body: { error: 'CONFLICT', fields: ['unique'] } })
  const { total, documents } = objectOf(objectOf(refused.body).details)
  // Of 667 documents with 100 values one of each is no duplicate.
  expect([total, objectsOf(documents).length]).toEqual([567, 100])
  expect(objectsOf(documents)[0]).toEqual({ guid: expect.any(String), same_as: expect.any(String) })
  expect([await fieldsOf(), await quoin.documents('many')]).toEqual(before)
  await create('many', { sku: 's0' })
})

/** Each way to remove a document of the storage `parts`. */
const removals: Readonly<Record<string, (guid: string) => Promise<Answer>>> = {
  'documents API': (guid) => quoin.send('DELETE', `${pathOf('parts')}/${guid}`, { as: 'admin' }),
  'documents API, permanently': (guid) =>
    quoin.send('DELETE', `${pathOf('parts')}/${guid}?hard=true`, { as: 'admin' }),
  'remove-many': (guid) =>
    quoin.send('POST', `${pathOf('parts')}/remove-many`, { as: 'admin', body: { guids: [guid] } }),
  resource: (guid) => quoin.send('DELETE', `/parts/${guid}`),
  'block, remove': (guid) => quoin.send('DELETE', `/remove/${guid}`),
  'block, delete': (guid) => quoin.send('DELETE', `/delete/${guid}`),
}
describe.each(Object.entries(removals))('%s', (_name, remove) => {
  test('a circle of references ends, and takes all of it', async () => {
    const first = await create('parts', {})
    const second = await create('parts', { whole: first })
    const third = await create('parts', { whole: second })
    await quoin.manage('PUT', `${pathOf('parts')}/${first}`, { whole: third })
    const alone = await create('parts', {})
    await quoin.manage('PUT', `${pathOf('parts')}/${alone}`, { whole: alone })
    const before = await countOf('parts')
    expect((await remove(second)).status).toBe(200)
    expect(await countOf('parts')).toBe(before - 3)
    expect((await remove(alone)).status).toBe(200)
    expect(await countOf('parts')).toBe(before - 4)
  })
})

test('more than 1,000 documents are not taken with one: 409 through each door, and none is gone', async () => {
  const whole = await create('parts', {})
  await load(
    'parts',
    Array.from({ length: 1_001 }, () => ({ whole })),
  )
  const before = await countOf('parts')
  for (const [name, remove] of Object.entries(removals)) {
    const refused = await remove(whole)
    expect([name, refused.status, refused.text]).toEqual([name, 409, expect.stringContaining('1,000')])
    expect([name, await countOf('parts')]).toEqual([name, before])
  }
  // Each of them may go by itself.
  const rest = { filters: { whole } }
  await quoin.manage('POST', `${pathOf('parts')}/remove-many`, { ...rest, in_background: true })
  await expect.poll(() => countOf('parts'), { timeout: 60_000 }).toBe(before - 1_001)
  for (const remove of Object.values(removals)) {
    const empty = await create('parts', {})
    await load('parts', [{ whole: empty }])
    expect((await remove(empty)).status).toBe(200)
  }
  expect(await countOf('parts')).toBe(before - 1_001)
})

test('figures over values of all types are those of the numbers, the same on both engines', async () => {
  const prices = [1, 0.5, -2, 'x', '7', true, null, [3], { of: 4 }, 1e17]
  await load('mixed', [
    ...prices.map((price) => ({ kind: 'all', price })),
    ...['y', false, null].map((price) => ({ kind: 'none', price })),
    ...[5, '5', true, null, ['all']].map((kind) => ({ kind, price: 2 })),
    {},
  ])
  const answer = await quoin.send('GET', '/figures')
  const two = { n: 1, priced: 1, prices: 1, sum: 2, mean: 2, least: 2, most: 2 }
  expect([answer.status, answer.body]).toEqual([
    200,
    [
      ...[true, 5, '5'].map((kind) => ({ kind, ...two })),
      { kind: 'all', n: 10, priced: 9, prices: 7, sum: 1e17, mean: 2.5e16, least: -2, most: 'x' },
      { kind: 'none', n: 3, priced: 2, prices: 2, sum: 0, mean: null, least: 0, most: 'y' },
      // Of null, of a list, and of a document without the field.
      { kind: null, ...two, n: 3, priced: 2, sum: 4 },
    ],
  ])
})

/** No rule that fails allows anything, and the caller does not learn why. */
test('rules that divide by nothing allow nothing, through each door', async () => {
  const rule = 'doc.total / doc.parts > 1'
  const { guid } = objectOf(
    objectsOf(await quoin.manage('POST', '/_system/storages/search', { filters: { name: 'guarded' } }))[0]
      ?._meta,
  )
  const one = await create('guarded', { total: 4, parts: 0 })
  await quoin.manage('PUT', `/_system/storages/${guid}`, {
    rules: { create: rule, change: rule, remove: rule },
  })
  const before = await quoin.documents('guarded')
  const path = pathOf('guarded')
  for (const body of [{ total: 4, parts: 0 }, { total: 4 }, { total: 'x', parts: 2 }])
    for (const [method, address] of [
      ['POST', path],
      ['PUT', `${path}/${one}`],
      ['POST', '/guarded'],
      ['PUT', `/guarded/${one}`],
    ] as const) {
      const refused = await quoin.send(method, address, { as: 'ann', body })
      expect([method, address, refused.status]).toEqual([method, address, 403])
      expect(refused.text).not.toContain('divided')
    }
  for (const address of [`${path}/${one}`, `/guarded/${one}`])
    expect((await quoin.send('DELETE', address, { as: 'ann' })).status).toBe(403)
  expect(await quoin.documents('guarded')).toEqual(before)
  expect((await quoin.send('POST', '/guarded', { as: 'ann', body: { total: 4, parts: 2 } })).status).toBe(201)
})
