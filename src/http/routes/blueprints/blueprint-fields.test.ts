import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonAt, textAt } from '../../../../test/json-at.ts'
import { type ManagementServer, openManagementServer } from '../../../../test/management-server.ts'
import { installBlueprint } from '../../../flows/blueprints/install-blueprint.ts'
import type { JsonValue } from '../../../shared/json.ts'

const verbs = ['view', 'create', 'update', 'remove'].map((verb) => `blueprintfields_${verb}`)
let fixture: ManagementServer
beforeAll(async () => {
  fixture = await openManagementServer()
  await fixture.addUser('builder', verbs)
  await fixture.addUser('nobody', [])
  await fixture.addUser('keeper', [...verbs, 'storages_rules'])
})
afterAll(() => fixture.close())

const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: JsonValue) =>
  fixture.send(method, `/blueprintfields${path}`, 'builder', body)

describe('who sees and sets a field', () => {
  it('is set, changed and lifted by those alone who hold storages_rules', async () => {
    const body = {
      name: 'salary',
      type: 'number',
      storage: 'staff',
      visible_to: 'contains(user.scopes, "hr")',
    }
    const as = (user: string, method: 'POST' | 'PUT' | 'DELETE', path: string, sent?: JsonValue) =>
      fixture.send(method, `/blueprintfields${path}`, user, sent)
    expect((await as('builder', 'POST', '', body)).status).toBe(403)
    const made = await as('keeper', 'POST', '', body)
    expect([made.status, jsonAt(made.body, 'visible_to')]).toEqual([200, body.visible_to])
    const path = `/${textAt(made.body, '_meta', 'guid')}`
    const refused: JsonValue[] = [
      { visible_to: null },
      { settable_by: 'true' },
      { name: 'pay' },
      { storage: 'other' },
    ]
    for (const change of refused) {
      const reply = await as('builder', 'PUT', path, change)
      expect([reply.status, textAt(reply.body, 'message')]).toEqual([
        403,
        expect.stringContaining('storages_rules'),
      ])
    }
    expect((await as('builder', 'DELETE', path)).status).toBe(403)
    expect((await fixture.send('GET', `/blueprintfields${path}`, 'builder')).body).toEqual(made.body)
    // What is sent back as it is, as forms do, changes nothing of it.
    expect((await as('builder', 'PUT', path, { ...body, label: 'Pay' })).status).toBe(200)
    expect((await as('keeper', 'PUT', path, { visible_to: null })).status).toBe(200)
    expect((await as('builder', 'PUT', path, { name: 'pay' })).status).toBe(200)
  })

  it('keeps its values out of fields that others see', async () => {
    const sent = (user: string, method: 'POST' | 'PUT', path: string, body: JsonValue) =>
      fixture.send(method, `/blueprintfields${path}`, user, body)
    const hidden = { name: 'rate', type: 'string', storage: 'rates', visible_to: 'false' }
    const made = await sent('keeper', 'POST', '', hidden)
    const path = `/${textAt(made.body, '_meta', 'guid')}`
    const moved = { validation_rules: { max_length: 1 }, misfits: { value: '', keep_in: 'open' } }
    const open = { name: 'open', type: 'string', storage: 'rates' }
    const free = await sent('builder', 'POST', '', open)
    const at = `/${textAt(free.body, '_meta', 'guid')}`
    const refused = async (method: 'POST' | 'PUT', place: string, body: JsonValue) =>
      expect([body, (await sent('builder', method, place, body)).status]).toEqual([body, 403])
    await refused('PUT', path, moved)
    await refused('POST', '', { ...open, name: 'copy', computed: 'doc.rate' })
    await refused('PUT', at, { computed: 'doc.rate' })
    await refused('PUT', at, { default_expression: 'upper(doc.rate)' })
    await refused('PUT', at, { computed: 'string(doc)' })
    expect((await sent('builder', 'PUT', at, { computed: 'doc.other' })).status).toBe(200)
    expect((await sent('keeper', 'PUT', at, { computed: 'doc.rate' })).status).toBe(200)
  })

  it.each([
    ['over the document', { visible_to: 'doc.owner == user.guid' }, 'visible_to', /column 1/],
    ['without a storage', { storage: null, visible_to: 'true' }, 'visible_to', /storage/],
    ['that cannot be read', { settable_by: 'user.' }, 'settable_by', /column/],
  ])('not %s', async (_what, input, field, message) => {
    const reply = await fixture.send('POST', '/blueprintfields', 'keeper', {
      ...{ name: 'x', type: 'string', storage: 'staff' },
      ...input,
    })
    expect([reply.status, jsonAt(reply.body, 'fields')]).toEqual([400, [field]])
    expect(textAt(reply.body, 'message')).toMatch(message)
  })
})

describe('blueprint fields', () => {
  it.each([
    ['POST', '/search', 'view'],
    ['POST', '', 'create'],
    ['GET', '/none', 'view'],
    ['PUT', '/none', 'update'],
    ['DELETE', '/none', 'remove'],
  ] as const)('%s %s needs a token and the scope to %s', async (method, path, verb) => {
    expect((await fixture.send(method, `/blueprintfields${path}`, '')).status).toBe(401)
    const refused = await fixture.send(method, `/blueprintfields${path}`, 'nobody')
    expect([refused.status, textAt(refused.body, 'message')]).toEqual([
      403,
      expect.stringContaining(`_${verb}`),
    ])
  })

  const good = { name: 'ok', type: 'string', storage: 'tasks' }
  it.each<[string, { [key: string]: JsonValue }, string]>([
    ['no type', { name: 'a' }, 'type'],
    ['an unknown type', { name: 'a', type: 'novel' }, 'type'],
    ['a bad name', { ...good, name: 'a..b' }, 'name'],
    ['a name in _meta', { ...good, name: '_meta.guid' }, 'name'],
    ['a storage of Quoin’s own', { ...good, storage: '_users' }, 'storage'],
    ['a bad storage', { ...good, storage: 'A B' }, 'storage'],
    ['an unknown rule', { ...good, validation_rules: { longest: 5 } }, 'validation_rules.longest'],
    [
      'a currency that does not exist',
      { ...good, type: 'decimal', validation_rules: { currency: 'EUX' } },
      'validation_rules.currency',
    ],
    ['a currency of text', { ...good, validation_rules: { currency: 'EUR' } }, 'validation_rules.currency'],
    ['a rule of another type', { ...good, validation_rules: { min: 5 } }, 'validation_rules.min'],
    ['a look-ahead', { ...good, validation_rules: { pattern: '(?=a)' } }, 'validation_rules.pattern'],
    ['a huge pattern', { ...good, validation_rules: { pattern: 'a{1000}' } }, 'validation_rules.pattern'],
    [
      'a bound of another type',
      { ...good, type: 'date', validation_rules: { min: 'x' } },
      'validation_rules.min',
    ],
    ['min above max', { ...good, type: 'number', validation_rules: { min: 2, max: 1 } }, 'validation_rules'],
    ['a default that does not fit', { ...good, type: 'number', default_value: 'x' }, 'default_value'],
    ['an unknown blueprint', { ...good, blueprint_guid: 'none' }, 'blueprint_guid'],
  ])('a field with %s is refused', async (_what, body, field) => {
    const reply = await send('POST', '', body)
    expect([reply.status, jsonAt(reply.body, 'error'), jsonAt(reply.body, 'fields')]).toEqual([
      400,
      'INVALID_BODY',
      [field],
    ])
  })

  it('one of a name for each storage, and one for all', async () => {
    const field = { name: 'state', type: 'string' }
    const statuses = []
    for (const storage of ['a', 'b', null, 'a', null])
      statuses.push((await send('POST', '', { ...field, storage })).status)
    expect(statuses).toEqual([200, 200, 200, 409, 409])
    const other = textAt(
      (await send('POST', '/search', { filters: { storage: 'b' } })).body,
      0,
      '_meta',
      'guid',
    )
    expect((await send('PUT', `/${other}`, { storage: 'a' })).status).toBe(409)
    expect(jsonAt((await send('PUT', `/${other}`, { storage: 'c' })).body, 'storage')).toBe('c')
  })

  it('are read, changed and removed; a change must fit as a whole', async () => {
    const made = await send('POST', '', {
      name: 'user_email',
      type: 'string',
      storage: 'people',
      validation_rules: { max_length: 10 },
      metadata: { ui_component: 'text-input' },
    })
    expect(made.body).toMatchObject({
      required: false,
      default_value: null,
      created_by: { username: 'builder' },
    })
    const guid = textAt(made.body, '_meta', 'guid')
    expect(jsonAt((await send('PUT', `/${guid}`, { default_value: 'x'.repeat(11) })).body, 'fields')).toEqual(
      ['default_value'],
    )
    expect(jsonAt((await send('PUT', `/${guid}`, { type: 'number' })).body, 'fields')).toEqual([
      'validation_rules.max_length',
    ])
    expect((await send('PUT', `/${guid}`, { required: true })).body).toMatchObject({
      required: true,
      validation_rules: { max_length: 10 },
    })
    expect(jsonAt((await send('GET', `/${guid}`)).body, 'name')).toBe('user_email')
    expect((await send('DELETE', `/${guid}`)).body).toEqual({ guid, removed: true })
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', { required: false }],
      ['DELETE', undefined],
    ] as const)
      expect((await send(method, `/${guid}`, body)).status).toBe(404)
  })
})

describe('an endpoint that stores what it is sent', () => {
  beforeAll(async () => {
    const endpoint = (method: string, blocks: object, done: string) => ({
      [`${method}`]: {
        type: `on_startup_register_uri_${method}`,
        in: { uri: method === 'put' ? 'orders/{guid}' : 'orders' },
      },
      ...blocks,
      [`${method}_reply`]: {
        type: 'httpconnection_set_json',
        in: { flow: `@${done}.flow`, value: `@${done}.document` },
      },
    })
    const blocks = {
      storage: { type: 'storage', fields: { storage: 'orders' } },
      params: { type: 'httpconnection_get_params', in: { field: 'guid' } },
      ...endpoint(
        'post',
        {
          post_set: { type: 'mutations_set_bp_field_multiple', in: { object: '@post.body' } },
          create: {
            type: 'function_create_document_from_mutations',
            in: { flow: '@post.flow', storage: '@storage.storage', mutations: '@post_set.mutations' },
          },
        },
        'create',
      ),
      ...endpoint(
        'put',
        {
          put_set: { type: 'mutations_set_bp_field_multiple', in: { object: '@put.body' } },
          update: {
            type: 'function_update_document_mutations',
            in: {
              flow: '@put.flow',
              storage: '@storage.storage',
              guid: '@params.value',
              mutations: '@put_set.mutations',
            },
          },
        },
        'update',
      ),
    }
    await installBlueprint(fixture.flows, { name: 'Orders', blocks }, { guid: '', username: 'test' })
    await send('POST', '', {
      name: 'amount',
      type: 'number',
      storage: 'orders',
      required: true,
      validation_rules: { min: 1 },
    })
    await send('POST', '', {
      name: 'status',
      type: 'string',
      storage: 'orders',
      default_value: 'open',
      validation_rules: { choices: ['open', 'paid'] },
    })
  })

  it.each([
    [{}, 'amount', 'is required and must not be empty'],
    [{ amount: 0 }, 'amount', 'must be at least 1'],
    [{ amount: '5' }, 'amount', 'must be a number'],
    [{ amount: 5, status: 'lost' }, 'status', 'must be one of open, paid'],
  ])('answers 400 to %j, naming the field, and stores nothing', async (body, field, reason) => {
    const reply = await fixture.send('POST', '/orders', '', body)
    const error = expect.stringContaining(`${field} ${reason}`)
    expect([reply.status, reply.body]).toEqual([400, { error, fields: { [field]: reason } }])
    expect(await fixture.database.session().count('orders', { kind: 'all' })).toBe(0)
  })

  it('stores what fits, with the default, and checks changes', async () => {
    const made = await fixture.send('POST', '/orders', '', { amount: 5 })
    expect([made.status, made.body]).toEqual([200, expect.objectContaining({ amount: 5, status: 'open' })])
    const path = `/orders/${textAt(made.body, '_meta', 'guid')}`
    expect((await fixture.send('PUT', path, '', { status: 'lost' })).status).toBe(400)
    expect((await fixture.send('PUT', path, '', { amount: null })).status).toBe(400)
    expect((await fixture.send('PUT', path, '', { status: 'paid' })).body).toMatchObject({
      amount: 5,
      status: 'paid',
    })
  })
})
