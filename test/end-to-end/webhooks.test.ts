/** `examples/webhooks`: retries by a clock that the test moves, the rest over HTTP on the real program. */
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import {
  type ExampleFixture,
  eventually,
  installExample,
  openExampleFixture,
  openReceiver,
  passTime,
  type Receiver,
  statusesOf,
} from './example-fixture.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

/** Deliveries that failed five times. */
const dead = '/hooks/deliveries?status=open&attempts=5'

let crm: Receiver
let ledger: Receiver
const secret = 'a secret of both sides'
const values = () => ({ WEBHOOK_TARGETS: [`${crm.url}/crm`, `${ledger.url}/ledger`] })
const secrets = { WEBHOOK_SIGNING: secret }
const settings = () => ({
  QUOIN_ALLOWED_HOSTS: `${crm.host},${ledger.host}`,
  QUOIN_SECRETS_KEY: '0f'.repeat(32),
})

beforeAll(async () => {
  crm = await openReceiver()
  ledger = await openReceiver()
})
afterAll(async () => {
  await crm.close()
  await ledger.close()
})
beforeEach(() => {
  crm.answer(200)
  ledger.answer(200)
})

const signature = (text: string, key = secret) =>
  `sha256=${createHmac('sha256', key).update(text).digest('hex')}`
const signed = (body: JsonValue) => ({
  body,
  headers: { 'x-hub-signature-256': signature(JSON.stringify(body)) },
})
const event = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'order.paid',
  total: 12.5,
  ...more,
})
const about = ({ seen }: Receiver, id: string) => seen.filter(({ body }) => body.id === id)

describe('over HTTP', () => {
  let fixture: ExampleFixture
  beforeAll(async () => {
    fixture = await openExampleFixture('webhooks', { values: values(), secrets, settings: settings() })
  })
  afterAll(() => fixture.close())

  const send = (body: JsonValue) =>
    fixture.call('POST', '/hooks/events', { ...signed(body), anonymous: true })
  /** All jobs have ended; what was sent until now has arrived. */
  const quiet = () =>
    eventually(async () =>
      [...(await fixture.jobs('events')), ...(await fixture.jobs('deliveries'))].filter(
        (job) => !/^(done|dead) /.test(job),
      ),
    ).toEqual([])

  test('an event goes to both, once, as it was sent', async () => {
    const body = event('e-1', { customer: { name: 'Zoë' }, lines: [1, 2.5, null, 'x'] })
    expect(await send(body)).toEqual({ status: 202, body: { id: 'e-1' } })
    await quiet()
    for (const [receiver, path] of [
      [crm, '/crm'],
      [ledger, '/ledger'],
    ] as const)
      expect(about(receiver, 'e-1')).toMatchObject([{ path, body }])
  })

  test('50 copies at once, and one more later, go to each once', async () => {
    const body = event('e-2')
    const replies = await Promise.all(Array.from({ length: 50 }, () => send(body)))
    expect(statusesOf(replies)).toEqual({ 202: 50 })
    await quiet()
    expect((await send(body)).status).toBe(202)
    await quiet()
    expect([about(crm, 'e-2').length, about(ledger, 'e-2').length]).toEqual([1, 1])
  })

  test('50 events at once go to each, all of them', async () => {
    const ids = Array.from({ length: 50 }, (_none, index) => `storm-${index}`)
    const replies = await Promise.all(ids.map((id) => send(event(id))))
    expect(statusesOf(replies)).toEqual({ 202: 50 })
    await quiet()
    for (const receiver of [crm, ledger])
      expect(
        receiver.seen
          .map(({ body }) => body.id)
          .filter((id) => /^storm/.test(String(id)))
          .sort(),
      ).toEqual(ids.toSorted())
  })

  const body = event('forged')
  const text = JSON.stringify(body)
  test.each<[string, JsonValue, Record<string, string>, number]>([
    ['no signature', body, {}, 401],
    ['an empty one', body, { 'x-hub-signature-256': '' }, 401],
    ['one of another secret', body, { 'x-hub-signature-256': signature(text, 'another') }, 401],
    ['one of another body', { ...body, total: 1_000_000 }, { 'x-hub-signature-256': signature(text) }, 401],
    ['one without its algorithm', body, { 'x-hub-signature-256': signature(text).slice(7) }, 401],
    ['one with more behind it', body, { 'x-hub-signature-256': `${signature(text)}0` }, 401],
    ['no id', { type: 'x' }, signed({ type: 'x' }).headers, 400],
    ['an id that is a number', { id: 5, type: 'x' }, signed({ id: 5, type: 'x' }).headers, 400],
    ['a list', [body], signed([body]).headers, 400],
  ])('%s is refused, and nothing is passed on', async (_what, sent, headers, status) => {
    const reply = await fixture.call('POST', '/hooks/events', { body: sent, headers, anonymous: true })
    expect(reply.status).toBe(status)
    await quiet()
    expect([about(crm, 'forged'), about(ledger, 'forged')]).toEqual([[], []])
  })

  test('what one of them did not take waits for both to be there again', async () => {
    ledger.answer(503)
    await send(event('e-3'))
    await eventually(() => about(ledger, 'e-3').length).toBeGreaterThan(0)
    // The other one has it, and that is stored: one that is killed between these two sends it again.
    await eventually(async () =>
      (await fixture.jobs('deliveries')).filter((job) => !job.startsWith('done')),
    ).toHaveLength(1)
    await fixture.restart('SIGKILL')
    ledger.answer(200)
    await quiet()
    expect(about(ledger, 'e-3').filter(({ status }) => status === 200)).toHaveLength(1)
    expect(new Set(about(ledger, 'e-3').map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    expect(about(crm, 'e-3').filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await fixture.call('GET', dead)).body).toEqual([])
  })

  test('only signed-in users see what is dead', async () => {
    expect((await fixture.call('GET', dead, { anonymous: true })).status).toBe(404)
  })
})

describe('by the clock', () => {
  let quoin: TestQuoin
  beforeAll(async () => {
    quoin = await openTestQuoin(settings())
    await installExample(quoin, 'webhooks', values(), secrets)
  })
  afterAll(() => quoin.close())

  test('after five attempts a delivery is dead and listed, the other one is not, and it can be run again', async () => {
    crm.answer(500)
    expect((await quoin.send('POST', '/hooks/events', signed(event('e-4')))).status).toBe(202)
    const listed = async () => objectsOf((await quoin.send('GET', dead, { as: 'admin' })).body)
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      expect(await listed()).toEqual([])
      await eventually(() => about(crm, 'e-4').length).toBe(attempt)
      const stored = async () => (await quoin.documents('deliveries')).map((one) => one.attempts).sort()
      await eventually(stored).toEqual([1, attempt])
      await passTime(quoin, 3_600_000)
    }
    await eventually(listed).toMatchObject([
      { id: 'e-4', target: `${crm.url}/crm`, status: 'open', attempts: 5 },
    ])
    const jobs = async () => {
      const found = await quoin.manage('POST', '/queue/search', { filters: { queue: 'deliveries' } })
      return objectsOf(found).map((job) => ({ ...job, guid: String(objectOf(job._meta).guid) }))
    }
    await eventually(
      async () => (await jobs()).filter((job) => 'status' in job && job.status === 'dead').length,
    ).toBe(1)
    expect(about(ledger, 'e-4')).toHaveLength(1)
    crm.answer(200)
    const [job] = (await jobs()).filter((one) => 'status' in one && one.status === 'dead')
    await quoin.manage('POST', `/queue/${job?.guid}/requeue`)
    // The sixth attempt is counted before it is sent, and leaves the list with that.
    await eventually(listed).toEqual([])
    await eventually(() => about(crm, 'e-4').length).toBe(6)
    expect(about(ledger, 'e-4')).toHaveLength(1)
  })

  test('the signature is of the bytes that were sent, not of the JSON that they mean', async () => {
    const payload = '{ "id" : "e-6",\n "type":"order.paid", "total": 1.50 }'
    const post = (sent: string) =>
      quoin.quoin.server.app.inject({
        ...{ method: 'POST', url: '/api/v1/hooks/events', payload: sent },
        headers: { 'content-type': 'application/json', 'x-hub-signature-256': signature(payload) },
      })
    expect((await post(JSON.stringify(JSON.parse(payload)))).statusCode).toBe(401)
    expect((await post(payload)).statusCode).toBe(202)
    await eventually(() => about(crm, 'e-6').length).toBe(1)
  })

  test('while its secret is not set, no event is taken', async () => {
    const [found] = objectsOf(await quoin.manage('POST', '/_system/secrets/search', {}))
    await quoin.manage('DELETE', `/_system/secrets/${guidOf(found)}`)
    const body = event('e-5')
    for (const input of [
      '',
      'sha256=',
      signature(JSON.stringify(body), ''),
      signature(JSON.stringify(body)),
    ]) {
      const reply = await quoin.send('POST', '/hooks/events', {
        body,
        headers: { 'x-hub-signature-256': input },
      })
      expect([reply.status, reply.text.includes('WEBHOOK_SIGNING')]).toEqual([500, false])
    }
    expect((await quoin.documents('events')).map(({ id }) => id)).toEqual(['e-4', 'e-6'])
  })
})
