import { randomFillSync } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { jsonAt, textAt } from '../../../../test/json-at.ts'
import {
  type ManagementServer,
  openManagementServer,
  secretsKey,
} from '../../../../test/management-server.ts'
import { openSecrets } from '../../../records/secrets/secrets.ts'
import { secretKeys } from '../../../records/secrets/signing-secret.ts'
import type { JsonValue } from '../../../shared/json.ts'
import { setFields } from '../../../shared/mutation.ts'
import { MAX_SECRETS } from '../../../shared/names/stored-names.ts'
import { search } from '../../../shared/query.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import { transact } from '../../../storage/transact.ts'

const root = '/_system/secrets'
const random = (bytes: Uint8Array<ArrayBuffer>) => void randomFillSync(bytes)
const otherKey = Buffer.alloc(32, 8).toString('hex')
let fixture: ManagementServer
beforeAll(async () => {
  fixture = await openManagementServer()
  await fixture.addUser(
    'keeper',
    ['view', 'create', 'update', 'remove'].map((verb) => `secrets_${verb}`),
  )
  await fixture.addUser('without_scopes', ['environment_view', 'environment_update'])
})
afterAll(() => fixture.close())
afterEach(async () => {
  const { body } = await send('POST', '/search', { limit: 500 })
  for (const one of Array.isArray(body) ? body : []) await send('DELETE', `/${textAt(one, '_meta', 'guid')}`)
})

const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: JsonValue) =>
  fixture.send(method, `${root}${path}`, 'keeper', body)
const secrets = () => fixture.flows.secrets
const by = { guid: '', username: 'test' }
const stored = (guid: string) => fixture.database.session().get(systemStorages.secrets, guid)

describe('secrets', () => {
  it.each([
    ['POST', '/search', 'view'],
    ['POST', '', 'create'],
    ['GET', '/none', 'view'],
    ['PUT', '/none', 'update'],
    ['DELETE', '/none', 'remove'],
    ['POST', '/rotate', 'update'],
  ] as const)('%s %s needs a token and the scope to %s', async (method, path, verb) => {
    expect((await fixture.send(method, `${root}${path}`, '')).status).toBe(401)
    const refused = await fixture.send(method, `${root}${path}`, 'without_scopes')
    expect([refused.status, textAt(refused.body, 'message')]).toEqual([
      403,
      expect.stringContaining(`secrets_${verb}`),
    ])
  })

  it.each<[string, JsonValue, string]>([
    ['without a name', { value: 'x' }, 'name'],
    ['without a value', { name: 'A' }, 'value'],
    ['with an empty value', { name: 'A', value: '' }, 'value'],
    ['with a value that is no text', { name: 'A', value: 12 }, 'value'],
    ['with a name that begins with a digit', { name: '1A', value: 'x' }, 'name'],
    ['with a name of 64 characters', { name: 'a'.repeat(64), value: 'x' }, 'name'],
    ['of 16 KB and a byte', { name: 'A', value: `${'ä'.repeat(8 * 1024)}x` }, 'value'],
    ['with half a character', { name: 'A', value: '\ud800' }, 'value'],
  ])('one %s is refused', async (_what, body, field) => {
    const reply = await send('POST', '', body)
    expect([reply.status, jsonAt(reply.body, 'fields') ?? [field]]).toEqual([400, [field]])
    expect(secrets().names()).toEqual([])
  })

  it('is set, listed, changed and removed, and no reply contains its value', async () => {
    const made = await send('POST', '', { name: 'STRIPE', value: 'sk_live_first', description: 'Payments' })
    const guid = textAt(made.body, '_meta', 'guid')
    const shown = {
      ...{ name: 'STRIPE', description: 'Payments', readable: true, used_by: [] },
      ...{ hosts: null, sent_by: [], signs_in: [] },
    }
    expect([made.status, made.body]).toMatchObject([200, { ...shown, created_by: { username: 'keeper' } }])
    expect(secrets().open('STRIPE')).toEqual({ value: 'sk_live_first' })
    const replies = [
      made,
      await send('GET', `/${guid}`),
      await send('POST', '/search', { query: 'STRIPE' }),
      await fixture.send('PUT', `${root}/${guid}`, 'admin', { value: 'sk_live_second' }),
      await send('PUT', `/${guid}`, { description: 'Cards' }),
    ]
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(secrets().open('STRIPE')).toEqual({ value: 'sk_live_second' })
    for (const { body } of replies) {
      const one = Array.isArray(body) ? body[0] : body
      expect(Object.keys(Object(one)).sort()).toEqual(
        [
          ...['_meta', 'created_by', 'description', 'hosts', 'modified_by', 'name', 'readable'],
          ...['sent_by', 'signs_in', 'used_by'],
        ].sort(),
      )
      expect(JSON.stringify(body)).not.toMatch(/sk_live|v1\./)
    }
    expect(JSON.stringify(await stored(guid))).not.toContain('sk_live')
    expect((await send('DELETE', `/${guid}`)).body).toEqual({ guid, removed: true })
    expect(secrets().open('STRIPE')).toEqual({ problem: expect.stringContaining('quoin secret set STRIPE') })
    for (const method of ['GET', 'PUT', 'DELETE'] as const)
      expect((await send(method, `/${guid}`, method === 'PUT' ? { value: 'x' } : undefined)).status).toBe(404)
  })

  it('names the connections that send it, in the list too, until they are removed', async () => {
    const guid = textAt((await send('POST', '', { name: 'SENT', value: 'x' })).body, '_meta', 'guid')
    const auth = { kind: 'bearer', secret: 'SENT' }
    const shop = { name: 'shop', base_url: 'https://shop.example', auth }
    const connection = await fixture.send('POST', '/_system/connections', 'admin', shop)
    const senders = async () => [
      jsonAt((await send('GET', `/${guid}`)).body, 'sent_by'),
      jsonAt((await send('POST', '/search', { query: 'SENT' })).body, 0, 'sent_by'),
    ]
    expect(await senders()).toEqual([['shop'], ['shop']])
    const removed = textAt(connection.body, '_meta', 'guid')
    await fixture.send('DELETE', `/_system/connections/${removed}`, 'admin')
    expect(await senders()).toEqual([[], []])
    await send('DELETE', `/${guid}`)
  })

  it('a name is there once, and does not change', async () => {
    const replies = await Promise.all(
      ['1', '2', '3'].map((value) => send('POST', '', { name: 'ONCE', value })),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    const guid = textAt(replies.find(({ status }) => status === 200)?.body, '_meta', 'guid')
    expect((await send('PUT', `/${guid}`, { name: 'OTHER' })).status).toBe(400)
    expect(secrets().names()).toEqual(['ONCE'])
  })

  it('changes are audited by their user, without the value', async () => {
    const made = await send('POST', '', { name: 'AUDITED', value: 'hidden one' })
    const guid = textAt(made.body, '_meta', 'guid')
    await fixture.send('PUT', `${root}/${guid}`, 'admin', { value: 'hidden two' })
    await send('DELETE', `/${guid}`)
    const { body } = await fixture.send('POST', '/_system/auditlogs', 'admin', {
      filters: { category: 'secrets', guid },
      sort: [{ '_meta.cms': 'asc' }],
    })
    expect(body).toMatchObject([
      { action: 'created', name: 'AUDITED', user: { username: 'keeper' } },
      { action: 'updated', changes: ['value'], user: { username: 'admin' } },
      { action: 'removed', user: { username: 'keeper' } },
    ])
    expect(JSON.stringify(body)).not.toMatch(/hidden|sealed|v1\./)
  })

  it('what is sealed under one name does not open under another', async () => {
    const guids = []
    for (const name of ['FIRST', 'SECOND'])
      guids.push(textAt((await send('POST', '', { name, value: `of ${name}` })).body, '_meta', 'guid'))
    const [first = '', second = ''] = guids
    const text = JSON.parse(/"sealed":("[^"]+")/.exec(JSON.stringify(await stored(first)))?.[1] ?? '""')
    await transact(fixture.database, (session) =>
      session.update(systemStorages.secrets, second, setFields({ sealed: text })),
    )
    const again = await openSecrets(fixture.database, secretKeys(secretsKey, []), random)
    expect(again.open('FIRST')).toEqual({ value: 'of FIRST' })
    expect(again.open('SECOND')).toEqual({ problem: expect.stringContaining('belongs to another name') })
    again.close()
  })

  it('without a key none is set and none can be read, in one line', async () => {
    await send('POST', '', { name: 'KEPT', value: 'value' })
    const keyless = await openSecrets(fixture.database, secretKeys('', []), random)
    expect(keyless.problem()).toBe(
      '1 of 1 secrets cannot be decrypted: QUOIN_SECRETS_KEY is not set. Blocks that use them fail.',
    )
    expect(keyless.open('KEPT')).toEqual({ problem: expect.stringContaining('QUOIN_SECRETS_KEY is not set') })
    await expect(keyless.create({ name: 'NEW', value: 'x' }, by)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    })
    await expect(keyless.rotate(by)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(keyless.names()).toEqual(['KEPT'])
    keyless.close()
  })

  it('another key reads none; with the old one beside it all, and rotating makes the old one needless', async () => {
    for (const name of ['ONE', 'TWO']) await send('POST', '', { name, value: `of ${name}` })
    const other = await openSecrets(fixture.database, secretKeys(otherKey, []), random)
    expect(other.problem()).toMatch(/^2 of 2 secrets .*another key.*QUOIN_SECRETS_OLD_KEYS\.$/)
    expect(other.open('ONE')).toEqual({ problem: expect.stringContaining('QUOIN_SECRETS_OLD_KEYS') })
    expect(await other.rotate(by)).toEqual({ rotated: 0, unreadable: 2 })
    other.close()
    const both = await openSecrets(fixture.database, secretKeys(otherKey, [secretsKey]), random)
    expect([both.problem(), both.open('ONE')]).toEqual([undefined, { value: 'of ONE' }])
    expect(await both.rotate(by)).toEqual({ rotated: 2, unreadable: 0 })
    expect(await both.rotate(by)).toEqual({ rotated: 0, unreadable: 0 })
    both.close()
    const after = await openSecrets(fixture.database, secretKeys(otherKey, []), random)
    expect([after.problem(), after.open('TWO')]).toEqual([undefined, { value: 'of TWO' }])
    after.close()
    // The node of the former key hears of it and says so.
    expect((await send('POST', '/search')).body).toMatchObject([{ readable: false }, { readable: false }])
  })

  it.each([
    'https://api.example.com',
    'api.example.com/v1',
    'user@api.example.com',
    '*.example.com',
    'api example.com',
    'api.example.com:',
    'api.example.com:0',
    'api.example.com:65536',
    '',
  ])('the host %j is refused, and the list stays', async (host) => {
    const made = await send('POST', '', { name: 'LISTED', value: 'x', hosts: ['api.example.com'] })
    const guid = textAt(made.body, '_meta', 'guid')
    const reply = await send('PUT', `/${guid}`, { hosts: [host] })
    expect([reply.status, jsonAt(reply.body, 'fields')]).toEqual([400, ['hosts']])
    expect(jsonAt((await send('GET', `/${guid}`)).body, 'hosts')).toEqual(['api.example.com'])
  })

  it('a list of hosts bounds where a secret is sent', async () => {
    const hosts = ['API.Example.com.', 'api.example.com', 'b.example:8443', '[::1]:8080']
    const made = await send('POST', '', { name: 'BOUND', value: 'x', hosts })
    expect(jsonAt(made.body, 'hosts')).toEqual(['api.example.com', 'b.example:8443', '[::1]:8080'])
    const guid = textAt(made.body, '_meta', 'guid')
    const goes = (address: string) => 'value' in secrets().open('BOUND', new URL(address))
    expect(
      [
        ...['https://api.example.com/v1', 'http://API.example.com', 'https://api.example.com.:443'],
        ...['https://b.example:8443', 'http://[::1]:8080/'],
      ].map(goes),
    ).toEqual([true, true, true, true, true])
    expect(
      [
        ...['https://api.example.com:8443', 'https://api.example.com.evil.example', 'https://example.com'],
        ...['https://b.example', 'https://x.api.example.com', 'http://[::1]/'],
      ].map(goes),
    ).toEqual([false, false, false, false, false, false])
    // Where it is only compared the list says nothing.
    expect(secrets().open('BOUND')).toEqual({ value: 'x' })
    await send('PUT', `/${guid}`, { hosts: ['c.example'] })
    expect([goes('https://api.example.com'), goes('https://c.example')]).toEqual([false, true])
    await send('PUT', `/${guid}`, { hosts: [] })
    expect(goes('https://c.example')).toBe(false)
    await send('PUT', `/${guid}`, { hosts: null })
    expect(goes('https://anywhere.example')).toBe(true)
  })

  it('there are 1,000 at most', async () => {
    await transact(fixture.database, async (session) => {
      for (let n = 0; n < MAX_SECRETS; n++)
        await session.create(
          systemStorages.secrets,
          setFields({ name: `S${n}`, sealed: '', description: '' }),
        )
    })
    const more = await send('POST', '', { name: 'MORE', value: 'x' })
    expect([more.status, textAt(more.body, 'message')]).toEqual([409, expect.stringContaining('1000')])
    await transact(fixture.database, async (session) => {
      const { documents } = await session.find(systemStorages.secrets, search({ limit: MAX_SECRETS }))
      for (const one of Array.isArray(documents.value) ? documents.value : [])
        await session.delete(systemStorages.secrets, textAt(one, '_meta', 'guid'))
    })
  })
})
