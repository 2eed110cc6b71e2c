import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { objectOf, openTestQuoin, type TestQuoin } from '../../../../test/end-to-end/harness.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { textIn } from '../../../storage/document-fields.ts'
import { systemStorages } from '../../../storage/system-storages.ts'

let fixture: TestQuoin
const notes = (flow: string, set: string) => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: 'sent', set },
})

beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_PUBLIC_URL: 'https://shop.example' })
  await fixture.install('Payments', {
    get: { type: 'on_startup_register_uri_post', in: { uri: 'pay' }, scopes: ['*public'] },
    hook: { type: 'wait_for_webhook', in: { flow: '@get.flow', for: '=body.for' } },
    approval: { type: 'wait_for_approval', in: { flow: '@hook.now', title: 'Pay', for: '=body.for' } },
    reply: {
      type: 'reply',
      in: {
        flow: '@approval.now',
        value: '={ address: hook.address, url: hook.url, wait: hook.wait, link: approval.link }',
      },
    },
    got: notes('@hook.received', '={ id: body.id, end: "received", sent: hook.body, at: hook.at }'),
    late: notes('@hook.timeout', '={ id: body.id, end: "timeout", sent: hook.body }'),
  })
})
afterAll(() => fixture?.close())

let count = 0
let id: string
beforeEach(() => {
  count += 1
  id = `payment ${count}`
})

async function begin(more: JsonObject = {}) {
  const { address, wait, link } = objectOf(
    (await fixture.send('POST', '/pay', { body: { id, ...more } })).body,
  )
  return { address: textIn(address).replace('/api/v1', ''), wait: textIn(wait), link: textIn(link) }
}

const arrived = async () => (await fixture.documents('sent')).filter((one) => one.id === id)
const waiting = async (wait: string) =>
  (await fixture.documents(systemStorages.waits)).filter((one) => objectOf(one._meta).guid === wait)
const GUID = '01a2b3c4-0000-7000-8000-000000000000'

test('the address is also given with the address of the site', async () => {
  const { address, url } = objectOf((await fixture.send('POST', '/pay', { body: { id } })).body)
  expect(url).toBe(`https://shop.example${address}`)
})

describe('the run does not continue', () => {
  test.each<[string, (address: string, link: string) => Promise<string> | string]>([
    ['without a token', (address) => address.split('?')[0] ?? ''],
    ['with an empty token', (address) => address.replace(/=.*/, '=')],
    ['with another token', (address) => address.replace(/=.*/, `=${'A'.repeat(43)}`)],
    [
      'with the token of another wait',
      async (address) => (await begin()).address.replace(/.*(?=\?)/, address.split('?')[0] ?? ''),
    ],
    ['at a guid of nothing', (address) => address.replace(/[0-9a-f-]{36}/, GUID)],
    ['at no guid', (address) => address.replace(/[0-9a-f-]{36}/, 'x')],
    ['at the link of an approval', (_, link) => link.replace('/_approvals/', '/_hooks/')],
  ])('%s: all the same 404', async (_what, addressOf) => {
    const { address, wait, link } = await begin()
    const reply = await fixture.send('POST', await addressOf(address, link), { body: { paid: true } })
    expect([reply.status, objectOf(reply.body)]).toEqual([
      404,
      expect.objectContaining({ message: 'No run waits for a request at this address, or not any more.' }),
    ])
    expect([await waiting(wait), await arrived()]).toMatchObject([[{ state: 'waiting' }], []])
  })

  test.each([
    ['a body that is too large', JSON.stringify('x'.repeat(256 * 1024)), 'application/json', 413],
    ['a body that is no JSON', '{', 'application/json', 400],
    ['another type of body', '{}', 'text/plain', 415],
  ])('for %s', async (_what, payload, type, status) => {
    const { address, wait } = await begin()
    const { app } = fixture.quoin.server
    const headers = { 'content-type': type }
    const reply = await app.inject({ method: 'POST', url: `/api/v1${address}`, payload, headers })
    expect(reply.statusCode).toBe(status)
    expect([await waiting(wait), await arrived()]).toMatchObject([[{ state: 'waiting' }], []])
  })

  test('for a GET', async () => {
    const { address, wait } = await begin()
    expect((await fixture.send('GET', address)).status).toBe(404)
    expect(await waiting(wait)).toMatchObject([{ state: 'waiting' }])
  })
})

describe('the run continues', () => {
  test.each([
    ['an object', { paid: true, 'a.b': [1, { c: null }] }],
    ['a list', [1, 'two']],
    ['a text', 'paid'],
    ['nothing', undefined],
  ])('with %s, once', async (_what, body) => {
    const { address, wait } = await begin({ for: '1d' })
    const [stored] = await waiting(wait)
    expect(JSON.stringify(stored)).not.toContain(address.split('token=')[1])
    const sent = body === undefined ? {} : { body }
    const replies = await Promise.all([
      fixture.send('POST', address, sent),
      fixture.send('POST', address, sent),
    ])
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404])
    await expect.poll(arrived, { timeout: 10_000 }).toMatchObject([{ end: 'received', sent: body ?? {} }])
    await expect.poll(() => waiting(wait)).toEqual([])
    expect((await fixture.send('POST', address, sent)).status).toBe(404)
    expect((await arrived())[0]?.at).toMatch(/^20\d\d-/)
    expect(await arrived()).toHaveLength(1)
  })

  test('without anything when its time is over, and takes nothing any more', async () => {
    const { address } = await begin({ for: '1h' })
    fixture.advance(3_600_000)
    await expect.poll(arrived, { timeout: 10_000 }).toMatchObject([{ end: 'timeout' }])
    expect((await fixture.send('POST', address, { body: {} })).status).toBe(404)
    expect(objectOf((await arrived())[0]).sent ?? null).toBeNull()
  })
})

test('an address that asks too often is refused', async () => {
  const limited = await openTestQuoin({ QUOIN_RATE_LIMIT: '2', QUOIN_TRUST_PROXY: '127.0.0.1' })
  const statuses: number[] = []
  for (let times = 0; times < 20; times += 1) {
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    statuses.push((await limited.send('POST', `/_hooks/${GUID}?token=x`, { headers })).status)
  }
  await limited.close()
  expect(statuses).toContain(429)
})
