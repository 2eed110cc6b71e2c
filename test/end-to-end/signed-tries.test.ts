/** A builder tries an endpoint that checks signatures: the server signs, and the secret stays there. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { jsonAt, recordsIn } from '../json-at.ts'
import { openTestQuoin, type TestQuoin } from './harness.ts'

const secret = 'amber-sphinx-of-quartz'
const key = Buffer.alloc(32, 5).toString('base64')
const body = { amount: 5 }

let quoin: TestQuoin
let blueprint: string
let block: string
beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_SECRETS_KEY: key })
  await quoin.manage('POST', '/_system/secrets', { name: 'HOOK', value: secret })
  blueprint = await quoin.install('Hook', {
    take: { type: 'on_startup_register_uri_post', in: { uri: 'hook' }, scopes: ['*public'] },
    check: {
      type: 'check_signature',
      in: { flow: '@take.flow', secret: 'HOOK' },
      fields: { sender: 'stripe' },
    },
    reply: { type: 'httpconnection_set_json', in: { flow: '@check.valid', value: '=body' } },
  })
  const filters = { blueprint_guid: blueprint, type: 'check_signature' }
  const [found] = recordsIn(await quoin.manage('POST', '/blueprintactions/search', { filters }))
  block = String(jsonAt(found, '_meta', 'guid'))
  await quoin.addUser('builder', ['blueprints_update', 'blueprintactions_update', 'secrets_view'])
  await quoin.addUser('keeper', ['secrets_update'])
})
afterAll(() => quoin?.close())

const asked = () => ({ blueprint, block, method: 'POST', path: '/api/v1/hook', body: JSON.stringify(body) })
const sign = (as: string | undefined, changed: object = {}) =>
  quoin.send('POST', '/_system/secrets/sign', { ...(as && { as }), body: { ...asked(), ...changed } })
const used = async () =>
  recordsIn(
    await quoin.manage('POST', '/_system/auditlogs', { filters: { category: 'secrets', action: 'used' } }),
  )

test.each([
  ['an anonymous caller', undefined, 401],
  ['a builder who may not set secrets', 'builder', 403],
])('%s gets no signature, and no use is recorded', async (_who, as, status) => {
  const before = (await used()).length
  const reply = await sign(as)
  expect(reply.status).toBe(status)
  expect(jsonAt(reply.body, 'headers')).toBeUndefined()
  expect((await used()).length).toBe(before)
})

test('the endpoint takes the request with the headers, and not another body; the secret is in no reply', async () => {
  const reply = await sign('keeper')
  expect(reply.status).toBe(200)
  expect(JSON.stringify(reply)).not.toContain(secret)
  const signature = String(jsonAt(reply.body, 'headers', 'stripe-signature'))
  const headers = { 'stripe-signature': signature }
  expect(await quoin.send('POST', '/hook', { body, headers })).toMatchObject({ status: 200, body })
  expect((await quoin.send('POST', '/hook', { body: { amount: 6 }, headers })).status).toBe(401)
})

test('a run by hand without effects takes the same headers, and is refused without them', async () => {
  const headers = jsonAt((await sign('keeper')).body, 'headers') ?? null
  const run = async (input: JsonObject) => {
    const asked = { trigger: 'POST hook', state: 'staged', effects: 'discard', anonymous: true, input }
    return jsonAt(await quoin.manage('POST', `/blueprints/${blueprint}/run`, asked), 'reply', 'status')
  }
  expect(await run({ body, headers })).toBe(200)
  expect(await run({ body })).toBe(401)
  expect(await run({ body: { amount: 6 }, headers })).toBe(401)
})

test('each signature is in the audit log, with block and address, and without the secret', async () => {
  const newest = (await used()).find((one) => jsonAt(one, 'after', 'purpose') === 'signature')
  expect(newest).toMatchObject({
    name: 'HOOK',
    user: { username: 'keeper' },
    after: { purpose: 'signature', blueprint, block, method: 'POST', path: '/api/v1/hook' },
  })
  expect(JSON.stringify(newest)).not.toContain(secret)
})

test.each([
  ['another block of the blueprint', { block: '01900000-0000-7000-8000-000000000000' }, 404],
  ['another blueprint', { blueprint: '01900000-0000-7000-8000-000000000000' }, 409],
  ['a method that is none', { method: 'TRACE' }, 400],
])('%s is not signed for', async (_what, changed, status) => {
  expect((await sign('keeper', changed)).status).toBe(status)
})

test('after the blueprint was deactivated no request is signed', async () => {
  await quoin.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
  expect(await sign('keeper')).toMatchObject({ status: 409, body: { error: 'CONFLICT' } })
  await quoin.manage('PUT', `/blueprints/update/set/active/${blueprint}`)
})
