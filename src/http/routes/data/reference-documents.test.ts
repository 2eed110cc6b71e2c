import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../../test/document-server.ts'
import { textAt } from '../../../../test/json-at.ts'
import { slowSteps, turnsDuring } from '../../../../test/turns-during.ts'
import { createField } from '../../../records/fields/field-records.ts'
import type { JsonObject } from '../../../shared/json.ts'

const nowhere = '019b76da-a800-7000-8000-000000000000'
let fixture: DocumentServer
let customers: string
let customerPath: string
let orderPath: string

beforeAll(async () => {
  fixture = await openDocumentServer()
  await fixture.addUser('writer', ['storages_view', 'storages_create', 'storages_update', 'storages_remove'])
  customers = await fixture.make('customers', false)
  customerPath = `/_system/storages/${customers}/documents`
  orderPath = `/_system/storages/${await fixture.make('orders', false)}/documents`
  const reference = { storage: 'customers', on_delete: 'refuse' }
  const by = { guid: 'u', username: 'ann' }
  await createField(fixture.database, { name: 'customer', type: 'string', storage: 'orders', reference }, by)
})
afterAll(() => fixture.close())

const send = (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: JsonObject) =>
  fixture.send(method, path, 'writer', body === undefined ? {} : { body })
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
  const line = await fixture.send('POST', `${orderPath}/import`, 'writer', {
    raw,
    type: 'application/x-ndjson',
  })
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

test('a search follows references that it names, filters through them, and refuses what it cannot answer', async () => {
  const [eve, zoe] = [
    await create(customerPath, { name: 'Eve' }),
    await create(customerPath, { name: 'Zoe' }),
  ]
  const order = await create(orderPath, { n: 1, customer: eve })
  await create(orderPath, { n: 2, customer: zoe })
  const find = (body: JsonObject) => send('POST', `${orderPath}/search`, body)
  const found = await find({ filters: { 'customer.name': 'Eve' }, expand: ['customer'] })
  expect([found.status, found.body]).toEqual([
    200,
    [expect.objectContaining({ n: 1, _expand: { customer: expect.objectContaining({ name: 'Eve' }) } })],
  ])
  expect((await find({ filters: { 'customer.name': 'Nemo' } })).body).toEqual([])
  for (const [body, message] of [
    [{ sort: [{ 'customer.name': 'asc' }] }, 'customer refers to the storage customers'],
    [{ expand: ['n'] }, 'expand names no reference of the storage orders: n'],
    [{ expand: ['customer'], limit: 1001 }, ''],
    [{ expand: Array.from({ length: 17 }, () => 'customer') }, ''],
  ] as const) {
    const refused = await find(body)
    expect([refused.status, textAt(refused.body, 'message')]).toEqual([400, expect.stringContaining(message)])
  }
  const one = await fixture.send('GET', `${orderPath}/${order}?expand=customer`, 'writer')
  expect(one.body).toMatchObject({ n: 1, _expand: { customer: { name: 'Eve' } } })
  const wrong = await fixture.send('GET', `${orderPath}/${order}?expand=customer,n`, 'writer')
  expect([wrong.status, textAt(wrong.body, 'error')]).toEqual([400, 'INVALID_QUERY'])
})

test('an import finds what rows refer to by name, and stores nothing when one is unknown', async () => {
  await fixture.make('firms', false)
  await fixture.make('bills', false)
  const by = { guid: 'u', username: 'ann' }
  const fields: readonly JsonObject[] = [
    { name: 'name', type: 'string', storage: 'firms', unique: true },
    { name: 'city', type: 'string', storage: 'firms' },
    {
      name: 'firm',
      type: 'reference',
      storage: 'bills',
      reference: { storage: 'firms', on_delete: 'refuse' },
    },
  ]
  for (const field of fields) await createField(fixture.database, field, by)
  const path = '/_system/storages/bills/documents'
  const acme = await create('/_system/storages/firms/documents', { name: 'Acme', city: 'Rome' })
  const load = (raw: string, firm: string, type = 'text/csv') => {
    const query = new URLSearchParams({ mapping: JSON.stringify({ Firm: firm }) })
    return fixture.send('POST', `${path}/import?${query}`, 'writer', { raw, type })
  }
  const all = async () => (await send('POST', `${path}/search`, { sort: [{ n: 'asc' }] })).body
  const unknown = await load('n,Firm\n1,Acme\n2,Nemo\n', 'firm.name')
  expect([unknown.status, textAt(unknown.body, 'message')]).toEqual([
    400,
    expect.stringMatching(/^Line 3: .*firm.name/),
  ])
  const ambiguous = await load('n,Firm\n1,Rome\n', 'firm.city')
  expect([ambiguous.status, textAt(ambiguous.body, 'message')]).toEqual([
    400,
    expect.stringContaining('city is no unique text field'),
  ])
  expect(await all()).toEqual([])
  expect((await load('n,Firm\n1,Acme\n2,\n', 'firm.name')).status).toBe(200)
  expect((await load('{"n":3,"Firm":"Acme"}', 'firm.name', 'application/x-ndjson')).status).toBe(200)
  const stored = await all()
  expect(stored).toMatchObject([{ n: 3, firm: acme }, { n: '1', firm: acme }, { n: '2' }])
  expect(JSON.stringify(stored)).not.toContain('firm.name')
})

describe('an import finds what the column of a reference names', () => {
  const by = { guid: 'u', username: 'ann' }
  const ends: readonly JsonObject[] = [
    { name: 'name', type: 'string', storage: 'buyers', unique: { ignore_case: true } },
    { name: 'mail', type: 'email', storage: 'buyers', unique: true },
    { name: 'city', type: 'string', storage: 'buyers' },
    { name: 'title', type: 'string', storage: 'plain' },
  ]
  const refers = (name: string, storage: string): JsonObject => ({
    ...{ name, type: 'reference', storage: 'deals' },
    reference: { storage, on_delete: 'refuse' },
  })
  const deals = '/_system/storages/deals/documents'
  let [ann, bob] = ['', '']
  beforeAll(async () => {
    for (const storage of ['buyers', 'plain', 'deals']) await fixture.make(storage, false)
    for (const field of [
      ...ends,
      refers('buyer', 'buyers'),
      refers('seller.who', 'buyers'),
      refers('other', 'plain'),
    ])
      await createField(fixture.database, field, by)
    const buyers = '/_system/storages/buyers/documents'
    ann = await create(buyers, { name: 'Ann', mail: 'ann@x.org', city: 'Rome' })
    bob = await create(buyers, { name: 'bob@x.org', mail: 'b@x.org', city: 'Rome' })
    await create(buyers, { name: 'Cid', mail: 'bob@x.org' })
    const gone = await create(buyers, { name: 'Gone' })
    expect((await send('DELETE', `${buyers}/${gone}`)).status).toBe(200)
  })

  const load = (raw: string | Buffer, type = 'text/csv') =>
    fixture.send('POST', `${deals}/import`, 'writer', { raw, type })
  const all = async () => (await send('POST', `${deals}/search`, { sort: [{ n: 'asc' }] })).body

  test.each([
    [
      'a name that no document has',
      'Nemo',
      'The value of buyer names no document: buyers has none with this mail or name.',
    ],
    [
      'the name of a removed document',
      'Gone',
      'The value of buyer names no document: buyers has none with this mail or name.',
    ],
    [
      'a name of one document that is the address of another one',
      'bob@x.org',
      'The value of buyer names several documents of buyers, by mail, name: give the guid.',
    ],
    [
      '5,000 characters',
      'x'.repeat(5_000),
      'The value of buyer names no document: buyers has none with this mail or name.',
    ],
    [
      'markup',
      '<b>\u202eא &lt;',
      'The value of buyer names no document: buyers has none with this mail or name.',
    ],
  ])('%s is a wrong cell, and nothing is imported', async (_what, name, message) => {
    const wrong = { fields: ['buyer'], message }
    const csv = await load(`n,buyer\n1,Ann\n2,"${name}"\n`)
    expect([csv.status, csv.body]).toMatchObject([400, { details: { lines: [{ line: 3, ...wrong }] } }])
    const ndjson = await load(JSON.stringify({ n: 1, buyer: name }), 'application/x-ndjson')
    expect([ndjson.status, ndjson.body]).toMatchObject([400, { details: { lines: [{ line: 1, ...wrong }] } }])
    expect(await all()).toEqual([])
  })

  test('where the other storage has no unique field, the message says so', async () => {
    const { status, text } = await load('n,other\n1,Ann\n')
    expect([status, text]).toEqual([
      400,
      expect.stringContaining(
        'The value of other is no guid, and plain has no unique text field to find it by.',
      ),
    ])
  })

  test('names and guids, in any column that names it, of every kind of file', async () => {
    expect((await load(`n,buyer,seller.who\n1,ann,ann@x.org\n2,${bob},\n3,,`)).body).toEqual({ imported: 3 })
    expect((await load('n,buyer.name,buyer.city\n4,ANN,Rome\n')).body).toEqual({ imported: 1 })
    const nested = { n: '5', buyer: ' Ann ', seller: { who: 'ann', x: 1 } }
    expect((await load(JSON.stringify(nested), 'application/x-ndjson')).body).toEqual({ imported: 1 })
    const stored = await all()
    expect(stored).toMatchObject([
      { n: '1', buyer: ann, seller: { who: ann } },
      { n: '2', buyer: bob },
      { n: '3' },
      { n: '4', buyer: ann },
      { n: '5', buyer: ann, seller: { who: ann, x: 1 } },
    ])
    expect(JSON.stringify(stored)).not.toMatch(/buyer\.|Rome/)
  })

  test('what has a column of the reference and of its name and city is read again', async () => {
    const columns = JSON.stringify(['n', 'buyer', 'buyer.name', 'buyer.city'])
    const file = await fixture.send(
      'GET',
      `${deals}/export?${new URLSearchParams({ format: 'csv', columns })}`,
      'writer',
    )
    expect((await load(file.text)).body).toEqual({ imported: 5 })
  })
})

// PostgreSQL answers in turns of its own.
if (inject('engine') === 'sqlite')
  test.each(['clear', 'delete'])(
    'others have their turn between two documents that %s follows',
    async (on_delete) => {
      const [parents, children] = [`parents_${on_delete}`, `children_${on_delete}`]
      const parentPath = `/_system/storages/${await fixture.make(parents, false)}/documents`
      const childPath = `/_system/storages/${await fixture.make(children, false)}/documents`
      const reference = { storage: parents, on_delete }
      const by = { guid: 'u', username: 'ann' }
      await createField(
        fixture.database,
        { name: 'parent', type: 'string', storage: children, reference },
        by,
      )
      const parent = await create(parentPath)
      for (let n = 0; n < 40; n++) await create(childPath, { parent })
      slowSteps()
      try {
        let status = 0
        const turns = await turnsDuring(async () => {
          status = (await send('DELETE', `${parentPath}/${parent}`)).status
        })
        expect([status, turns > 2 * 40]).toEqual([200, true])
      } finally {
        vi.restoreAllMocks()
      }
    },
  )
