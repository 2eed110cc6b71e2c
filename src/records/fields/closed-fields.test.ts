import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../test/document-server.ts'
import { textAt } from '../../../test/json-at.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll } from '../../shared/query.ts'
import { documentOf } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import { createField } from './field-records.ts'

const by = { guid: 'u', username: 'ann' }
let fixture: DocumentServer
let path: string
beforeAll(async () => {
  fixture = await openDocumentServer()
  const made = await fixture.send('POST', '/_system/storages', 'admin', {
    body: { name: 'goods', closed: true },
  })
  path = `/_system/storages/${textAt(made.body, '_meta', 'guid')}`
  for (const [name, type] of [
    ['title', 'string'],
    ['price', 'number'],
    ['size', 'object'],
    ['owner.name', 'string'],
    ['lines', 'array'],
    ['lines.sku', 'string'],
  ])
    await createField(fixture.database, { name: name ?? '', type: type ?? '', storage: 'goods' }, by)
  await createField(fixture.database, { name: 'note', type: 'string' }, by)
})
afterAll(() => fixture.close())

const send = (body: JsonObject) => fixture.send('POST', `${path}/documents`, 'admin', { body })
const count = () => fixture.database.session().count('goods', matchAll)

describe('a closed storage', () => {
  test.each<[string, JsonObject]>([
    ['its fields', { title: 'Tea', price: 1 }],
    ['an object that may hold anything', { size: { width: 1, deep: { er: 2 } } }],
    ['a part of a field', { owner: { name: 'Ann' } }],
    ['lists', { lines: [{ sku: 'a', other: 1 }] }],
    ['a field of every storage', { note: 'x' }],
    ['nothing', {}],
  ])('takes %s', async (_what, fields) => {
    expect((await send(fields)).status).toBe(200)
  })

  test.each<[JsonObject, string, string]>([
    [{ titel: 'Tea' }, 'titel', ' Did you mean title?'],
    [{ title: 'Tea', colour: null }, 'colour', ''],
    [{ owner: { nam: 'Ann' } }, 'owner.nam', ' Did you mean owner.name?'],
  ])('refuses %j by every way, and stores nothing', async (fields, name, advice) => {
    const guid = await transact(fixture.database, async (session) =>
      guidOf(documentOf(await session.create('goods', setFields({ title: 'Tea' })))),
    )
    const before = await count()
    const message = `The storage goods has no field ${name}, and it is closed.${advice}`
    const refusal = { status: 400, body: { message, fields: [name] } }
    expect(await send(fields)).toMatchObject(refusal)
    expect(await fixture.send('PUT', `${path}/documents/${guid}`, 'admin', { body: fields })).toMatchObject(
      refusal,
    )
    const raw = `{"title":"a"}\n${JSON.stringify(fields)}`
    const sent = { raw, type: 'application/x-ndjson' }
    expect(await fixture.send('POST', `${path}/documents/import`, 'admin', sent)).toMatchObject({
      status: 400,
      body: { message: `Line 2: ${message} Nothing was imported.` },
    })
    expect(await count()).toBe(before)
  })

  test('lets a field be taken away that it does not have', async () => {
    await fixture.send('PUT', path, 'admin', { body: { closed: false } })
    const made = await send({ title: 'Tea', old: 1 })
    expect(made.status).toBe(200)
    await fixture.send('PUT', path, 'admin', { body: { closed: true } })
    const guid = textAt(made.body, '_meta', 'guid')
    const change = (body: JsonObject) => fixture.send('PUT', `${path}/documents/${guid}`, 'admin', { body })
    expect((await change({ price: 2 })).body).toMatchObject({ price: 2, old: 1 })
    expect((await change({ old: 2 })).status).toBe(400)
    await transact(fixture.database, (session) =>
      session.update('goods', guid, [{ op: 'remove', field: 'old' }]),
    )
    expect((await change({ price: 3 })).body).not.toHaveProperty('old')
  })
})

test('a storage is open unless it says so, also without fields', async () => {
  expect((await fixture.send('GET', path, 'admin')).body).toMatchObject({ closed: true })
  const open = await fixture.send('POST', '/_system/storages', 'admin', { body: { name: 'open' } })
  expect(open.body).toMatchObject({ closed: false })
  const bare = await fixture.send('POST', '/_system/storages', 'admin', {
    body: { name: 'bare', closed: true },
  })
  const guid = textAt(bare.body, '_meta', 'guid')
  expect(
    (await fixture.send('POST', `/_system/storages/${guid}/documents`, 'admin', { body: { a: 1 } })).status,
  ).toBe(400)
})
