import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonAt, textAt } from '../../../../test/json-at.ts'
import { type ManagementServer, openManagementServer } from '../../../../test/management-server.ts'
import type { JsonValue } from '../../../shared/json.ts'

let fixture: ManagementServer
beforeAll(async () => {
  fixture = await openManagementServer()
  const verbs = ['view', 'create', 'update', 'remove'].map((verb) => `blueprinttemplates_${verb}`)
  await fixture.addUser('designer', verbs)
  await fixture.addUser('scripter', [...verbs, 'blueprinttemplates_script'])
  await fixture.addUser('brander', [...verbs, 'blueprints_account_pages'])
  await fixture.addUser('nobody', [])
})
afterAll(() => fixture.close())

const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: JsonValue) =>
  fixture.send(method, `/blueprinttemplates${path}`, 'designer', body)

describe('page templates', () => {
  it.each([
    ['POST', '/search', 'view'],
    ['POST', '', 'create'],
    ['GET', '/none', 'view'],
    ['PUT', '/none', 'update'],
    ['DELETE', '/none', 'remove'],
  ] as const)('%s %s needs a token and the scope to %s', async (method, path, verb) => {
    expect((await fixture.send(method, `/blueprinttemplates${path}`, '')).status).toBe(401)
    const refused = await fixture.send(method, `/blueprinttemplates${path}`, 'nobody')
    expect([refused.status, textAt(refused.body, 'message')]).toEqual([
      403,
      expect.stringContaining(`_${verb}`),
    ])
  })

  it.each([
    ['no name', {}, ['name']],
    ['a wrong type', { name: 'a', css: 5 }, ['css']],
    ['too much', { name: 'a', content: 'x'.repeat(262_145) }, ['content']],
    ['an unknown field', { name: 'a', html: '' }, ['html']],
  ])('a template with %s is refused', async (_what, body, fields) => {
    const reply = await send('POST', '', body)
    expect([reply.status, jsonAt(reply.body, 'fields')]).toEqual([400, fields])
  })

  it('JavaScript needs a scope of its own, to be set, changed or taken away', async () => {
    const scope = 'blueprinttemplates_script'
    const as = (user: string, method: 'POST' | 'PUT', path: string, body: JsonValue) =>
      fixture.send(method, `/blueprinttemplates${path}`, user, body)
    const refused = await as('designer', 'POST', '', { name: 'Scripted', js: 'fetch("/")' })
    expect([refused.status, textAt(refused.body, 'message')]).toEqual([403, expect.stringContaining(scope)])
    const made = await as('scripter', 'POST', '', { name: 'Scripted', js: 'let a' })
    expect(made.status).toBe(200)
    const guid = textAt(made.body, '_meta', 'guid')
    for (const js of ['let b', '', 'let a '])
      expect((await as('designer', 'PUT', `/${guid}`, { name: 'Taken', js })).status).toBe(403)
    expect((await send('GET', `/${guid}`)).body).toMatchObject({ name: 'Scripted', js: 'let a' })
    // A template that is fetched, changed and sent back keeps its script.
    const changed = await as('designer', 'PUT', `/${guid}`, { name: 'Renamed', js: 'let a' })
    expect([changed.status, textAt(changed.body, 'name')]).toEqual([200, 'Renamed'])
    expect((await as('admin', 'PUT', `/${guid}`, { js: '' })).status).toBe(200)
    expect((await as('designer', 'POST', '', { name: 'Plain', js: '' })).status).toBe(200)
  })

  it('sign-in, in any case of letters, needs the scope of account pages, whatever changes', async () => {
    const as = (user: string, method: 'POST' | 'PUT', path: string, body: JsonValue) =>
      fixture.send(method, `/blueprinttemplates${path}`, user, body)
    const refused = await as('scripter', 'POST', '', { name: 'Sign-In' })
    expect([refused.status, textAt(refused.body, 'message')]).toEqual([
      403,
      expect.stringContaining('blueprints_account_pages'),
    ])
    const plain = textAt((await send('POST', '', { name: 'Nearly' })).body, '_meta', 'guid')
    expect((await as('scripter', 'PUT', `/${plain}`, { name: 'sign-in' })).status).toBe(403)
    expect((await send('GET', `/${plain}`)).body).toMatchObject({ name: 'Nearly' })
    const made = await as('brander', 'POST', '', { name: 'sign-in', css: 'a { color: red }' })
    expect(made.status).toBe(200)
    const guid = textAt(made.body, '_meta', 'guid')
    for (const changes of [{ css: '' }, { name: 'Freed' }, { content: '{}' }])
      expect((await as('scripter', 'PUT', `/${guid}`, changes)).status).toBe(403)
    expect((await send('GET', `/${guid}`)).body).toMatchObject({ name: 'sign-in', css: 'a { color: red }' })
    expect((await as('brander', 'PUT', `/${guid}`, { css: '' })).status).toBe(200)
  })

  it('say what pages will leave out of them', async () => {
    const made = await send('POST', '', { name: 'Odd', content: '<main>', css: 'a { background: url(//x) }' })
    expect(made.status).toBe(200)
    expect(jsonAt(made.body, 'problems')).toHaveLength(2)
    const guid = textAt(made.body, '_meta', 'guid')
    const mended = await send('PUT', `/${guid}`, { content: '{"layout":"side"}', css: 'a { color: red }' })
    expect([mended.status, jsonAt(mended.body, 'problems')]).toEqual([200, undefined])
  })

  it('are made, found, changed and removed', async () => {
    const made = await send('POST', '', { name: 'Shell', content: '<main></main>', css: 'main {}' })
    expect(made.body).toMatchObject({ name: 'Shell', content: '<main></main>', css: 'main {}', js: '' })
    const guid = textAt(made.body, '_meta', 'guid')
    expect((await send('POST', '', { name: 'shell' })).status).toBe(409)
    await send('POST', '', { name: 'Other' })
    const other = textAt((await send('POST', '/search', { query: 'other' })).body, 0, '_meta', 'guid')
    expect(jsonAt((await send('PUT', `/${other}`, { name: 'SHELL' })).body, 'error')).toBe('CONFLICT')
    expect((await send('PUT', `/${guid}`, { description: 'Round it all' })).body).toMatchObject({
      css: 'main {}',
      description: 'Round it all',
      last_modified_by: { username: 'designer' },
    })
    expect(jsonAt((await send('GET', `/${guid}`)).body, 'description')).toBe('Round it all')
    expect((await send('DELETE', `/${guid}`)).body).toEqual({ guid, removed: true })
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', { js: '' }],
      ['DELETE', undefined],
    ] as const)
      expect((await send(method, `/${guid}`, body)).status).toBe(404)
    expect((await send('POST', '', { name: 'Shell' })).status).toBe(200)
  })
})
