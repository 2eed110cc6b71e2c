/** Conditions between fields, with messages of their own, at every door. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { openVisitor } from '../page-visitor.ts'
import { objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

const message = 'The end must not be before the start.'
const constraint = { rule: 'doc.end >= doc.start', message, field: 'end' }

let quoin: TestQuoin
let storage = ''
beforeAll(async () => {
  quoin = await openTestQuoin()
  const made = await quoin.manage('POST', '/_system/storages', { name: 'contracts' })
  storage = guidOf(made)
  for (const name of ['start', 'end'])
    await quoin.manage('POST', '/blueprintfields', { storage: 'contracts', name, type: 'date' })
  await quoin.manage('PUT', `/_system/storages/${storage}`, { constraints: [constraint] })
  await quoin.install('Contracts', {
    post: { type: 'on_startup_register_uri_post', in: { uri: 'contracts' }, scopes: ['*public'] },
    create: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@post.flow', storage: 'contracts', set: '=body' },
    },
    made: { type: 'reply', in: { flow: '@create.flow', value: '=create.document', code: 201 } },
    put: { type: 'on_startup_register_uri_put', in: { uri: 'contracts/{guid}' }, scopes: ['*public'] },
    change: {
      type: 'function_update_document_mutations',
      in: { flow: '@put.flow', storage: 'contracts', guid: '=params.guid', set: '=body' },
    },
    changed: { type: 'reply', in: { flow: '@change.flow', value: '=change.document' } },
    page: { type: 'state_page', in: { url: 'contract', title: 'Contract' }, scopes: ['*public'] },
    start: { type: 'state_input_dynamic', in: { field: 'start', type: 'date' } },
    end: { type: 'state_input_dynamic', in: { state: '@start.state', field: 'end', type: 'date' } },
    form: { type: 'state_form', in: { form_id: 'add', content: '@end.state', submit_label: 'Save' } },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@form.state' } },
    store: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@form.submit', storage: 'contracts', set: '=form.values' },
    },
    saved: { type: 'state_redirect', in: { flow: '@store.flow', url: '/contract' } },
  })
})
afterAll(() => quoin?.close())

const guidOf = (document: JsonValue) => String(objectOf(objectOf(document)._meta).guid)
const right = { start: '2026-06-01', end: '2026-06-10' }
const wrong = { start: '2026-06-10', end: '2026-06-01' }
const api = (method: 'POST' | 'PUT', path: string, body: JsonObject) =>
  quoin.send(method, `/_system/storages/${storage}/documents${path}`, { as: 'admin', body })
const count = async () => (await quoin.documents('contracts')).length

test.each<[string, JsonObject, string]>([
  ['a rule that cannot be read', { ...constraint, rule: 'doc.end >=' }, 'cannot be used'],
  ['a rule that is no condition', { ...constraint, rule: 'doc.end + 1' }, 'constraint 1'],
  ['a rule about the user', { ...constraint, rule: 'user.guid == doc.owner' }, 'constraint 1'],
  ['a rule about the clock', { ...constraint, rule: 'doc.end >= today()' }, 'depends on its document alone'],
  ['no message', { ...constraint, message: ' ' }, 'message'],
])('%s is refused, and the constraints stay', async (_what, input, words) => {
  const answer = await quoin.send('PUT', `/_system/storages/${storage}`, {
    as: 'admin',
    body: { constraints: [input] },
  })
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(words)])
  expect(objectOf(await quoin.manage('GET', `/_system/storages/${storage}`)).constraints).toEqual([
    constraint,
  ])
})

test('no door stores a document that breaks one, and each says its message at its field, to administrators too', async () => {
  const before = await count()
  const asAdmin = await api('POST', '', wrong)
  expect(asAdmin.body).toMatchObject({ error: 'INVALID_BODY', message, fields: ['end'] })
  const sent = await quoin.send('POST', '/contracts', { body: wrong })
  expect([sent.status, sent.body]).toEqual([400, { error: message, fields: { end: message } }])
  const visitor = openVisitor(await quoin.quoin.server.listen())
  const refused = await visitor.submit(await visitor.get('/contract'), 'add', wrong)
  expect([refused.status, refused.text.includes(message)]).toEqual([422, true])
  expect(refused.form('add').input('end')).toContain('aria-invalid')
  expect(refused.form('add').input('start')).not.toContain('aria-invalid')
  expect(await count()).toBe(before)
})

test('a change is held against the document as it will be, and only where it touches a field of the rule', async () => {
  const made = await quoin.send('POST', '/contracts', { body: { ...right, note: 'a' } })
  expect(made.status).toBe(201)
  const path = `/contracts/${guidOf(made.body ?? null)}`
  const put = async (body: JsonObject) => (await quoin.send('PUT', path, { body })).status
  expect(await put({ start: '2026-07-01' })).toBe(400)
  expect(await put({ end: '2026-05-01' })).toBe(400)
  expect(await put({ start: '2026-06-10' })).toBe(200)
  expect(await put({ end: null })).toBe(200)
  expect(await put({ start: '2027-01-01' })).toBe(200)

  await quoin.manage('PUT', `/_system/storages/${storage}`, { constraints: [] })
  expect(await put({ end: '2026-01-01' })).toBe(200)
  await quoin.manage('PUT', `/_system/storages/${storage}`, { constraints: [constraint] })
  expect(await put({ note: 'older documents stay' })).toBe(200)
  expect(await put({ end: '2026-01-02' })).toBe(400)
})

test('a constraint without a field is about the document, and one that cannot be evaluated does not hold', async () => {
  await quoin.manage('PUT', `/_system/storages/${storage}`, {
    constraints: [{ rule: 'doc.price * 2 < 10', message: 'Too dear.' }],
  })
  const sent = async (price: JsonValue) => {
    const { status, body } = await quoin.send('POST', '/contracts', { body: { price } })
    return [status, objectOf(body ?? null).error, objectOf(body ?? null).fields]
  }
  expect(await sent(4)).toEqual([201, undefined, undefined])
  expect(await sent(6)).toEqual([400, 'Too dear.', undefined])
  expect(await sent('x')).toEqual([400, 'Too dear.', undefined])
  await quoin.manage('PUT', `/_system/storages/${storage}`, { constraints: [constraint] })
})

test('an import names the line that breaks one, and stores nothing', async () => {
  const before = await count()
  const lines = [right, wrong, right].map((one) => JSON.stringify(one)).join('\n')
  const answer = await quoin.quoin.server.app.inject({
    method: 'POST',
    url: `/api/v1/_system/storages/${storage}/documents/import`,
    headers: {
      authorization: `Bearer ${await quoin.tokenOf('admin')}`,
      'content-type': 'application/x-ndjson',
    },
    payload: `${lines}\n`,
  })
  expect([answer.statusCode, answer.body]).toEqual([400, expect.stringContaining(`Line 2: ${message}`)])
  expect(await count()).toBe(before)
})

test('a computed field counts as written only where its value changes: older documents stay', async () => {
  await quoin.manage('PUT', `/_system/storages/${storage}`, { constraints: [] })
  const total = { storage: 'contracts', name: 'total', type: 'number', computed: 'doc.fee * 2' }
  await quoin.manage('POST', '/blueprintfields', total)
  const made = await quoin.send('POST', '/contracts', { body: { fee: 50 } })
  const path = `/contracts/${guidOf(made.body ?? null)}`
  const put = async (body: JsonObject) => (await quoin.send('PUT', path, { body })).status
  const constraints = [{ rule: 'doc.total < 10', message: 'Too dear.' }]
  await quoin.manage('PUT', `/_system/storages/${storage}`, { constraints })
  expect(await put({ fee: 60 })).toBe(400)
  expect(await put({ note: 'a' })).toBe(200)
  expect(await put({ fee: 4 })).toBe(200)
})
