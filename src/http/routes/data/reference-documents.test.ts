import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../../test/document-server.ts'
import { textAt } from '../../../../test/json-at.ts'
import { createField } from '../../../records/fields/field-records.ts'
import type { JsonObject } from '../../../shared/json.ts'

const nowhere = '019b76da-a800-7000-8000-000000000000'
let room: DocumentServer
let customers: string
let customerPath: string
let orderPath: string

beforeAll(async () => {
  room = await openDocumentServer()
  await room.addUser('writer', ['storages_view', 'storages_create', 'storages_update', 'storages_remove'])
  customers = await room.make('customers', false)
  customerPath = `/_system/storages/${customers}/documents`
  orderPath = `/_system/storages/${await room.make('orders', false)}/documents`
  const reference = { storage: 'customers', on_delete: 'refuse' }
  const by = { guid: 'u', username: 'ann' }
  await createField(room.database, { name: 'customer', type: 'string', storage: 'orders', reference }, by)
})
afterAll(() => room.close())

const send = (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: JsonObject) =>
  room.send(method, path, 'writer', body === undefined ? {} : { body })
const create = async (path: string, body: JsonObject = {}) =>
  textAt((await send('POST', path, body)).body, '_meta', 'guid')

const missing = {
  error: 'INVALID_BODY',
  code: 400,
  message: 'customer names no document of the storage customers. Use the guid of one that is there.',
  fields: ['customer'],
}

test('a value that names no document is 400 naming the field, by every way', async () => {
  const order = await create(orderPath)
  const wrong = { customer: nowhere }
  for (const refused of [
    await send('POST', orderPath, wrong),
    await send('PUT', `${orderPath}/${order}`, wrong),
  ])
    expect([refused.status, refused.body]).toEqual([400, missing])
  const raw = ['{"n":1}', `{"customer":"${nowhere}"}`, '{"n":3}'].join('\n')
  const line = await room.send('POST', `${orderPath}/import`, 'writer', { raw, type: 'application/x-ndjson' })
  expect([line.status, textAt(line.body, 'message')]).toEqual([400, expect.stringContaining('2')])
})

test('removing a document that others refer to is 409 naming them, by every way, and so is the end of its storage', async () => {
  const ann = await create(customerPath)
  const order = await create(orderPath, { customer: ann })
  for (const path of [`${customerPath}/${ann}`, `${customerPath}/${ann}?hard=true`]) {
    const refused = await send('DELETE', path)
    expect([refused.status, refused.body]).toEqual([
      409,
      {
        error: 'CONFLICT',
        code: 409,
        message:
          '1 document of the storage orders refers to the document with the field customer. Change or remove them first.',
        details: { storage: 'orders', field: 'customer', total: 1 },
      },
    ])
  }
  const whole = await send('DELETE', `/_system/storages/${customers}`)
  expect([whole.status, textAt(whole.body, 'message')]).toEqual([
    409,
    expect.stringContaining('The field customer of the storage orders refers'),
  ])
  expect((await send('DELETE', `${orderPath}/${order}`)).status).toBe(200)
  expect((await send('DELETE', `${customerPath}/${ann}`)).status).toBe(200)
  expect((await send('POST', `${orderPath}/${order}/restore`)).status).toBe(409)
})
