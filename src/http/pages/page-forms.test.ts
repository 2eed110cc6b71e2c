import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { openVisitor, type Visitor } from '../../../test/page-visitor.ts'
import { setFields } from '../../shared/mutation.ts'
import { transact } from '../../storage/transact.ts'

let fixture: TestQuoin
let origin: string
let visitor: Visitor

const field = (name: string, type: string, rules: object = {}, more: object = {}) => ({
  name,
  type,
  storage: 'people',
  validation_rules: { ...rules },
  ...more,
})

beforeAll(async () => {
  fixture = await openTestQuoin()
  origin = await fixture.quoin.server.listen()
  await fixture.quoin.database.ensure('people')
  for (const one of [
    field('name', 'string', { min_length: 2, max_length: 40 }, { required: true }),
    field('age', 'number', { min: 0, max: 130 }),
    field('level', 'number', { choices: [1, 2, 3] }),
    field('tags', 'array', { choices: ['a', 'b', 'c'] }),
    field('active', 'boolean'),
    field('born', 'date', { max: '2020-12-31' }),
    field('code', 'string', { pattern: '^[A-Z]{3}$' }),
    field('stock', 'number', { max: 10 }, { default_value: 5 }),
  ])
    await fixture.manage('POST', '/blueprintfields', one)
  await fixture.install('People', {
    people: { type: 'storage', fields: { storage: 'people' } },
    page: { type: 'state_page', in: { url: 'people/{guid}', title: 'Person' } },
    guid: { type: 'httpconnection_get_params', in: { field: 'guid' } },
    get: {
      type: 'function_get_document',
      in: { flow: '@page.flow', storage: '@people.storage', guid: '@guid.value' },
    },
    i1: { type: 'state_input_dynamic', in: { field: 'name' } },
    i2: { type: 'state_input_dynamic', in: { state: '@i1.state', field: 'age' } },
    i3: { type: 'state_input_dynamic', in: { state: '@i2.state', field: 'level' } },
    i4: { type: 'state_input_dynamic', in: { state: '@i3.state', field: 'tags' } },
    i5: { type: 'state_input_dynamic', in: { state: '@i4.state', field: 'active' } },
    i6: { type: 'state_input_dynamic', in: { state: '@i5.state', field: 'born' } },
    i7: { type: 'state_input_dynamic', in: { state: '@i6.state', field: 'code' } },
    i8: { type: 'state_input_dynamic', in: { state: '@i7.state', field: 'secret', type: 'password' } },
    also: { type: 'state_button', in: { state: '@i8.state', label: 'Save and stay', value: 'stay' } },
    save: { type: 'state_button', in: { state: '@also.state', label: 'Save' } },
    edit: {
      type: 'state_form',
      in: { form_id: 'edit', content: '@save.state', storage: '@people.storage', document: '@get.document' },
    },
    drop: {
      type: 'state_button',
      in: { state: '@edit.state', label: 'Delete', kind: 'action', confirm: 'Sure?' },
    },
    show: { type: 'state_render_page', in: { flow: '@get.flow', state: '@drop.state' } },
    fields: { type: 'mutations_set_bp_field_multiple', in: { object: '@edit.values' } },
    update: {
      type: 'function_update_document_mutations',
      in: {
        flow: '@edit.submit',
        storage: '@people.storage',
        document: '@get.document',
        mutations: '@fields.mutations',
      },
    },
    stock: { type: 'mutations_increment_by_field', in: { field: 'stock', amount: 1 } },
    count: {
      type: 'function_update_document_mutations',
      in: {
        flow: '@update.flow',
        storage: '@people.storage',
        document: '@get.document',
        mutations: '@stock.mutations',
      },
    },
    done: { type: 'state_redirect', in: { flow: '@count.flow', url: '/people', message: 'Saved <b>' } },
    note: { type: 'mutations_set_custom_field', in: { field: 'note', value: '@also.clicked' } },
    stay: {
      type: 'function_update_document_mutations',
      in: {
        flow: '@also.click',
        storage: '@people.storage',
        document: '@get.document',
        mutations: '@note.mutations',
      },
    },
    delete: {
      type: 'function_remove_document',
      in: { flow: '@drop.click', storage: '@people.storage', document: '@get.document' },
    },
  })
})
afterAll(() => fixture?.close())
beforeEach(() => {
  visitor = openVisitor(origin)
})

async function add(fields: Parameters<typeof setFields>[0]): Promise<string> {
  const made = await transact(fixture.quoin.database, async (session) =>
    session.create('people', setFields(fields)),
  )
  return guidOf(made.value)
}

async function read(guid: string) {
  return (await fixture.documents('people')).find((document) => guidOf(document) === guid)
}

describe('a form of blueprint fields', () => {
  test('is drawn by them, with what the document has', async () => {
    const guid = await add({
      name: '"><script>alert(1)</script>',
      age: 3,
      level: 2,
      tags: ['b'],
      active: true,
      born: '2000-02-29',
    })
    const page = await visitor.get(`/people/${guid}`)
    expect(page.html).not.toContain('<script>alert')
    const form = page.form('edit')
    const sent = new Map(form.fields)
    expect(sent.get('name')).toBe('"><script>alert(1)</script>')
    expect(form.input('name')).toMatch(/required/)
    expect(form.input('name')).toContain('maxlength="40"')
    expect(form.input('age')).toMatch(/type="number".*min="0".*max="130"|min="0".*max="130".*type="number"/)
    expect([
      sent.get('age'),
      sent.get('level'),
      sent.get('tags'),
      sent.get('active'),
      sent.get('born'),
    ]).toEqual(['3', '2', 'b', 'on', '2000-02-29'])
  })

  test.each([
    ['name', '', 'This is required.'],
    ['name', 'x', 'Enter at least 2 characters.'],
    ['name', 'x'.repeat(41), 'Enter at most 40 characters.'],
    ['age', 'many', 'Enter a number.'],
    ['age', '131', 'Enter 130 or less.'],
    ['age', '1e999', 'Enter a number.'],
    ['level', '4', 'Choose one of the options.'],
    ['tags', 'z', 'Choose one of the options.'],
    ['born', '2026-02-30', 'Enter a date.'],
    ['born', '2026-01-01', 'Enter 2020-12-31 or less.'],
    ['code', 'abc', 'The format is invalid.'],
  ])('%s = %j is refused beside its input, and stays typed', async (name, value, message) => {
    const guid = await add({ name: 'Ada' })
    const page = await visitor.get(`/people/${guid}`)
    const refused = await visitor.submit(
      page,
      'edit',
      { name: 'Grace', secret: 'hush', [name]: value },
      { button: 'Save' },
    )
    expect([refused.status, refused.text.includes(message)]).toEqual([422, true])
    const form = refused.form('edit')
    if (name !== 'tags') expect(form.input(name)).toContain('aria-invalid="true"')
    if (name !== 'tags') expect(form.input(name)).toMatch(/aria-describedby="[^"]+"/)
    if (name !== 'name' && name !== 'level' && name !== 'tags') {
      expect(new Map(form.fields).get(name)).toBe(value)
      expect(new Map(form.fields).get('name')).toBe('Grace')
    }
    expect(refused.html).not.toContain('hush')
    expect(await read(guid)).toMatchObject({ name: 'Ada' })
  })

  test('gives values as their fields want them, and leaves the rest of the document', async () => {
    const guid = await add({ name: 'Ada', other: 1, age: 5, code: 'ABC', active: true })
    const page = await visitor.get(`/people/${guid}`)
    const values = {
      name: 'Grace',
      age: ' 36 ',
      level: '3',
      tags: ['a', 'c'],
      active: undefined,
      born: '1906-12-09',
      code: '',
    }
    const sent = await visitor.submit(page, 'edit', { ...values, admin: 'true' }, { button: 'Save' })
    expect([sent.status, sent.headers.get('location')]).toEqual([303, '/people'])
    const { _meta, ...fields } = (await read(guid)) ?? {}
    expect(fields).toEqual({
      name: 'Grace',
      age: 36,
      level: 3,
      tags: ['a', 'c'],
      active: false,
      born: '1906-12-09',
      // What is left empty is nothing.
      code: null,
      secret: null,
      other: 1,
      stock: 6,
    })
    expect((await visitor.get('/people')).html).toContain('Saved &lt;b')
  })

  test('what only the write can tell is said on the form too, and nothing is kept', async () => {
    const guid = await add({ name: 'Ada', stock: 10 })
    const page = await visitor.get(`/people/${guid}`)
    const refused = await visitor.submit(page, 'edit', { name: 'Grace' }, { button: 'Save' })
    expect([refused.status, refused.text.includes('stock')]).toEqual([422, true])
    expect(new Map(refused.form('edit').fields).get('name')).toBe('Grace')
    expect(await read(guid)).toMatchObject({ name: 'Ada', stock: 10 })
  })
})

describe('buttons', () => {
  test('a submit button with a flow of its own', async () => {
    const guid = await add({ name: 'Ada' })
    const page = await visitor.get(`/people/${guid}`)
    const refused = await visitor.submit(page, 'edit', { name: '' }, { button: 'Save and stay' })
    expect(refused.status).toBe(422)
    const sent = await visitor.submit(page, 'edit', { name: 'Grace' }, { button: 'Save and stay' })
    expect([sent.status, sent.headers.get('location')]).toEqual([303, `/people/${guid}`])
    expect(await read(guid)).toMatchObject({ name: 'Ada', note: 'stay' })
  })

  test('an action outside of forms', async () => {
    const guid = await add({ name: 'Ada' })
    const page = await visitor.get(`/people/${guid}`)
    expect(page.text).toContain('Sure?')
    const sent = await visitor.submit(page, undefined, {}, { button: 'Delete' })
    expect(sent.status).toBe(303)
    expect(await read(guid)).toBeUndefined()
  })
})

describe('what is not the visitor’s own doing', () => {
  test.each<[string, Record<string, string | undefined>, Record<string, string>]>([
    ['from another site', {}, { origin: 'https://evil.example' }],
    ['from another site, as browsers say', {}, { 'sec-fetch-site': 'cross-site' }],
    ['from a neighbour', {}, { 'sec-fetch-site': 'same-site' }],
    ['from nowhere', {}, { origin: 'null' }],
    ['without a token, from who knows where', { _csrf: undefined }, { origin: '' }],
  ])('%s is refused', async (_what, values, headers) => {
    const guid = await add({ name: 'Ada' })
    const page = await visitor.get(`/people/${guid}`)
    const sent = await visitor.submit(page, 'edit', { name: 'Grace', ...values }, { headers })
    expect(sent.status).toBe(403)
    expect(await read(guid)).toMatchObject({ name: 'Ada' })
  })

  test.each([
    ['no token', undefined],
    ['a made up one', 'x'.repeat(43)],
  ])('%s, from our page: the form is shown again', async (_what, token) => {
    const guid = await add({ name: 'Ada' })
    const page = await visitor.get(`/people/${guid}`)
    const sent = await visitor.submit(page, 'edit', { name: 'Grace', _csrf: token })
    expect([sent.status, sent.text.includes('open for too long')]).toEqual([422, true])
    expect(await read(guid)).toMatchObject({ name: 'Ada' })
    const again = await visitor.submit(sent, 'edit', {}, { button: 'Save' })
    expect(again.status).toBe(303)
    expect(await read(guid)).toMatchObject({ name: 'Grace' })
  })

  test('a token of another visitor is none, and one from before signing in neither', async () => {
    const guid = await add({ name: 'Ada' })
    const token = new Map((await openVisitor(origin).get(`/people/${guid}`)).form('edit').fields).get('_csrf')
    const page = await visitor.get(`/people/${guid}`)
    expect((await visitor.submit(page, 'edit', { name: 'Eve', _csrf: token })).status).toBe(422)
    visitor.setCookie('access_token', await fixture.tokenOf('admin'))
    expect((await visitor.submit(page, 'edit', { name: 'Eve' })).status).toBe(422)
    expect(await read(guid)).toMatchObject({ name: 'Ada' })
  })

  test.each<[string, { readonly _form?: string; readonly _button?: string | undefined }]>([
    ['another form', { _form: 'other' }],
    ['a button that is not there', { _button: 'x y' }],
    ['a button with another value', { _button: undefined }],
  ])('%s is not on the page', async (what, values) => {
    const guid = await add({ name: 'Ada' })
    const page = await visitor.get(`/people/${guid}`)
    const [, value = ''] = page.form('edit').button('Save and stay') ?? []
    const button = what.endsWith('another value') ? `${value}!` : values._button
    const sent = await visitor.submit(page, 'edit', { name: 'Grace', ...values, _button: button })
    expect(sent.status).toBe(409)
    expect(await read(guid)).toMatchObject({ name: 'Ada' })
  })
})

describe('sent twice', () => {
  test('a form is done once, also when both are under way', async () => {
    const guid = await add({ name: 'Ada', stock: 1 })
    const page = await visitor.get(`/people/${guid}`)
    const send = (name: string) => visitor.submit(page, 'edit', { name }, { button: 'Save' })
    const both = await Promise.all([send('Grace'), send('Grace')])
    const third = await send('Grace')
    expect([...both, third].map(({ status, headers }) => [status, headers.get('location')])).toEqual([
      [303, '/people'],
      [303, '/people'],
      [303, '/people'],
    ])
    expect(await read(guid)).toMatchObject({ name: 'Grace', stock: 2 })
    // Something else from the same page, as after going back, is something else.
    await send('Hedy')
    expect(await read(guid)).toMatchObject({ name: 'Hedy', stock: 3 })
  })
})

test('what is typed into a password input is in no log and no trace, whatever its name', async () => {
  const guid = await fixture.install('Keys', {
    page: { type: 'state_page', in: { url: 'keys' } },
    key: { type: 'state_input_dynamic', in: { field: 'losung', type: 'password' } },
    pin: { type: 'state_input_dynamic', in: { state: '@key.state', field: 'kurz', type: 'password' } },
    name: { type: 'state_input_dynamic', in: { state: '@pin.state', field: 'code' } },
    form: { type: 'state_form', in: { form_id: 'keys', content: '@name.state' } },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@form.state' } },
    log: { type: 'function_console_log', in: { flow: '@form.submit', value: '@form.values' } },
    log_one: { type: 'function_console_log', in: { flow: '@log.flow', value: '@one.losung' } },
    one: { type: 'object_update_fields', in: { object: '@form.values' }, fields: { out_fields: ['losung'] } },
  })
  await fixture.manage('PUT', `/blueprints/${guid}/tracing`, { on: true })
  const values = { losung: 'open sesame', kurz: '90210', code: 'open to all' }
  await visitor.submit(await visitor.get('/keys'), 'keys', values)
  const logged = (await fixture.systemLog()).filter(({ blueprint }) => blueprint === guid)
  expect(logged.map(({ value }) => value)).toEqual([
    { losung: '•••', kurz: '•••', code: 'open to all' },
    '•••',
  ])
  const [run] = objectsOf(await fixture.manage('GET', `/runs?blueprint=${guid}&limit=1`))
  const trace = JSON.stringify(await fixture.manage('GET', `/runs/${String(run?.guid)}`))
  expect(trace).toContain('open to all')
  for (const secret of ['open sesame', '90210']) {
    expect(trace).not.toContain(secret)
    expect(JSON.stringify(logged)).not.toContain(secret)
  }
})
