import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonAt, textAt } from '../../../../test/json-at.ts'
import { type ManagementServer, openManagementServer } from '../../../../test/management-server.ts'
import type { JsonObject, JsonValue } from '../../../shared/json.ts'

const root = '/_system/blueprintvalidation'
let fixture: ManagementServer
beforeAll(async () => {
  fixture = await openManagementServer()
  const verbs = ['view', 'create', 'update', 'remove'].map((verb) => `blueprintvalidation_${verb}`)
  await fixture.addUser('keeper', verbs)
  await fixture.addUser('nobody', [])
})
afterAll(() => fixture.close())

const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: JsonValue) =>
  fixture.send(method, `${root}${path}`, 'keeper', body)

describe('validation rules', () => {
  it.each([
    ['POST', '/search', 'view'],
    ['POST', '', 'create'],
    ['GET', '/none', 'view'],
    ['PUT', '/none/hash', 'update'],
    ['DELETE', '/none', 'remove'],
  ] as const)('%s %s needs a token and the scope to %s', async (method, path, verb) => {
    expect((await fixture.send(method, `${root}${path}`, '')).status).toBe(401)
    const refused = await fixture.send(method, `${root}${path}`, 'nobody')
    expect([refused.status, textAt(refused.body, 'message')]).toEqual([
      403,
      expect.stringContaining(`_${verb}`),
    ])
  })

  it.each<[string, string, JsonObject, string]>([
    ['an unknown type', 'no_fun', {}, 'rule_type'],
    ['a type of every object', 'constructor', {}, 'rule_type'],
    ['a missing parameter', 'forbidden_block', {}, 'parameters.type'],
    ['an unknown parameter', 'max_blocks', { max: 5, min: 1 }, 'parameters.min'],
    ['a wrong parameter', 'max_blocks', { max: 0 }, 'parameters.max'],
    ['a bad pattern', 'naming', { target: 'uri', pattern: '(' }, 'parameters.pattern'],
    ['a wrong method', 'required_scope', { methods: ['OPTIONS'] }, 'parameters.methods'],
  ])('a rule with %s is refused', async (_what, rule_type, parameters, field) => {
    const reply = await send('POST', '', { rule_type, parameters })
    expect([reply.status, jsonAt(reply.body, 'fields')]).toEqual([400, [field]])
    if (field === 'rule_type')
      expect(textAt(reply.body, 'message')).toContain('required_scope, forbidden_block')
  })

  it('are changed only with their current hash', async () => {
    const made = await send('POST', '', { rule_type: 'max_blocks', parameters: { max: 500 } })
    expect(made.body).toMatchObject({ severity: 'error', message: '' })
    const guid = textAt(made.body, '_meta', 'guid')
    const first = textAt(made.body, '_meta', 'update_hash')
    const changed = await send('PUT', `/${guid}/${first}`, { parameters: { max: 400 } })
    expect([changed.status, jsonAt(changed.body, 'parameters')]).toEqual([200, { max: 400 }])
    const stale = await send('PUT', `/${guid}/${first}`, { parameters: { max: 300 } })
    expect([stale.status, jsonAt(stale.body, 'error')]).toEqual([409, 'CONFLICT'])
    const now = textAt(changed.body, '_meta', 'update_hash')
    const misfit = await send('PUT', `/${guid}/${now}`, { rule_type: 'forbidden_block' })
    expect([misfit.status, jsonAt(misfit.body, 'fields')]).toEqual([400, ['parameters.max']])
    expect((await send('GET', `/${guid}`)).body).toEqual(changed.body)
    expect((await send('PUT', `/none/${now}`, { message: 'x' })).status).toBe(404)
    expect((await send('DELETE', `/${guid}`)).body).toEqual({ guid, removed: true })
    expect((await send('GET', `/${guid}`)).status).toBe(404)
  })
})

describe('a deploy', () => {
  async function blueprint(uri: string, scopes: string[] = []): Promise<string> {
    const made = await fixture.send('POST', '/blueprints', 'admin', { name: `About ${uri}` })
    const guid = textAt(made.body, '_meta', 'guid')
    await fixture.send('POST', '/blueprintactions', 'admin', {
      blueprint_guid: guid,
      type: 'on_startup_register_uri_post',
      in_pins: [{ id: 'uri', value: uri }],
      scopes,
    })
    return guid
  }
  const activate = (guid: string) => fixture.send('PUT', `/blueprints/update/set/active/${guid}`, 'admin')

  it.each<[string, JsonObject, string]>([
    ['required_scope', { methods: ['POST'] }, 'must have a scope other than *public'],
    ['required_scope', { scope: 'staff' }, 'must have the scope staff and no other'],
    ['forbidden_block', { type: 'on_startup_register_uri_post' }, 'may not be used here'],
    ['naming', { target: 'uri', pattern: '^v1/' }, 'must fit the pattern ^v1/'],
    ['naming', { target: 'blueprint', pattern: '^CRM' }, 'must fit the pattern ^CRM'],
    ['naming', { target: 'block_title', pattern: '.' }, 'must fit the pattern .'],
  ])(
    'that breaks %s %j is refused, and is not once the rule is gone',
    async (rule_type, parameters, words) => {
      const guid = await blueprint('ruled', ['other'].slice(parameters.methods ? 1 : 0))
      const rule = await send('POST', '', { rule_type, parameters, message: 'House rule' })
      const refused = await activate(guid)
      expect([refused.status, jsonAt(refused.body, 'error')]).toEqual([422, 'VALIDATION_FAILED'])
      expect(jsonAt(refused.body, 'problems')).toMatchObject([{ message: expect.stringContaining(words) }])
      expect(textAt(refused.body, 'problems', 0, 'message')).toContain('House rule')
      expect((await fixture.send('GET', `/blueprints/${guid}`, 'admin')).body).toMatchObject({
        active: false,
        version: 0,
      })
      await send('DELETE', `/${textAt(rule.body, '_meta', 'guid')}`)
      expect((await activate(guid)).status).toBe(200)
      await fixture.send('PUT', `/blueprints/update/set/inactive/${guid}`, 'admin')
    },
  )

  it('that keeps to the rules is fine; a warning does not refuse', async () => {
    const rule = { rule_type: 'required_scope', parameters: {} }
    const made = await send('POST', '', rule)
    expect((await activate(await blueprint('closed', ['staff']))).status).toBe(200)
    await send('PUT', `/${textAt(made.body, '_meta', 'guid')}/${textAt(made.body, '_meta', 'update_hash')}`, {
      severity: 'warning',
    })
    expect((await activate(await blueprint('open'))).status).toBe(200)
  })
})
