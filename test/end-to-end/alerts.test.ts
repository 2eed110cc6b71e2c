/** Alerts that reach a real SMTP server and a real HTTP server: told once, over once, signed, and kept from private addresses. */
import { createHmac } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { checkAlerts } from '../../src/records/alerts/check-alerts.ts'
import { addFigures } from '../../src/records/figures/figure-documents.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { type LocalServer, sendEndlessly, startLocalServer } from '../local-server.ts'
import { type MailServer, openMailServer } from '../mail-server.ts'
import { guidOf, objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

interface Call {
  readonly body: JsonObject
  readonly text: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

const secret = 'a secret of the pager'
let mails: MailServer
let pager: LocalServer
let quoin: TestQuoin
const calls: Call[] = []
/** What the pager replies. */
let status = 200
let isEndless = false
let diskFree = 50_000

beforeAll(async () => {
  mails = await openMailServer({ authOptional: true, hideSTARTTLS: true })
  pager = await startLocalServer(async (request, response) => {
    const body = await text(request)
    calls.push({ body: objectOf(JSON.parse(body)), text: body, headers: request.headers })
    response.statusCode = status
    if (isEndless) sendEndlessly(response)
    else response.end()
  })
  quoin = await openTestQuoin({
    QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
    QUOIN_MAIL_FROM: 'Quoin <quoin@example.org>',
    QUOIN_ALLOWED_HOSTS: `127.0.0.1:${pager.port}`,
    QUOIN_SECRETS_KEY: '0f'.repeat(32),
  })
  await quoin.manage('POST', '/_system/secrets', { name: 'PAGER', value: secret })
}, 120_000)
afterAll(async () => {
  await quoin?.close()
  await mails?.close()
  await pager?.close()
})

const eventually = (ask: () => unknown) => vi.waitFor(ask, { timeout: 60_000, interval: 50 })
const check = (later = 0) =>
  checkAlerts({
    ...{ database: quoin.quoin.database, clock: () => Date.now() + later * 1000 },
    diskFree: async () => diskFree,
  })
const make = async (body: JsonObject) => guidOf(await quoin.manage('POST', '/_system/alerts', body))
const read = async (guid: string) => objectOf(await quoin.manage('GET', `/_system/alerts/${guid}`))
const send = (body: JsonValue) => quoin.send('POST', '/_system/alerts', { as: 'admin', body })

describe('a rule', () => {
  test.each<[string, JsonObject, string]>([
    ['without a figure', { name: 'A', threshold: 1 }, 'figure'],
    ['of an unknown figure', { name: 'A', figure: 'mood', threshold: 1 }, 'figure'],
    ['below zero', { name: 'A', figure: 'disk_free', threshold: -1 }, 'threshold'],
    ['with no address', { name: 'A', figure: 'disk_free', threshold: 1, mail: ['ann'] }, 'mail'],
    [
      'with eleven addresses',
      { name: 'A', figure: 'disk_free', threshold: 1, mail: Array(11).fill('a@b.example') },
      'mail',
    ],
    [
      'of another protocol',
      { name: 'A', figure: 'disk_free', threshold: 1, webhook: 'file:///etc/passwd' },
      'webhook',
    ],
    [
      'with a password in its address',
      { name: 'A', figure: 'disk_free', threshold: 1, webhook: 'https://a:b@c.example' },
      'webhook',
    ],
  ])('%s is refused', async (_, body, field) => {
    const reply = await send(body)
    expect([reply.status, objectOf(reply.body).fields]).toEqual([400, [field]])
  })

  test('of a cluster there are 50 at most', async () => {
    const guids: string[] = []
    for (let n = 0; n < 50; n += 1)
      guids.push(await make({ name: `MANY_${n}`, figure: 'disk_free', threshold: 0, active: false }))
    expect((await send({ name: 'ONE_MORE', figure: 'disk_free', threshold: 0 })).status).toBe(409)
    for (const guid of guids) await quoin.manage('DELETE', `/_system/alerts/${guid}`)
  })
})

test('low disk tells once by mail and by a signed webhook, and once when it is over', async () => {
  const guid = await make({
    ...{ name: 'DISK', figure: 'disk_free', threshold: 1_000, mail: ['ann@example.org', 'ben@example.org'] },
    ...{ webhook: `${pager.url}/page`, secret: 'PAGER' },
  })
  await check()
  expect(await read(guid)).toMatchObject({ firing: false, since: 0 })
  diskFree = 900
  // Two nodes that check at once, and a minute later.
  await Promise.all([check(), check()])
  await check()
  await eventually(() => expect([mails.taken.length, calls.length]).toEqual([1, 1]))
  expect(mails.taken[0]).toMatchObject({ to: ['ann@example.org', 'ben@example.org'] })
  expect(mails.taken[0]?.headers.subject).toBe('Alert DISK: 900 MiB of disk are free')
  const [call] = calls
  expect(call?.body).toMatchObject({
    type: 'alert.fired',
    name: 'DISK',
    figure: 'disk_free',
    threshold: 1_000,
    value: 900,
  })
  const signed = `${call?.headers['x-quoin-timestamp']}.${call?.text}`
  expect(call?.headers['x-quoin-signature']).toBe(
    `sha256=${createHmac('sha256', secret).update(signed).digest('hex')}`,
  )
  expect(await read(guid)).toMatchObject({ firing: true, value: 900 })
  // Between the threshold and its distance it goes on firing.
  diskFree = 1_200
  await check()
  diskFree = 1_300
  await check()
  await check()
  await eventually(() => expect([mails.taken.length, calls.length]).toEqual([2, 2]))
  expect(calls[1]?.body).toMatchObject({ type: 'alert.over', value: 1_300 })
  expect(await read(guid)).toMatchObject({ firing: false, value: 1_300 })
  await quoin.manage('DELETE', `/_system/alerts/${guid}`)
}, 60_000)

test('of a few requests no share is said', async () => {
  const guid = await make({ name: 'NIGHT', figure: 'error_share', threshold: 10, minutes: 5 })
  const { database } = quoin.quoin
  // An hour in which there was nothing else.
  const at = Math.floor(Date.now() / 1000) + 7_200
  await addFigures({ database, clock: Date.now }, at, [[{ kind: 'traffic', node: 'one' }, [19, 0, 19]]])
  await check(7_320)
  expect(await read(guid)).toMatchObject({ firing: false, since: 0 })
  await addFigures({ database, clock: Date.now }, at, [[{ kind: 'traffic', node: 'one' }, [1, 0, 1]]])
  await check(7_320)
  expect(await read(guid)).toMatchObject({ firing: true, value: 100 })
  await quoin.manage('DELETE', `/_system/alerts/${guid}`)
})

test('a rule that is changed is judged from the beginning; who is told may change meanwhile', async () => {
  diskFree = 900
  const guid = await make({ name: 'CHANGED', figure: 'disk_free', threshold: 1_000 })
  const change = (body: JsonObject) => quoin.manage('PUT', `/_system/alerts/${guid}`, body)
  await check()
  await change({ mail: ['ann@example.org'] })
  expect(await read(guid)).toMatchObject({ firing: true, value: 900 })
  await change({ threshold: 800 })
  expect(await read(guid)).toMatchObject({ firing: false, since: 0, value: null })
  const reported = mails.taken.length
  await check()
  // By its new limit it does not fire: nothing is over, so nothing is told.
  expect(await read(guid)).toMatchObject({ firing: false })
  expect(mails.taken).toHaveLength(reported)
  await quoin.manage('DELETE', `/_system/alerts/${guid}`)
})

test('the age of the queue is that of the job that has been due for the longest time', async () => {
  await quoin.manage('PUT', '/queues/held', { paused: true })
  const guid = await make({ name: 'AGE', figure: 'queue_age', threshold: 300 })
  const session = quoin.quoin.database.session()
  await session.enqueue({ queue: 'held', kind: 'function', title: 'held', payload: { function: 'none' } })
  await session.transaction.commit()
  await check()
  expect(await read(guid)).toMatchObject({ firing: false })
  await check(301)
  const { firing, value } = await read(guid)
  expect([firing, Number(value) >= 300 && Number(value) < 600]).toEqual([true, true])
  await quoin.manage('DELETE', `/_system/alerts/${guid}`)
})

test('the share of failed requests is that of all nodes in its minutes', async () => {
  const guid = await make({ name: 'ERRORS', figure: 'error_share', threshold: 10, minutes: 5 })
  const { database } = quoin.quoin
  // Four hours on, where this process has counted no request of its own, however long the tests before took.
  const ahead = 4 * 3_600
  const minutesAgo = (minutes: number) => Math.floor(Date.now() / 1000) + ahead - 60 * minutes
  const add = (at: number, node: string, requests: number, failed: number) =>
    addFigures({ database, clock: Date.now }, at, [[{ kind: 'traffic', node }, [requests, 0, failed]]])
  await add(minutesAgo(20), 'one', 100, 100)
  await add(minutesAgo(2), 'one', 100, 5)
  await check(ahead)
  expect(await read(guid)).toMatchObject({ firing: false })
  await add(minutesAgo(2), 'two', 100, 20)
  await check(ahead)
  expect(await read(guid)).toMatchObject({ firing: true, value: 12.5 })
  await quoin.manage('DELETE', `/_system/alerts/${guid}`)
})

test('dead letters and the age of the queue are read, and a rule that is off is not checked', async () => {
  const dead = await make({ name: 'DEAD', figure: 'dead_letters', threshold: 1 })
  const off = await make({ name: 'OFF', figure: 'dead_letters', threshold: 1, active: false })
  const session = quoin.quoin.database.session()
  await session.enqueue({
    queue: 'q',
    kind: 'function',
    title: 'no such',
    payload: { function: 'none' },
    attempts: 1,
  })
  await session.transaction.commit()
  await eventually(async () => {
    await check()
    expect(await read(dead)).toMatchObject({ firing: true, value: 1 })
  })
  expect(await read(off)).toMatchObject({ firing: false })
  for (const guid of [dead, off]) await quoin.manage('DELETE', `/_system/alerts/${guid}`)
})

test('a test tells without a change of the rule, and is tried again while the pager fails', async () => {
  calls.length = 0
  const guid = await make({ name: 'TRY', figure: 'dead_letters', threshold: 9_000, webhook: pager.url })
  status = 500
  expect(objectOf(await quoin.manage('POST', `/_system/alerts/${guid}/test`)).jobs).toHaveLength(1)
  await eventually(() => expect(calls.length).toBe(1))
  status = 200
  await eventually(() => expect(calls.length).toBe(2))
  expect(calls.map(({ body }) => body.id)).toEqual([calls[0]?.body.id, calls[0]?.body.id])
  expect(calls[1]?.body).toMatchObject({ type: 'alert.test', name: 'TRY' })
  expect(calls[1]?.headers['x-quoin-signature']).toBeUndefined()
  expect(await read(guid)).toMatchObject({ firing: false, since: 0 })
}, 60_000)

test('a pager whose reply does not end is called once: its status says that it has the alert', async () => {
  calls.length = 0
  isEndless = true
  const guid = await make({ name: 'LONG', figure: 'dead_letters', threshold: 9_000, webhook: pager.url })
  const { jobs } = objectOf(await quoin.manage('POST', `/_system/alerts/${guid}/test`))
  const [job] = JSON.parse(JSON.stringify(jobs))
  await eventually(async () =>
    expect(objectOf(await quoin.manage('GET', `/queue/${job}`))).toMatchObject({
      status: 'done',
      attempts: 1,
    }),
  )
  expect(calls).toHaveLength(1)
  isEndless = false
}, 60_000)

test('a private address that is not allowed is never called', async () => {
  let asked = 0
  const inner = await startLocalServer((_request, response) => {
    asked += 1
    response.end()
  })
  const guid = await make({ name: 'INNER', figure: 'dead_letters', threshold: 9_000, webhook: inner.url })
  const [job] = JSON.parse(
    JSON.stringify(objectOf(await quoin.manage('POST', `/_system/alerts/${guid}/test`)).jobs),
  )
  await eventually(async () =>
    expect(objectOf(await quoin.manage('GET', `/queue/${job}`))).toMatchObject({
      status: 'dead',
      attempts: 1,
    }),
  )
  expect(asked).toBe(0)
  await inner.close()
})
