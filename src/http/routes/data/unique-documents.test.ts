import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../../test/document-server.ts'
import { textAt } from '../../../../test/json-at.ts'
import { createField } from '../../../records/fields/field-records.ts'
import type { JsonObject, JsonValue } from '../../../shared/json.ts'

let fixture: DocumentServer
let path: string

beforeAll(async () => {
  fixture = await openDocumentServer()
  await fixture.addUser('writer', ['storages_view', 'storages_create', 'storages_update', 'storages_remove'])
  path = `/_system/storages/${await fixture.make('goods', false)}/documents`
  const by = { guid: 'u', username: 'ann' }
  const unique: JsonValue = { ignore_case: true }
  await createField(fixture.database, { name: 'sku', type: 'string', storage: 'goods', unique }, by)
})
afterAll(() => fixture.close())

const send = (method: 'POST' | 'PUT' | 'DELETE', rest: string, body?: JsonObject) =>
  fixture.send(method, `${path}${rest}`, 'writer', body === undefined ? {} : { body })

const create = async (sku: string) => textAt((await send('POST', '', { sku })).body, '_meta', 'guid')

const conflict = {
  error: 'CONFLICT',
  code: 409,
  message: 'Another document of the storage goods has the same sku. Use another value.',
  fields: ['sku'],
}

test('a document with a value that another one has is 409 naming the field, by every way', async () => {
  const first = await create('a')
  const second = await create('b')
  for (const refused of [await send('POST', '', { sku: 'A' }), await send('PUT', `/${second}`, { sku: 'A' })])
    expect([refused.status, refused.body]).toEqual([409, conflict])
  expect((await send('DELETE', `/${first}`)).status).toBe(200)
  expect((await send('PUT', `/${second}`, { sku: 'A' })).status).toBe(200)
  const restored = await send('POST', `/${first}/restore`)
  expect([restored.status, restored.body]).toEqual([409, conflict])
  expect((await send('DELETE', `/${second}?hard=true`)).status).toBe(200)
  expect((await send('POST', `/${first}/restore`)).status).toBe(200)
  expect((await send('POST', '', { sku: 'a' })).status).toBe(409)
})

test('of 50 at once with one value exactly one is stored', async () => {
  const replies = await Promise.all(Array.from({ length: 50 }, () => send('POST', '', { sku: 'storm' })))
  const statuses = replies.map(({ status }) => status).sort((a, b) => a - b)
  expect(statuses).toEqual([200, ...Array.from({ length: 49 }, () => 409)])
})

test('an import names the line', async () => {
  await create('taken')
  const raw = ['{"sku":"x"}', '{"sku":"y"}', '{"sku":"TAKEN"}', '{"sku":"z"}'].join('\n')
  const refused = await fixture.send('POST', `${path}/import`, 'writer', {
    raw,
    type: 'application/x-ndjson',
  })
  expect([refused.status, textAt(refused.body, 'message')]).toEqual([409, expect.stringContaining('3')])
  expect((await send('POST', '', { sku: 'x' })).status).toBe(200)
})
