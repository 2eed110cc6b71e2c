import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonAt, textAt } from '../../../../test/json-at.ts'
import { type ManagementServer, openManagementServer } from '../../../../test/management-server.ts'
import type { JsonValue } from '../../../shared/json.ts'
import { setFields } from '../../../shared/mutation.ts'
import { MAX_ENVIRONMENT_VALUES } from '../../../shared/names/stored-names.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import { transact } from '../../../storage/transact.ts'

const root = '/_system/environment'
let fixture: ManagementServer
beforeAll(async () => {
  fixture = await openManagementServer()
  const verbs = ['view', 'create', 'update', 'remove'].map((verb) => `environment_${verb}`)
  await fixture.addUser('keeper', verbs)
  await fixture.addUser('without_scopes', [])
})
afterAll(() => fixture.close())

const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: JsonValue) =>
  fixture.send(method, `${root}${path}`, 'keeper', body)
const present = () => fixture.flows.environmentValues.present()

describe('values of the environment', () => {
  it.each([
    ['POST', '/search', 'view'],
    ['POST', '', 'create'],
    ['GET', '/none', 'view'],
    ['PUT', '/none', 'update'],
    ['DELETE', '/none', 'remove'],
  ] as const)('%s %s needs a token and the scope to %s', async (method, path, verb) => {
    expect((await fixture.send(method, `${root}${path}`, '')).status).toBe(401)
    const refused = await fixture.send(method, `${root}${path}`, 'without_scopes')
    expect([refused.status, textAt(refused.body, 'message')]).toEqual([
      403,
      expect.stringContaining(`environment_${verb}`),
    ])
  })

  it.each<[string, JsonValue, string]>([
    ['without a name', { value: 1 }, 'name'],
    ['without a value', { name: 'A' }, 'value'],
    ['with a name that begins with a digit', { name: '1A', value: 1 }, 'name'],
    ['with a name that is no name in expressions', { name: 'base-url', value: 1 }, 'name'],
    ['with an empty name', { name: '', value: 1 }, 'name'],
    ['with a name of 64 characters', { name: 'a'.repeat(64), value: 1 }, 'name'],
    ['with a value of 16 KB and a byte', { name: 'A', value: 'ä'.repeat(8 * 1024) }, 'value'],
  ])('a value %s is refused', async (_what, body, field) => {
    const reply = await send('POST', '', body)
    expect([reply.status, jsonAt(reply.body, 'fields')]).toEqual([400, [field]])
    expect(present()).toEqual({})
  })

  it.each<[string, JsonValue]>([
    ['text', 'https://shop.example'],
    ['a number', 12.5],
    ['a condition', false],
    ['null', null],
    ['a list', ['a', 1, null]],
    ['an object', { from: 'shop@example.org', limits: { daily: 5 } }],
    ['the largest text', 'x'.repeat(16 * 1024 - 2)],
  ])('%s is created, read, listed, changed and removed', async (_what, value) => {
    const made = await send('POST', '', { name: 'SOME', value, description: 'About it' })
    expect([made.status, made.body]).toMatchObject([200, { name: 'SOME', value, description: 'About it' }])
    expect(made.body).toMatchObject({
      created_by: { username: 'keeper' },
      modified_by: { username: 'keeper' },
    })
    expect(present()).toEqual({ SOME: value })
    const guid = textAt(made.body, '_meta', 'guid')
    expect((await send('GET', `/${guid}`)).body).toEqual(made.body)
    expect((await send('POST', '/search', { filters: { name: 'SOME' } })).body).toEqual([made.body])
    const changed = await fixture.send('PUT', `${root}/${guid}`, 'admin', { value: ['changed'] })
    expect(changed.body).toMatchObject({ value: ['changed'], description: 'About it' })
    expect(changed.body).toMatchObject({
      created_by: { username: 'keeper' },
      modified_by: { username: 'admin' },
    })
    expect(present()).toEqual({ SOME: ['changed'] })
    expect((await send('DELETE', `/${guid}`)).body).toEqual({ guid, removed: true })
    expect(present()).toEqual({})
    expect((await send('GET', `/${guid}`)).status).toBe(404)
    expect((await send('PUT', `/${guid}`, { value: 1 })).status).toBe(404)
    expect((await send('DELETE', `/${guid}`)).status).toBe(404)
  })

  it('a name is there once, in the case in which it was written, and is free again when it is removed', async () => {
    const first = await send('POST', '', { name: 'base', value: 1 })
    const second = await send('POST', '', { name: 'base', value: 2 })
    expect([second.status, textAt(second.body, 'message')]).toEqual([409, expect.stringContaining('base')])
    const other = await send('POST', '', { name: 'BASE', value: 3 })
    expect([other.status, present()]).toEqual([200, { base: 1, BASE: 3 }])
    await send('DELETE', `/${textAt(first.body, '_meta', 'guid')}`)
    const again = await send('POST', '', { name: 'base', value: 4 })
    expect([again.status, present()]).toEqual([200, { base: 4, BASE: 3 }])
    const renamed = await send('PUT', `/${textAt(again.body, '_meta', 'guid')}`, { name: 'other', value: 5 })
    expect([renamed.status, present()]).toEqual([400, { base: 4, BASE: 3 }])
    const tooLarge = await send('PUT', `/${textAt(again.body, '_meta', 'guid')}`, {
      value: 'x'.repeat(16 * 1024),
    })
    expect([tooLarge.status, present()]).toEqual([400, { base: 4, BASE: 3 }])
    for (const { body } of [other, again]) await send('DELETE', `/${textAt(body, '_meta', 'guid')}`)
  })

  it('of one name that several clients create at once, one is created', async () => {
    const replies = await Promise.all([1, 2, 3].map((value) => send('POST', '', { name: 'ONCE', value })))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    const made = replies.find(({ status }) => status === 200)
    expect(present()).toEqual({ ONCE: jsonAt(made?.body, 'value') })
    await send('DELETE', `/${textAt(made?.body, '_meta', 'guid')}`)
  })

  it('every change is audited with its user and both values', async () => {
    const made = await send('POST', '', { name: 'AUDITED', value: 1 })
    const guid = textAt(made.body, '_meta', 'guid')
    await fixture.send('PUT', `${root}/${guid}`, 'admin', { value: { a: 2 } })
    await send('DELETE', `/${guid}`)
    const filters = { category: 'environment', guid }
    const { body } = await fixture.send('POST', '/_system/auditlogs', 'admin', {
      filters,
      sort: [{ '_meta.cms': 'asc' }],
    })
    expect(body).toMatchObject([
      { action: 'created', name: 'AUDITED', user: { username: 'keeper' }, after: { value: 1 } },
      {
        action: 'updated',
        changes: ['value'],
        user: { username: 'admin' },
        before: { value: 1 },
        after: { value: { a: 2 } },
      },
      { action: 'removed', user: { username: 'keeper' } },
    ])
  })

  it('there are 1,000 at most, and the list is paged', async () => {
    const by = { guid: '', username: 'test' }
    await transact(fixture.database, async (session) => {
      for (let n = 1; n < MAX_ENVIRONMENT_VALUES; n++)
        await session.create(
          systemStorages.environment,
          setFields({ name: `V${n}`, value: n, description: '', created_by: by, modified_by: by }),
        )
    })
    const last = await send('POST', '', { name: 'LAST', value: 1 })
    const more = await send('POST', '', { name: 'MORE', value: 1 })
    expect([last.status, more.status, textAt(more.body, 'message')]).toEqual([
      200,
      409,
      expect.stringContaining('1000'),
    ])
    const page = await send('POST', '/search', { limit: 2, offset: 1, sort: [{ name: 'asc' }] })
    expect(page.body).toMatchObject([{ name: 'V1' }, { name: 'V10' }])
  })
})
