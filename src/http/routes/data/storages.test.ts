import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../../test/document-server.ts'
import { jsonAt, recordsIn, textAt } from '../../../../test/json-at.ts'
import { installBlueprint } from '../../../flows/blueprints/install-blueprint.ts'

const nobody = '01900000-0000-7000-8000-000000000000'
let fixture: DocumentServer

beforeAll(async () => {
  fixture = await openDocumentServer()
  await fixture.addUser('viewer', ['storages_view'])
  await fixture.addUser('nobody', [])
})
afterAll(() => fixture.close())

const routes = [
  ['POST', '/_system/storages', 'storages_create'],
  ['POST', '/_system/storages/search', 'storages_view'],
  ['GET', `/_system/storages/${nobody}`, 'storages_view'],
  ['GET', `/_system/storages/${nobody}/count`, 'storages_view'],
  ['PUT', `/_system/storages/${nobody}`, 'storages_update'],
  ['DELETE', `/_system/storages/${nobody}`, 'storages_remove'],
] as const

describe('storages', () => {
  it.each(routes)('%s %s is refused without a token, and without %s', async (method, path, scope) => {
    expect((await fixture.send(method, path, '')).status).toBe(401)
    const { status, body } = await fixture.send(method, path, 'nobody')
    expect([status, jsonAt(body, 'error')]).toEqual([403, 'INSUFFICIENT_PERMISSIONS'])
    expect(textAt(body, 'message')).toContain(scope)
  })

  it.each([
    ['no name', {}, 'name'],
    ['a name of Quoin itself', { name: '_users' }, 'name'],
    ['a name with a capital', { name: 'Tasks' }, 'name'],
    ['a name as a path', { name: '../x' }, 'name'],
    ['a long name', { name: 'x'.repeat(64) }, 'name'],
    ['an unknown field', { name: 'ok', indexes: [] }, 'indexes'],
    ['history as text', { name: 'ok', history: 'yes' }, 'history'],
  ])('is not created with %s', async (_what, body, field) => {
    const names = fixture.database.names()
    const reply = await fixture.send('POST', '/_system/storages', 'admin', { body })
    expect([reply.status, jsonAt(reply.body, 'error'), jsonAt(reply.body, 'fields')]).toEqual([
      400,
      'INVALID_BODY',
      [field],
    ])
    expect(fixture.database.names()).toEqual(names)
  })

  it.each(['GET', 'PUT', 'DELETE'] as const)('%s of a guid of something else is 404', async (method) => {
    const guid = await fixture.addUser(`a-${method.toLowerCase()}`, [])
    for (const one of [guid, nobody, '_users', 'tasks', "' OR 1=1"]) {
      const path = `/_system/storages/${encodeURIComponent(one)}`
      const sent = method === 'PUT' ? { body: { description: 'x' } } : {}
      expect((await fixture.send(method, path, 'admin', sent)).status).toBe(404)
    }
  })

  it('is created, found, counted, changed and deleted', async () => {
    const made = await fixture.send('POST', '/_system/storages', 'admin', {
      body: { name: 'things', description: 'Things to do' },
    })
    expect(made.body).toMatchObject({ name: 'things', description: 'Things to do', history: false })
    expect(jsonAt(made.body, 'created_by', 'username')).toBe('admin')
    const path = `/_system/storages/${textAt(made.body, '_meta', 'guid')}`
    expect((await fixture.send('GET', path, 'viewer')).body).toEqual(made.body)

    const again = await fixture.send('POST', '/_system/storages', 'admin', { body: { name: 'things' } })
    expect([again.status, jsonAt(again.body, 'error')]).toEqual([409, 'CONFLICT'])

    const found = await fixture.send('POST', '/_system/storages/search', 'viewer', {
      body: { query: 'things', filters: { name: 'things' } },
    })
    expect(found.body).toEqual([made.body])
    expect((await fixture.send('GET', `${path}/count`, 'viewer')).body).toEqual({ count: 0 })
    const one = await fixture.send('POST', `${path}/documents`, 'admin', { body: { a: 1 } })
    await fixture.send('POST', `${path}/documents`, 'admin', { body: { a: 2 } })
    await fixture.send('DELETE', `${path}/documents/${textAt(one.body, '_meta', 'guid')}`, 'admin')
    expect((await fixture.send('GET', `${path}/count`, 'viewer')).body).toEqual({ count: 1 })

    const changed = await fixture.send('PUT', path, 'admin', { body: { description: '' } })
    expect(changed.body).toMatchObject({ name: 'things', description: '' })
    expect((await fixture.send('PUT', path, 'admin', { body: { name: 'other' } })).status).toBe(400)

    expect((await fixture.send('DELETE', path, 'admin')).body).toEqual({
      guid: textAt(made.body, '_meta', 'guid'),
      removed: true,
    })
    expect((await fixture.send('GET', path, 'viewer')).status).toBe(404)
    expect(fixture.database.has('things')).toBe(false)
    const path2 = `/_system/storages/${await fixture.make('things')}`
    expect((await fixture.send('GET', `${path2}/count`, 'viewer')).body).toEqual({ count: 0 })
  })

  it('two at once with one name: one is made', async () => {
    const make = () => fixture.send('POST', '/_system/storages', 'admin', { body: { name: 'raced' } })
    const replies = await Promise.all([make(), make(), make()])
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    const body = { filters: { name: 'raced' }, count: true }
    expect((await fixture.send('POST', '/_system/storages/search', 'viewer', { body })).body).toEqual({
      count: 1,
    })
  })

  it('is not deleted while an active blueprint uses it', async () => {
    const blueprint = await installBlueprint(
      fixture.flows,
      {
        name: 'Uses it',
        blocks: {
          things: { type: 'storage', fields: { storage: 'used' } },
          get: { type: 'on_startup_register_uri_get', in: { uri: 'used' }, scopes: ['*public'] },
          find: { type: 'function_search', in: { flow: '@get.flow', storage: '@things.storage' } },
          reply: {
            type: 'httpconnection_set_json',
            in: { flow: '@find.flow', connection: '@get.connection', value: '@find.documents' },
          },
        },
      },
      { guid: nobody, username: 'admin' },
    )
    const found = await fixture.send('POST', '/_system/storages/search', 'viewer', {
      body: { filters: { name: 'used' } },
    })
    const [record] = recordsIn(found.body)
    expect(record).toMatchObject({ name: 'used', history: false, created_by: { username: 'admin' } })
    const path = `/_system/storages/${textAt(record, '_meta', 'guid')}`
    const refused = await fixture.send('DELETE', path, 'admin')
    expect([refused.status, jsonAt(refused.body, 'error')]).toEqual([409, 'CONFLICT'])
    expect(textAt(refused.body, 'message')).toContain('"Uses it"')
    expect(fixture.database.has('used')).toBe(true)
    await fixture.flows.deployments.deactivate(blueprint, { guid: nobody, username: 'admin' })
    expect((await fixture.send('DELETE', path, 'admin')).status).toBe(200)
    expect(fixture.database.has('used')).toBe(false)
  })
})
