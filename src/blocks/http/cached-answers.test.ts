/** `keep_seconds` of http_request: what is sent once, and what is sent again. */
import type { ServerResponse } from 'node:http'
import { Agent } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type LocalServer, startLocalServer } from '../../../test/local-server.ts'
import { type Circumstances, runBlock } from '../../../test/run-block.ts'
import { HttpConnection } from '../http-connection.ts'
import { Secret } from '../secret.ts'
import { cachedAnswers } from './cached-answers.ts'
import block from './http_request.ts'
import type { Answer } from './send-request.ts'

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

const asked = async (input: Record<string, unknown> = {}, more: Circumstances = {}) => {
  const fields = { keep_seconds: 60 }
  const inputs = { url: `${server.url}/v1/prices`, ...input }
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
    const placed = (input: Record<string, unknown>) =>
      typeof input.url === 'string' ? { ...input, url: input.url.replace('PLACE', server.url) } : input
    await asked(placed(first))
    expect((await asked(placed(second)))[1]).toBe(false)
    expect(sent).toBe(2)
  })

  test.each<[string, Record<string, unknown>, Circumstances]>([
    ['a POST', { method: 'POST' }, {}],
    ['a GET with a body', { body: 'a' }, {}],
    ['a block that keeps nothing', {}, { fields: {} }],
  ])('%s', async (_name, input, more) => {
    for (const n of [1, 2]) expect(await asked(input, more)).toEqual([{ n }, false])
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
    const input = () => ({ connection: connection('a', shop, { 'x-shop': '7' }), url: 'prices' })
    expect([await asked(input()), await asked(input())]).toEqual([
      [{ n: 1 }, false],
      [{ n: 1 }, true],
    ])
  })
})

describe('the same request at one moment', () => {
  /** Answers are held back until they are let go. */
  let held: ServerResponse[]
  const hold = () => {
    held = []
    answer = (response) => void held.push(response)
  }
  const letGo = (code = 200, headers = {}) => {
    for (const [at, response] of held.entries())
      response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(`{"n":${at + 1}}`)
  }
  const some = (count: number, more: Circumstances = {}) =>
    Array.from({ length: count }, () => asked({}, more))

  test('is sent once, and all runs get its reply', async () => {
    hold()
    const all = some(20)
    await expect.poll(() => held.length).toBe(1)
    letGo()
    expect((await Promise.all(all)).toSorted()).toEqual([
      [{ n: 1 }, false],
      ...Array.from({ length: 19 }, () => [{ n: 1 }, true]),
    ])
    expect([sent, await asked()]).toEqual([1, [{ n: 1 }, true]])
  })

  test('of other headers, times, attempts or secrets is sent for itself', async () => {
    hold()
    const shop = {}
    const all = [
      ...some(2),
      asked({ headers: { authorization: 'Bearer ann' } }),
      asked({ timeout: 3 }),
      asked({ attempts: 2 }),
      asked({ back_off: '1s' }),
      asked({}, { fields: { keep_seconds: 60, retries: 3 } }),
      asked({ connection: connection('one', shop), url: 'prices' }),
      asked({ connection: connection('two', shop), url: 'prices' }),
    ]
    await expect.poll(() => held.length).toBe(8)
    letGo()
    await Promise.all(all)
    expect(sent).toBe(8)
  })

  test('is sent by each run behind 1,000 others that are under way', async () => {
    const agent = new Agent()
    const { promise, resolve } = Promise.withResolvers<Answer>()
    let begun = 0
    const send = () => {
      begun += 1
      return promise
    }
    const { signal } = new AbortController()
    const ask = (n: number) => {
      const url = new URL(`https://shop.example/${n}`)
      const request = { url, method: 'GET', headers: {}, body: undefined }
      const kept = cachedAnswers(agent, request, undefined, { seconds: 60, maxSize: 9, limits: '' })
      return kept?.sendOnce(send, signal)
    }
    const asked = [...Array.from({ length: 1_000 }, (_, n) => ask(n)), ask(0), ask(2_000), ask(2_000)]
    expect(begun).toBe(1_002)
    resolve({ code: 200, headers: {}, url: new URL(server.url), bytes: new Uint8Array() })
    expect((await Promise.all(asked)).filter((one) => !one?.isOwn)).toHaveLength(1)
    await agent.close()
  })

  test('that fails fails for all who wait, and is sent again afterwards', async () => {
    hold()
    const all = some(3)
    await expect.poll(() => held.length).toBe(1)
    for (const response of held) response.destroy()
    const codes = await Promise.allSettled(all)
    expect(codes.map((one) => one.status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(sent).toBe(1)
    answer = (response) => response.end('fine')
    expect(await asked()).toEqual(['fine', false])
  })

  test('with a status outside of 200 to 299 is given to all, and not kept', async () => {
    hold()
    const all = some(3)
    await expect.poll(() => held.length).toBe(1)
    letGo(500)
    await Promise.all(all)
    expect(sent).toBe(1)
    answer = (response) => response.end('fine')
    expect(await asked()).toEqual(['fine', false])
  })

  test('whose reply must not be stored is sent by each run', async () => {
    hold()
    const all = some(3)
    await expect.poll(() => held.length).toBe(1)
    const [first] = held
    answer = (response) => response.writeHead(200, { 'cache-control': 'no-store' }).end('mine')
    first?.writeHead(200, { 'cache-control': 'no-store' }).end('mine')
    expect(await Promise.all(all)).toEqual([
      ['mine', false],
      ['mine', false],
      ['mine', false],
    ])
    expect(sent).toBe(3)
  })

  test('of a run that is stopped is sent by the next one', async () => {
    hold()
    const ends = new AbortController()
    const [stopped] = some(1, { signal: ends.signal })
    await expect.poll(() => held.length).toBe(1)
    const others = some(2)
    ends.abort(new Error('over'))
    await expect(stopped).rejects.toThrow('over')
    await expect.poll(() => held.length).toBe(2)
    held[1]?.end('fine')
    expect((await Promise.all(others)).map(([body]) => body)).toEqual(['fine', 'fine'])
  })

  test('a run that waits for it and is stopped ends at once', async () => {
    hold()
    const ends = new AbortController()
    const [first] = some(1)
    await expect.poll(() => held.length).toBe(1)
    const [waiting] = some(1, { signal: ends.signal })
    setTimeout(() => ends.abort(new Error('over')), 20)
    await expect(waiting).rejects.toThrow('over')
    letGo()
    expect(await first).toEqual([{ n: 1 }, false])
  })
})
