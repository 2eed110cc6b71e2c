/** Blocks that order or group by a field of another document, which a deploy refuses, in a blueprint that is active with them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const pins: Readonly<Record<string, readonly [type: string, pin: string, given: JsonObject]>> = {
  list: ['function_search', 'sort', { sort: 'supplier.name' }],
  one: ['function_search_single_result', 'sort', { sort: 'supplier.name desc' }],
  walk: ['each', 'sort', { sort: 'n, supplier.name' }],
  groups: ['function_aggregate', 'group', { group: ['supplier.name'] }],
  sums: ['function_aggregate', 'values', { values: [{ sum: 'supplier.balance' }] }],
}
const names = Object.keys(pins)

/** Guids of the blocks that read, by their names. */
const readers = new Map<string, string>()
let quoin: TestQuoin
beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  for (const name of ['suppliers', 'goods']) await quoin.manage('POST', '/_system/storages', { name })
  const blocks = Object.entries(pins).flatMap(([name, [type, , input]]): [string, JsonObject][] => [
    [name, { type: 'on_startup_register_uri_get', in: { uri: name }, scopes: ['*public'] }],
    [`${name}_read`, { type, in: { flow: `@${name}.flow`, storage: 'goods', ...input } }],
    [`${name}_end`, { type: 'httpconnection_set_json', in: { flow: `@${name}_read.flow`, value: 'read' } }],
  ])
  const chosen = {
    chosen: { type: 'on_startup_register_uri_get', in: { uri: 'chosen' }, scopes: ['*public'] },
    chosen_read: {
      type: 'function_search',
      in: { flow: '@chosen.flow', storage: 'goods', sort: '@chosen_order.sort' },
    },
    chosen_order: { type: 'query_sort_field', in: { field: '=query.by' } },
    chosen_end: { type: 'httpconnection_set_json', in: { flow: '@chosen_read.flow', value: 'read' } },
    caught: { type: 'on_startup_register_uri_get', in: { uri: 'caught' }, scopes: ['*public'] },
    caught_read: {
      type: 'function_search',
      in: { flow: '@caught.flow', storage: 'goods', sort: 'supplier.name' },
    },
    caught_end: {
      type: 'httpconnection_set_json',
      in: { flow: '@caught_read.error', value: '=caught_read.error.code' },
    },
  }
  // Deployed as the version before did it: without knowing that the field leads elsewhere.
  const blueprint = await quoin.install('Goods', { ...Object.fromEntries(blocks), ...chosen })
  for (const block of objectsOf(await quoin.manage('GET', `/blueprints/${blueprint}/blocks`)))
    readers.set(String(block.name), guidOf(block))
  const supplier = guidOf(
    await quoin.manage('POST', '/_system/storages/suppliers/documents', { name: 'Ada', balance: 1 }),
  )
  await quoin.manage('POST', '/_system/storages/goods/documents', { n: 1, supplier })
  for (const name of names) expect((await quoin.send('GET', `/${name}`)).status).toBe(200)
  await quoin.manage('POST', '/blueprintfields', {
    storage: 'goods',
    name: 'supplier',
    type: 'reference',
    reference: { storage: 'suppliers', on_delete: 'refuse' },
  })
  const again = await quoin.send('POST', `/blueprints/deploy/${blueprint}`, { as: 'admin' })
  expect([again.status, again.text]).toEqual([422, expect.stringContaining('supplier.name')])
})
afterAll(() => quoin.close())

test.each(names)('%s says what its builder has to change, and the log names block and pin', async (name) => {
  const [, pin, input] = pins[name] ?? []
  const field = JSON.stringify(input).includes('balance') ? 'supplier.balance' : 'supplier.name'
  const reply = await quoin.send('GET', `/${name}`)
  expect([reply.status, reply.body]).toEqual([
    422,
    { error: expect.stringContaining(`The pin ${pin} has ${field}, a field of another document`) },
  ])
  const entries = (await quoin.systemLog()).filter((one) => one.block === readers.get(`${name}_read`))
  expect(entries).toMatchObject([{ level: 'error', pin, message: expect.stringContaining(field) }])
})

test('an order that the request names is a fault of the request', async () => {
  const reply = await quoin.send('GET', '/chosen?by=supplier.name')
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('supplier.name')])
  expect((await quoin.send('GET', '/chosen?by=supplier')).status).toBe(200)
})

test('the error pin of the block gives the code', async () => {
  expect((await quoin.send('GET', '/caught')).body).toBe('VALIDATION_FAILED')
})

test('they work again when the field is a reference no more', async () => {
  const [field] = objectsOf(await quoin.manage('POST', '/blueprintfields/search', {}))
  await quoin.manage('PUT', `/blueprintfields/${guidOf(field ?? null)}`, { reference: null })
  for (const name of names) expect((await quoin.send('GET', `/${name}`)).status).toBe(200)
})
