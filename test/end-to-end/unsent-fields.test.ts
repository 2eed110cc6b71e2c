/** A flow that names a field whose value was not sent: a new document gets the field's default, and null where null was sent. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

const storage = 'orders'
let quoin: TestQuoin

const post = (uri: string) => ({ type: 'on_startup_register_uri_post', in: { uri }, scopes: ['*public'] })
const reply = (flow: string) => ({
  type: 'httpconnection_set_json',
  in: { flow: `@${flow}.flow`, value: `@${flow}.document` },
})
const set = '={ title: body.title, status: body.status, note: body.note, address: { city: body.city } }'

beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  await quoin.manage('POST', '/_system/storages', { name: storage })
  for (const field of [
    { name: 'title', type: 'string', unique: true },
    { name: 'status', type: 'string', default_value: 'open' },
    { name: 'address.city', type: 'string', default_expression: '"Oslo"' },
    { name: 'note', type: 'string' },
  ])
    await quoin.manage('POST', '/blueprintfields', { storage, ...field })
  await quoin.install('Orders', {
    create: post('create'),
    made: { type: 'function_create_document_from_mutations', in: { flow: '@create.flow', storage, set } },
    created: reply('made'),
    upsert: post('upsert'),
    put: { type: 'function_upsert_document', in: { flow: '@upsert.flow', storage, by: ['title'], set } },
    upserted: reply('put'),
    whole: post('whole'),
    put_whole: {
      type: 'function_upsert_document',
      in: { flow: '@whole.flow', storage, by: ['title'], set: '=body' },
    },
    whole_reply: reply('put_whole'),
    mutate: post('mutate'),
    object: { type: 'mutations_set_bp_field_multiple', in: { object: set } },
    mutated: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@mutate.flow', storage, mutations: '@object.mutations' },
    },
    mutated_reply: reply('mutated'),
  })
})
afterAll(() => quoin.close())

async function send(path: string, body: JsonObject) {
  const { _meta, ...document } = objectOf((await quoin.send('POST', path, { body })).body)
  return document
}

test.each(['/create', '/upsert', '/mutate'])(
  '%s: what was not sent gets its default, or null without one',
  async (path) => {
    expect(await send(path, { title: path })).toEqual({
      title: path,
      status: 'open',
      note: null,
      address: { city: 'Oslo' },
    })
  },
)

test.each(['/create', '/upsert', '/mutate'])('%s: what was sent is kept, null too', async (path) => {
  const sent = { title: `${path} sent`, status: null, note: 'x', city: 'Rome' }
  expect(await send(path, sent)).toEqual({
    title: `${path} sent`,
    status: null,
    note: 'x',
    address: { city: 'Rome' },
  })
})

test('a change of a document is not a new one: what was not sent becomes nothing', async () => {
  await send('/upsert', { title: 'again', status: 'done', city: 'Rome' })
  expect(await send('/upsert', { title: 'again' })).toMatchObject({ status: null, address: { city: null } })
})

test.each<[string, string, JsonObject]>([
  ['not sent', '/upsert', {}],
  ['null', '/upsert', { title: null }],
  ['not in the body that is stored whole', '/whole', {}],
  ['null in the body that is stored whole', '/whole', { title: null }],
])('an upsert whose unique field is %s is 400, and the reply names the field', async (_what, path, sent) => {
  const before = (await quoin.systemLog()).length
  const reply = await quoin.send('POST', path, { body: { status: 'open', ...sent } })
  expect(reply).toMatchObject({
    status: 400,
    body: { fields: { title: 'must have a value: the document is found by it' } },
  })
  expect((await quoin.systemLog()).length).toBe(before)
})

test('a unique field that is there before its storage gives no warning, and one that is not unique does', async () => {
  for (const field of [
    { name: 'sku', type: 'string', unique: true },
    { name: 'name', type: 'string' },
  ])
    await quoin.manage('POST', '/blueprintfields', { storage: 'ups', ...field })
  const upsert = (uri: string, by: string): JsonObject => ({
    [`on_${by}`]: post(uri),
    [`put_${by}`]: {
      type: 'function_upsert_document',
      in: { flow: `@on_${by}.flow`, storage: 'ups', by: [by], set: `={ ${by}: body.${by} }` },
    },
  })
  await quoin.install('Ups', { ...upsert('by-sku', 'sku'), ...upsert('by-name', 'name') })
  const messages = (await quoin.systemLog()).map(({ message }) => String(message))
  expect(messages.filter((message) => message.includes('no unique field'))).toEqual([
    expect.stringContaining('name: no unique field of the storage ups yet'),
  ])
})
