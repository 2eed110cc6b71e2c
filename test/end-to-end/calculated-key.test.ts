/** An endpoint whose trigger calculates the key of a request runs its flow once for each key. */
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { type Answer, objectOf, openTestQuoin, type Sent, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let event: string
let count = 0

// biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of Quoin
const TYPED_KEY = '=`${params.shop}/${body.id}`'

interface Kind {
  readonly key?: string
  readonly scope?: string
  readonly fields?: JsonObject
  /** Without it the flow ends without a reply block. */
  readonly replies?: false
}

/** Stores what was sent, and replies with the new document. A sender that does not sign gets 401 from a reply block. */
function events(
  uri: string,
  { key = '=body.id', scope = '*public', fields = {}, replies }: Kind,
): JsonObject {
  const reply = (flow: string, code: JsonValue, value: JsonValue) => ({
    type: 'httpconnection_set_json',
    in: { flow, code, value, headers: { 'x-kept': 'yes' } },
  })
  return {
    on: { type: 'on_startup_register_uri_post', in: { uri, idempotency_key: key }, scopes: [scope], fields },
    signed: { type: 'branch', in: { flow: '@on.flow', condition: "=headers['x-signed'] != 'no'" } },
    refused: reply('@signed.false', 401, 'not signed'),
    keep: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@signed.true', storage: 'events', set: '={ id: body.id, body: body }' },
    },
    ...(replies === false ? {} : { reply: reply('@keep.flow', '=body.code ?? 201', '@keep.document') }),
  }
}

beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') })
  await quoin.addUser('ann', [])
  await quoin.addUser('bob', [])
  await quoin.install('events', events('events', {}))
  await quoin.install('others', events('others', {}))
  await quoin.install('own', events('own', { scope: '*loggedin' }))
  await quoin.install('by header', events('by-header', { key: "=headers['x-event']" }))
  await quoin.install('by both', events('by-both', { fields: { idempotent: true } }))
  await quoin.install('typed', {
    ...events('typed', {}),
    on: {
      type: 'on_startup_register_uri_post',
      in: { uri: 'typed', idempotency_key: TYPED_KEY },
      scopes: ['*public'],
      fields: { schema: [{ name: 'shop', type: 'whole number', in: 'query', default: 7 }] },
    },
  })
  await quoin.manage('POST', '/_system/secrets', { name: 'SIGNING', value: 'a long secret of a service' })
  const { on, keep, reply } = events('webhook', {})
  await quoin.install('webhook', {
    ...{ on: on ?? null, reply: reply ?? null },
    seen: { type: 'function_console_log', in: { flow: '@on.flow', value: "='seen ' + body.mark" } },
    signed: {
      type: 'check_signature',
      in: { flow: '@seen.flow', secret: 'SIGNING' },
      fields: { sender: 'custom' },
    },
    keep: { ...objectOf(keep), in: { ...objectOf(objectOf(keep).in), flow: '@signed.valid' } },
  })
  await quoin.install('silent', events('silent', { replies: false }))
})

afterAll(() => quoin.close())

beforeEach(() => {
  event = `event-${count++}`
})

/** As `check_signature` expects it of a custom sender. */
function signed(body: JsonValue) {
  const signature = createHmac('sha256', 'a long secret of a service')
    .update(JSON.stringify(body))
    .digest('hex')
  return { 'x-signature': signature }
}

function send(more: Sent & { path?: string } = {}): Promise<Answer> {
  const { path = '/events', ...sent } = more
  return quoin.send('POST', path, { body: { id: event }, ...sent })
}

const stored = async () => (await quoin.documents('events')).filter(({ id }) => id === event)
const isReplay = (answer: Answer) => answer.headers['idempotent-replay'] === 'true'

describe('refused', () => {
  test.each<[string, string, RegExp]>([
    ['a key that is the same for all requests', 'order', /idempotency_key is the same for all requests/],
    ['an expression that does not know its names', '=bdy.id', /bdy/],
  ])('%s, when it is deployed', async (_name, key, message) => {
    await expect(quoin.install('refused', events('refused', { key }))).rejects.toMatchObject({
      problems: [{ pin: 'idempotency_key', message: expect.stringMatching(message) }],
    })
  })

  test.each<[string, JsonValue, RegExp]>([
    ['a key that is too long', { id: 'k'.repeat(4097) }, /must have at most 4096 characters/],
    ['a key that is no text', { id: { a: 1 } }, /^id must be text$/],
  ])('%s, and nothing is run', async (_name, body, message) => {
    const before = (await quoin.documents('events')).length
    const answer = await send({ body })
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringMatching(message) } })
    expect(await quoin.documents('events')).toHaveLength(before)
  })

  test('a refusal is not stored: it would keep the event out', async () => {
    for (let time = 0; time < 2; time++) {
      const refused = await send({ headers: { 'x-signed': 'no' } })
      expect([refused.status, isReplay(refused)]).toEqual([401, false])
    }
    const taken = await send()
    expect([taken.status, isReplay(taken)]).toEqual([201, false])
    expect(await stored()).toHaveLength(1)
  })

  test('a run that failed has left nothing to replay', async () => {
    const failed = await send({ body: { id: event, code: 999 } })
    expect([failed.status, (await stored()).length]).toEqual([400, 0])
    expect((await send()).status).toBe(201)
  })
})

describe('run once', () => {
  test('the same event, from any address', async () => {
    const first = await send()
    expect([first.status, isReplay(first)]).toEqual([201, false])
    const again = await send({ headers: { 'x-forwarded-for': '203.0.113.7' } })
    expect([again.status, again.text, again.headers['x-kept'], isReplay(again)]).toEqual([
      201,
      first.text,
      'yes',
      true,
    ])
    expect(await stored()).toHaveLength(1)
  })

  test('the same event in another request: the status alone, whatever it was', async () => {
    await send()
    for (const other of [
      await send({ body: { id: event, pending: 2 } }),
      await send({ path: '/events?retry=1' }),
      await send({ body: { id: event, code: 202 } }),
    ]) {
      expect([other.status, other.text, other.headers['x-kept'], isReplay(other)]).toEqual([
        201,
        '',
        undefined,
        true,
      ])
    }
    expect(await stored()).toHaveLength(1)
  })

  test.each<[string, string, Sent]>([
    ['the key of the trigger', '/events', {}],
    ['the header of a client', '/by-both', { headers: { 'idempotency-key': 'once' } }],
    ['the signature of a service', '/webhook', {}],
  ])(
    'by %s, a request that the flow refuses neither gets the reply nor hears of it',
    async (_name, path, sent) => {
      const id = path === '/by-both' ? '' : event
      const body = { id, mark: event }
      const headers = { ...sent.headers, ...signed(body) }
      const unsigned = { ...sent.headers, 'x-signed': 'no' }
      const unknown = await send({
        path,
        body: { id: `${id}?`, mark: 'none' },
        headers: { 'x-signed': 'no' },
      })
      expect(unknown.status).toBe(401)
      const first = await send({ path, body, headers })
      expect([first.status, isReplay(first)]).toEqual([201, false])
      const before = await quoin.documents('events')
      for (const other of [body, { id, mark: 'other' }]) {
        const refused = await send({ path, body: other, headers: unsigned })
        expect([refused.status, refused.text, isReplay(refused)]).toEqual([401, unknown.text, false])
      }
      const again = await send({ path, body, headers })
      expect([again.status, again.text, isReplay(again)]).toEqual([201, first.text, true])
      const others = { id, mark: 'other' }
      const different = await send({ path, body: others, headers: { ...sent.headers, ...signed(others) } })
      expect([different.status, isReplay(different)]).toEqual(
        path === '/by-both' ? [409, false] : [201, true],
      )
      expect(await quoin.documents('events')).toEqual(before)
      expect((await quoin.systemLog()).filter(({ message }) => message === `seen ${event}`)).toHaveLength(
        path === '/webhook' ? 1 : 0,
      )
    },
  )

  test('ten at once run the flow once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => send()))
    expect(answers.filter(isReplay)).toHaveLength(9)
    expect(await stored()).toHaveLength(1)
  })

  test('an event whose flow has no reply block', async () => {
    for (const replay of [false, true]) {
      const answer = await send({ path: '/silent' })
      expect([answer.status, answer.text, isReplay(answer)]).toEqual([204, '', replay])
    }
    expect(await stored()).toHaveLength(1)
  })

  test('by a header', async () => {
    const headers = { 'x-event': event }
    const answers = [await send({ path: '/by-header', headers }), await send({ path: '/by-header', headers })]
    expect(answers.map(isReplay)).toEqual([false, true])
    expect(await stored()).toHaveLength(1)
  })

  test('the key of the trigger counts before the header', async () => {
    const one = await send({ path: '/by-both', headers: { 'idempotency-key': `${event}-1` } })
    const two = await send({ path: '/by-both', headers: { 'idempotency-key': `${event}-2` } })
    expect([isReplay(one), isReplay(two), (await stored()).length]).toEqual([false, true, 1])
  })

  test('fields of the trigger have their types and defaults', async () => {
    const one = await send({ path: '/typed' })
    const same = await send({ path: '/typed?shop=7' })
    const other = await send({ path: '/typed?shop=8' })
    expect([isReplay(one), isReplay(same), isReplay(other)]).toEqual([false, true, false])
    expect(await stored()).toHaveLength(2)
  })
})

describe('run again', () => {
  test.each<[string, Sent & { path?: string }, Sent & { path?: string }]>([
    ['another endpoint', {}, { path: '/others' }],
    ['another user', { path: '/own', as: 'ann' }, { path: '/own', as: 'bob' }],
    ['without a key', { path: '/by-header' }, { path: '/by-header' }],
  ])('%s', async (_name, first, second) => {
    const answers = [await send(first), await send(second)]
    expect(answers.map(({ status }) => status)).toEqual([201, 201])
    expect(answers.some(isReplay)).toBe(false)
    expect(await stored()).toHaveLength(2)
  })

  test('without a key of the trigger the header counts, if it is on', async () => {
    const sent = { path: '/by-both', body: { n: 1 }, headers: { 'idempotency-key': event } }
    expect([isReplay(await send(sent)), isReplay(await send(sent))]).toEqual([false, true])
  })

  test('a day later', async () => {
    await send()
    quoin.advance(23.9 * 3_600_000)
    expect(isReplay(await send())).toBe(true)
    quoin.advance(0.2 * 3_600_000)
    expect(isReplay(await send())).toBe(false)
    expect(await stored()).toHaveLength(2)
  })
})
