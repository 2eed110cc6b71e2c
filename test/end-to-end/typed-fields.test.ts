/** A wrong value of each type through each way in: the same field is named, and nothing is stored. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fieldTypes as allTypes, type FieldType } from '../../src/shared/fields/field-type.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { openVisitor, type Visitor } from '../page-visitor.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

interface Tried {
  readonly wrong: JsonValue
  readonly problem: string
  /** What a form sends; undefined where a form cannot send a wrong value. */
  readonly typed?: string
  readonly rules?: JsonObject
}

/** Those that Quoin writes cannot be sent wrong. */
type Written = 'autonumber' | 'created_by' | 'changed_by'
const isWritten = (type: FieldType): type is Written =>
  type === 'autonumber' || type === 'created_by' || type === 'changed_by'
const fieldTypes = allTypes.flatMap((type) => (isWritten(type) ? [] : [type]))
const choices = { choices: ['a', 2] }
const tried: Readonly<Record<Exclude<FieldType, Written>, Tried>> = {
  string: { wrong: 5, problem: 'must be text' },
  line: { wrong: 'a\nb', problem: 'must be one line', typed: 'a\r\nb' },
  number: { wrong: '5', problem: 'must be a number', typed: 'five' },
  boolean: { wrong: 'true', problem: 'must be true or false' },
  object: { wrong: [], problem: 'must be an object', typed: '[1]' },
  array: { wrong: 'a', problem: 'must be a list' },
  date: { wrong: '31.1.2026', problem: 'must be a date such as', typed: '31.1.2026' },
  long_text: { wrong: false, problem: 'must be text' },
  integer: { wrong: 1.5, problem: 'must be a whole number', typed: '1.5' },
  decimal: { wrong: 1.005, problem: 'must be a number with at most 2 decimal places', typed: '1.005' },
  day: { wrong: '2026-02-30', problem: 'must be a day such as', typed: '2026-02-30' },
  instant: { wrong: '2026-01-31', problem: 'must be a time with a time zone', typed: 'noon' },
  choice: { wrong: 'b', problem: 'must be one of a, 2', typed: 'b', rules: choices },
  choices: { wrong: ['b'], problem: 'may hold only a, 2', typed: 'b', rules: choices },
  email: { wrong: 'ann', problem: 'must be an e-mail address', typed: 'ann' },
  url: { wrong: 'javascript:alert(1)', problem: 'must be a web address', typed: 'example' },
  phone: { wrong: 'call me', problem: 'must be a phone number', typed: 'call me' },
  reference: { wrong: 'x', problem: 'must be the guid of a document', typed: 'x' },
  file: { wrong: { name: 'a' }, problem: 'must be an uploaded file' },
  files: { wrong: [{}], problem: 'must be a list of uploaded files' },
  list: {
    wrong: [1, 'x'],
    problem: 'has an item 2 that must be a whole number',
    typed: '1\nx',
    rules: { items: 'integer' },
  },
}

let fixture: TestQuoin
let visitor: Visitor
let origin = ''
let storage: string

beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  storage = guidOf(await fixture.manage('POST', '/_system/storages', { name: 'typed' }))
  for (const type of fieldTypes)
    await fixture.manage('POST', '/blueprintfields', {
      ...{ name: `a_${type}`, type, storage: 'typed' },
      ...(tried[type].rules && { validation_rules: tried[type].rules }),
    })
  await fixture.install('Typed', blocks)
  origin = await fixture.quoin.server.listen()
  visitor = openVisitor(origin)
})
afterAll(() => fixture.close())

const store = { type: 'storage', fields: { storage: 'typed' } }
const inputs = Object.fromEntries(
  fieldTypes.map((type, at) => [
    `i${at}`,
    {
      type: 'state_input_dynamic',
      in: { field: `a_${type}`, ...(at > 0 && { state: `@i${at - 1}.state` }) },
    },
  ]),
)
/** An endpoint whose form has texts alone, which are held against the fields of the storage. */
function ofForms(uri: string, fields: JsonObject): JsonObject {
  return {
    [uri]: {
      ...{ type: 'on_startup_register_uri_post', in: { uri }, scopes: ['*public'] },
      fields: { schema_storage: 'typed', ...fields },
    },
    [`${uri}_made`]: {
      type: 'function_create_document_from_mutations',
      in: { flow: `@${uri}.flow`, storage: 'typed', set: '=body' },
    },
    [`${uri}_reply`]: { type: 'reply', in: { flow: `@${uri}_made.flow`, value: 'made' } },
  }
}
const blocks: JsonObject = {
  store,
  on: { type: 'on_startup_register_uri_post', in: { uri: 'typed' }, scopes: ['*public'] },
  set: { type: 'mutations_set_bp_field_multiple', in: { object: '@on.body' } },
  keep: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@on.flow', storage: '@store.storage', mutations: '@set.mutations' },
  },
  kept: { type: 'httpconnection_set_json', in: { flow: '@keep.flow', code: 201, value: '@keep.document' } },

  ...ofForms('typed_form', {}),
  ...ofForms('typed_parts', { accepts: 'multipart' }),

  later: { type: 'on_startup_register_uri_post', in: { uri: 'later' }, scopes: ['*public'] },
  defer: {
    type: 'function_custom_execute_from_queue',
    in: { flow: '@later.flow', function: 'write', queue: 'typed', attempts: 1, fields: '@later.body' },
    fields: { parameters: ['fields'] },
  },
  deferred: { type: 'httpconnection_set_json', in: { flow: '@defer.flow', code: 202 } },
  write: {
    type: 'trigger_custom_function',
    out: [{ id: 'fields', type: 'object' }],
    fields: { name: 'write' },
  },
  set_later: { type: 'mutations_set_bp_field_multiple', in: { object: '@write.fields' } },
  keep_later: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@write.flow', storage: '@store.storage', mutations: '@set_later.mutations' },
  },

  page: { type: 'state_page', in: { url: 'typed', title: 'Typed' } },
  ...inputs,
  save: { type: 'state_button', in: { state: `@i${fieldTypes.length - 1}.state`, label: 'Save' } },
  form: { type: 'state_form', in: { form_id: 'typed', content: '@save.state', storage: '@store.storage' } },
  show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@form.state' } },
  set_form: { type: 'mutations_set_bp_field_multiple', in: { object: '@form.values' } },
  keep_form: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@form.submit', storage: '@store.storage', mutations: '@set_form.mutations' },
  },
  sent: { type: 'state_redirect', in: { flow: '@keep_form.flow', url: '/typed' } },
}

const nothingStored = async () => expect(await fixture.documents('typed')).toEqual([])

describe.each(fieldTypes)('%s', (type) => {
  const name = `a_${type}`
  const { wrong, problem } = tried[type]
  const body = { [name]: wrong }
  const message = expect.stringContaining(`${name} ${problem}`)

  test('by the documents API', async () => {
    const path = `/_system/storages/${storage}/documents`
    const reply = await fixture.send('POST', path, { as: 'admin', body })
    expect([reply.status, reply.body]).toMatchObject([400, { message, fields: [name] }])
    await nothingStored()
  })

  test('by a block', async () => {
    const reply = await fixture.send('POST', '/typed', { body })
    expect([reply.status, reply.body]).toMatchObject([400, { error: message }])
    await nothingStored()
  })

  test('by an import', async () => {
    const reply = await fixture.quoin.server.app.inject({
      method: 'POST',
      url: `/api/v1/_system/storages/${storage}/documents/import`,
      headers: {
        authorization: `Bearer ${await fixture.tokenOf('admin')}`,
        'content-type': 'application/x-ndjson',
      },
      payload: `{"other":1}\n${JSON.stringify(body)}\n`,
    })
    expect([reply.statusCode, reply.json()]).toMatchObject([400, { message, fields: [name] }])
    expect(reply.json().message).toMatch(/^Line 2: /)
    await nothingStored()
  })

  test('by a job', async () => {
    expect((await fixture.send('POST', '/later', { body })).status).toBe(202)
    const dead = () =>
      fixture.manage('POST', '/queue/search', { filters: { queue: 'typed', status: 'dead' } })
    const errors = async () => objectsOf(await dead()).map(({ error }) => error)
    await expect.poll(errors, { timeout: 15_000, interval: 20 }).toContainEqual(message)
    await nothingStored()
  })
})

const typeable = fieldTypes.filter((type) => tried[type].typed !== undefined)
test.each(typeable)('%s by a form of a page', async (type) => {
  const page = await visitor.get('/typed')
  const values = { [`a_${type}`]: tried[type].typed }
  const refused = await visitor.submit(page, 'typed', values, { button: 'Save' })
  expect(refused.status).toBe(422)
  expect(refused.html.match(/href="#typed-[a-z_]+"/g)).toEqual([`href="#typed-a_${type}"`])
  await nothingStored()
})

const bodies: Readonly<Record<string, (name: string, value: string) => FormData | URLSearchParams>> = {
  typed_form: (name, value) => new URLSearchParams({ [name]: value }),
  typed_parts(name, value) {
    const form = new FormData()
    form.set(name, value)
    return form
  },
}
describe.each(Object.entries(bodies))('by the form of an endpoint, %s', (uri, bodyOf) => {
  test.each(typeable)('%s', async (type) => {
    const { typed = '' } = tried[type]
    // One text is a list of one, whatever it holds.
    const problem = tried[type].problem.replace('item 2', 'item 1')
    const name = `a_${type}`
    const reply = await fetch(`${origin}/api/v1/${uri}`, { method: 'POST', body: bodyOf(name, typed) })
    const said: unknown = await reply.json()
    expect([reply.status, said]).toMatchObject([
      400,
      { error: expect.stringContaining(`${name} ${problem}`), fields: { [name]: expect.any(String) } },
    ])
    await nothingStored()
  })
})

const fitting = {
  ...{ a_number: '-1.5', a_integer: '3', a_decimal: '1.10', a_boolean: 'on', a_choice: '2', a_choices: '2' },
  ...{
    a_list: '7',
    a_array: '[1,"b"]',
    a_object: '{"a":1}',
    a_string: '007',
    a_day: '2026-01-31',
    a_email: '',
  },
}
const read = {
  ...{ a_number: -1.5, a_integer: 3, a_decimal: 1.1, a_boolean: true, a_choice: 2, a_choices: [2] },
  ...{ a_list: [7], a_array: [1, 'b'], a_object: { a: 1 }, a_string: '007', a_day: '2026-01-31' },
}
test.each(Object.keys(bodies))(
  'texts that fit are stored as values by the form of an endpoint, %s',
  async (uri) => {
    const form = uri === 'typed_form' ? new URLSearchParams(fitting) : new FormData()
    if (form instanceof FormData) for (const [name, value] of Object.entries(fitting)) form.set(name, value)
    const reply = await fetch(`${origin}/api/v1/${uri}`, { method: 'POST', body: form })
    expect([reply.status, await reply.text()]).toEqual([200, '"made"'])
    const [document] = await fixture.documents('typed')
    const { _meta, ...fields } = objectOf(document)
    expect(fields).toEqual(read)
    await fixture.manage(
      'DELETE',
      `/_system/storages/${storage}/documents/${guidOf({ _meta: _meta ?? null })}`,
    )
  },
)

test('values that fit are taken by all of them', async () => {
  const page = await visitor.get('/typed')
  const sent = await visitor.submit(
    page,
    'typed',
    { a_integer: '3', a_decimal: '1.10', a_instant: '2026-01-31T09:00', a_choice: '2', a_list: '1\n2' },
    { button: 'Save' },
  )
  expect([sent.status, sent.text]).toMatchObject([303, expect.anything()])
  const [document] = await fixture.documents('typed')
  expect(objectOf(document)).toMatchObject({
    ...{ a_integer: 3, a_decimal: 1.1, a_instant: '2026-01-31T09:00:00.000Z', a_choice: 2, a_list: [1, 2] },
    // What is left empty is nothing.
    ...{ a_string: null, a_email: null, a_number: null, a_day: null, a_boolean: false, a_array: [] },
  })
})
