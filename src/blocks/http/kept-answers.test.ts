/** `keep_seconds` of http_request: what is sent once, and what is sent again. */
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type LocalServer, startLocalServer } from '../../../test/local-server.ts'
import { type Circumstances, runBlock } from '../../../test/run-block.ts'
import { HttpConnection } from '../http-connection.ts'
import { Secret } from '../secret.ts'
import block from './http_request.ts'

let server: LocalServer
let sent: number
let answer: (response: ServerResponse) => void
let allowedHosts: readonly string[]
beforeAll(async () => {
  server = await startLocalServer((_request, response) => {
    sent += 1
    answer(response)
  })
})
afterAll(() => server.close())
beforeEach(() => {
  sent = 0
  // Kept replies belong to the client of this list.
  allowedHosts = [`127.0.0.1:${server.port}`]
  answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(`{"n":${sent}}`)
})

const asked = async (given: Record<string, unknown> = {}, more: Circumstances = {}) => {
  const fields = { keep_seconds: 60 }
  const inputs = { url: `${server.url}/v1/prices`, ...given }
  const { outputs } = await runBlock(block, {
    allowedHosts,
    wired: [],
    fields,
    now: () => 1_000,
    ...more,
    inputs,
  })
  return [outputs.body, outputs.from_cache]
}
const connection = (secret: string, identity = {}, headers = {}) =>
  new HttpConnection('SHOP', () => ({
    baseUrl: new URL(`${server.url}/v1/`),
    headers,
    signIn: { kind: 'bearer', secret: new Secret('KEY', () => secret) },
    identity,
  }))

describe('sent again', () => {
  const shop = {}
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['another address', {}, { url: 'PLACE/v1/prices?day=2' }],
    ['another query', {}, { query: { day: 2 } }],
    [
      'another header',
      { headers: { authorization: 'Bearer ann' } },
      { headers: { authorization: 'Bearer bob' } },
    ],
    ['another method', {}, { method: 'HEAD' }],
    ['a smaller bound of the size', {}, { max_size: 1_000 }],
    [
      'another connection',
      { connection: connection('a'), url: 'prices' },
      { connection: connection('a'), url: 'prices' },
    ],
    [
      'another secret of it',
      { connection: connection('a', shop), url: 'prices' },
      { connection: connection('b', shop), url: 'prices' },
    ],
  ])('%s', async (_name, first, second) => {
    const placed = (given: Record<string, unknown>) =>
      typeof given.url === 'string' ? { ...given, url: given.url.replace('PLACE', server.url) } : given
    await asked(placed(first))
    expect((await asked(placed(second)))[1]).toBe(false)
    expect(sent).toBe(2)
  })

  test.each<[string, Record<string, unknown>, Circumstances]>([
    ['a POST', { method: 'POST' }, {}],
    ['a GET with a body', { body: 'a' }, {}],
    ['a block that keeps nothing', {}, { fields: {} }],
  ])('%s', async (_name, given, more) => {
    for (const n of [1, 2]) expect(await asked(given, more)).toEqual([{ n }, false])
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ['a refusal', (response) => response.writeHead(404).end('x')],
    ['a fault', (response) => response.writeHead(500).end('x')],
    [
      'a reply that forbids it',
      (response) => response.writeHead(200, { 'cache-control': 'private, No-Store' }).end('x'),
    ],
    [
      'a reply of more than 2 MiB',
      (response) => response.writeHead(200).end('x'.repeat(2 * 1024 * 1024 + 1)),
    ],
  ])('%s', async (_name, reply) => {
    answer = reply
    for (let time = 0; time < 2; time++) expect((await asked())[1]).toBe(false)
    expect(sent).toBe(2)
  })

  test('when the time is over', async () => {
    await asked()
    expect((await asked({}, { now: () => 60_999 }))[1]).toBe(true)
    expect(await asked({}, { now: () => 61_000 })).toEqual([{ n: 2 }, false])
  })

  test('to a client that may not reach the server', async () => {
    await asked()
    await expect(asked({}, { allowedHosts: [] })).rejects.toThrow(/private address/)
  })

  test('what 32 MiB have no place for: the oldest goes', async () => {
    answer = (response) => response.writeHead(200).end('x'.repeat(1_900_000))
    for (let n = 0; n < 18; n++) await asked({ query: { n } })
    expect((await asked({ query: { n: 17 } }))[1]).toBe(true)
    expect((await asked({ query: { n: 0 } }))[1]).toBe(false)
  })
})

describe('sent once', () => {
  test('the same request', async () => {
    expect([await asked(), await asked()]).toEqual([
      [{ n: 1 }, false],
      [{ n: 1 }, true],
    ])
    expect(sent).toBe(1)
  })

  test('the same request over the same connection', async () => {
    const shop = {}
    const given = () => ({ connection: connection('a', shop, { 'x-shop': '7' }), url: 'prices' })
    expect([await asked(given()), await asked(given())]).toEqual([
      [{ n: 1 }, false],
      [{ n: 1 }, true],
    ])
  })
})
