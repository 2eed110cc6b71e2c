/** A request that is sent again with its idempotency-key gets the first reply, and the flow does not run again. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { type Answer, objectOf, openTestQuoin, type Sent, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let key: string
let count = 0

/** Stores what was sent under the given address and replies with the new document; without a name it fails. */
function orders(uri: string, idempotent: boolean): JsonObject {
  return {
    orders: { type: 'storage', fields: { storage: 'orders' } },
    on: { type: 'on_startup_register_uri_post', in: { uri }, fields: { idempotent }, scopes: ['*loggedin'] },
    set: { type: 'mutations_set_bp_field_multiple', in: { object: '@on.body' } },
    keep: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@on.flow', storage: '@orders.storage', mutations: '@set.mutations' },
    },
    read: { type: 'object_update_fields', in: { object: '@on.body' }, fields: { out_fields: ['code'] } },
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@keep.flow', code: '@read.code', value: '@keep.document', headers: { 'x-order': 'kept' } },
    },
  }
}

beforeAll(async () => {
  quoin = await openTestQuoin()
  await quoin.addUser('ann', [])
  await quoin.addUser('bob', [])
  await quoin.install('orders', orders('orders', true))
  await quoin.install('others', orders('others', true))
  await quoin.install('plain', orders('plain', false))
  const queued = orders('queued', true)
  await quoin.install('queued', {
    ...queued,
    on: { ...objectOf(queued.on), in: { uri: 'queued', one_at_a_time: '=body.key' } },
  })
})

afterAll(() => quoin.close())

beforeEach(() => {
  key = `key-${count++}`
})

function order(body: JsonValue, more: Sent & { path?: string } = {}): Promise<Answer> {
  const { path = '/orders', ...sent } = more
  return quoin.send('POST', path, { as: 'ann', body, headers: { 'idempotency-key': key }, ...sent })
}

const stored = async () => (await quoin.documents('orders')).filter((one) => one.key === key)
const isReplay = (answer: Answer) => answer.headers['idempotent-replay'] === 'true'

describe('refused', () => {
  test('a key that cannot be one', async () => {
    for (const wrong of ['', 'k'.repeat(256)]) {
      const answer = await order({ key }, { headers: { 'idempotency-key': wrong } })
      expect(answer).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('idempotency-key') },
      })
    }
    expect(await stored()).toEqual([])
  })

  test('a key that was used for another body or address: 409, and nothing is run', async () => {
    const first = await order({ key, code: 201 })
    expect(first.status).toBe(201)
    for (const other of [
      await order({ key, code: 202 }),
      await order({ key, code: 201 }, { path: '/orders?x=1' }),
    ]) {
      expect(other.status).toBe(409)
      expect(Object.keys(objectOf(other.body))).toEqual(['error'])
      expect(isReplay(other)).toBe(false)
    }
    expect(await stored()).toHaveLength(1)
    expect((await order({ key, code: 201 })).text).toBe(first.text)
  })

  test('a caller without access learns nothing from a known key', async () => {
    await order({ key, code: 201 })
    const headers = { 'idempotency-key': key }
    const answer = await quoin.send('POST', '/orders', { body: { key, code: 201 }, headers })
    expect(answer).toMatchObject({ status: 404, body: { error: 'not found' } })
  })
})

describe('replayed', () => {
  test('the same reply, with its code and headers, and one document', async () => {
    const first = await order({ key, code: 201 })
    expect(isReplay(first)).toBe(false)
    for (let time = 0; time < 3; time++) {
      const again = await order({ key, code: 201 })
      expect([again.status, again.text, again.headers['x-order']]).toEqual([201, first.text, 'kept'])
      expect(again.headers['content-type']).toBe(first.headers['content-type'])
      expect(isReplay(again)).toBe(true)
    }
    expect(await stored()).toHaveLength(1)
  })

  test('ten at once run the flow once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => order({ key, code: 201 })))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers.filter(isReplay)).toHaveLength(9)
    expect(await stored()).toHaveLength(1)
  })

  test('of an endpoint that runs one at a time', async () => {
    for (const replay of [false, true]) {
      const answer = await order({ key, code: 201 }, { path: '/queued' })
      expect([answer.status, isReplay(answer)]).toEqual([201, replay])
    }
    expect(await stored()).toHaveLength(1)
  })

  test('a reply without a body', async () => {
    for (const replay of [false, true]) {
      const answer = await order({ key, code: 204 })
      expect([answer.status, answer.text, isReplay(answer)]).toEqual([204, '', replay])
    }
    expect(await stored()).toHaveLength(1)
  })

  test('also after the blueprint was deactivated and activated again', async () => {
    const first = await order({ key, code: 201 })
    const [blueprint] =
      [...quoin.quoin.flows.live.table().blueprints].find(([, live]) => live.name === 'orders') ?? []
    await quoin.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
    expect((await order({ key, code: 201 })).status).toBe(404)
    await quoin.manage('PUT', `/blueprints/update/set/active/${blueprint}`)
    expect((await order({ key, code: 201 })).text).toBe(first.text)
    expect(await stored()).toHaveLength(1)
  })
})

describe('run again', () => {
  test('a run that failed has left nothing to replay', async () => {
    // 999 is no status code, so the reply block fails behind the document.
    for (let time = 0; time < 2; time++) {
      const answer = await order({ key, code: 999 })
      expect(answer.status).toBe(400)
      expect(isReplay(answer)).toBe(false)
    }
    expect(await stored()).toEqual([])
    expect((await order({ key, code: 201 })).status).toBe(201)
    expect(await stored()).toHaveLength(1)
  })

  test.each<[string, Sent & { path?: string }, Sent & { path?: string }]>([
    ['another user', {}, { as: 'bob' }],
    ['another endpoint', {}, { path: '/others' }],
    ['without a key', { headers: {} }, { headers: {} }],
    ['an endpoint that is not idempotent', { path: '/plain' }, { path: '/plain' }],
  ])('%s', async (_name, first, second) => {
    const answers = [await order({ key, code: 201 }, first), await order({ key, code: 201 }, second)]
    expect(answers.map(({ status }) => status)).toEqual([201, 201])
    expect(answers.some(isReplay)).toBe(false)
    expect(await stored()).toHaveLength(2)
  })

  test('a day later', async () => {
    const first = await order({ key, code: 201 })
    quoin.advance(23.9 * 3_600_000)
    expect(isReplay(await order({ key, code: 201 }))).toBe(true)
    quoin.advance(0.2 * 3_600_000)
    const again = await order({ key, code: 201 })
    expect([again.status, isReplay(again), again.text === first.text]).toEqual([201, false, false])
    expect(await stored()).toHaveLength(2)
  })
})
