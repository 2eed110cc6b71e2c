/** Requests to other servers: what is sent, what comes back, and where no request may go. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/shared/json.ts'
import { startLocalServer } from '../../local-server.ts'
import { call, needs, refusesConstants } from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { fields, object, on, onStore, reply, storage } from '../flow-blocks.ts'

interface Asked {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

const json = { 'content-type': 'application/json' }
const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/pot': (response) => response.writeHead(418, { ...json, 'x-twice': ['a', 'b'] }).end('{"tea":true}'),
  '/text': (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('{"no":"json"}'),
  '/broken': (response) => response.writeHead(200, json).end('{"tea":'),
  '/latin': (response) =>
    response
      .writeHead(200, { 'content-type': 'text/plain; charset=iso-8859-1' })
      .end(Buffer.from([0x74, 0xe9])),
  '/empty': (response) => response.writeHead(299).end(),
  '/300': (response) => response.writeHead(300).end(),
  '/packed': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
  '/large': (response) => response.writeHead(200).end('x'.repeat(2000)),
  '/silent': () => undefined,
  '/moved': (response) => response.writeHead(302, { location: '/pot' }).end(),
  '/inside': (response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
}

const httpRequest: Scenario = async (fixture) => {
  const asked: Asked[] = []
  const other = await startLocalServer(async (request, response) => {
    const { method, url, headers } = request
    asked.push({ method, url, headers, body: await text(request) })
    const answer = answers[(url ?? '').split('?')[0] ?? '']
    if (answer) answer(response)
    else response.writeHead(200, json).end('{}')
  })
  try {
    const ask = await asking(fixture)
    const last = () => asked.at(-1)
    await sends(async (pins) => {
      await ask({ url: `${other.url}/echo`, ...pins })
      return last()
    })
    await receives((path, pins = {}) => ask({ url: `${other.url}${path}`, ...pins }))
    const before = asked.length
    for (const url of [
      'http://10.0.0.1/',
      'http://169.254.169.254/',
      'http://[::1]/',
      'http://192.168.1.1/',
      'file:///etc/passwd',
      'http://a:b@127.0.0.1/',
      'no address',
    ])
      expect([url, (await ask({ url })).status]).toEqual([url, 502])
    expect(asked).toHaveLength(before)
    expect((await ask({ url: `${other.url}/inside` })).status, 'nor by a redirect').toBe(502)
    await sendsDocuments(fixture, other.url, last)
    await namedOtherwise(fixture, other.url)
  } finally {
    await other.close()
  }
}

/** An endpoint that asks with the pins that are posted and replies what came back, or 502 with what went wrong. */
async function asking(fixture: ContractFixture) {
  const uri = fixture.name()
  const pins = ['url', 'method', 'headers', 'query', 'body', 'timeout', 'max_size']
  const wires = Object.fromEntries(pins.map((pin) => [pin, `@sent.${pin}`]))
  const ask = { type: 'http request', in: { flow: '@on.flow', ...wires } }
  await fixture.run({
    on: on('post', uri),
    sent: fields('@on.body', ...pins),
    ask,
    told: object({ code: '@ask.code', headers: '@ask.headers', body: '@ask.body', ok: '@ask.ok' }),
    reply: reply('@ask.flow', '@told.object'),
    failed: reply('@ask.error', '@ask.error', 502),
  })
  const url = 'https://a.example/'
  const least = { on: on('post', fixture.name()), ask: { ...ask, in: { flow: '@on.flow', url } } }
  await needs(fixture, least, 'ask', 'url')
  await refusesConstants(fixture, least, 'ask', { max_size: [-1, 1.5, 104_857_601], timeout: [0, 601] })
  return (body: JsonObject) => call(fixture, 'POST', uri, body)
}

async function sends(send: (pins: JsonObject) => Promise<Asked | undefined>): Promise<void> {
  const plain = await send({})
  expect(plain).toMatchObject({ method: 'GET', url: '/echo', body: '' })
  expect(plain?.headers).toMatchObject({
    accept: '*/*',
    'user-agent': 'quoin',
    'accept-encoding': 'identity',
  })
  expect(plain?.headers).not.toHaveProperty('content-type')
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'])
    expect((await send({ method }))?.method).toBe(method)
  const query = { q: 1, word: 'a b', list: ['x', 'y'], none: null }
  expect((await send({ query }))?.url).toBe('/echo?q=1&word=a+b&list=x&list=y')
  expect((await send({ headers: { 'X-Key': 'k', accept: 'text/csv' } }))?.headers).toMatchObject({
    'x-key': 'k',
    accept: 'text/csv',
  })
  const bodies: readonly (readonly [JsonValue, string | undefined, string])[] = [
    [{ a: [1] }, 'application/json', '{"a":[1]}'],
    [['b'], 'application/json', '["b"]'],
    ['plain', 'text/plain; charset=utf-8', 'plain'],
    [7, 'text/plain; charset=utf-8', '7'],
    [null, undefined, ''],
  ]
  for (const [body, type, text] of bodies) {
    const seen = await send({ method: 'POST', body })
    expect([body, seen?.headers['content-type'], seen?.body]).toEqual([body, type, text])
  }
  const own = await send({ method: 'POST', body: {}, headers: { 'content-type': 'application/ld+json' } })
  expect(own?.headers['content-type']).toBe('application/ld+json')
}

type Answer = Awaited<ReturnType<typeof call>>

async function receives(get: (path: string, pins?: JsonObject) => Promise<Answer>): Promise<void> {
  expect((await get('/pot')).body).toMatchObject({
    code: 418,
    body: { tea: true },
    ok: false,
    headers: { 'content-type': 'application/json', 'x-twice': expect.anything() },
  })
  const body = async (path: string) => (await get(path)).body
  expect(await body('/text')).toMatchObject({ code: 200, body: '{"no":"json"}', ok: true })
  expect(await body('/broken')).toMatchObject({ body: '{"tea":' })
  expect(await body('/latin')).toMatchObject({ body: 'té' })
  expect(await body('/300')).toMatchObject({ code: 300, ok: false })
  const empty = await body('/empty')
  expect(empty).toMatchObject({ code: 299, ok: true })
  expect(empty).not.toHaveProperty('body')
  expect(await body('/moved')).toMatchObject({ code: 418 })
  const wrong: readonly (readonly [string, JsonObject, string])[] = [
    ['/packed', {}, 'compressed reply'],
    ['/large', { max_size: 1999 }, 'max_size'],
    ['/silent', { timeout: 0.1 }, 'within 0.1 seconds'],
    ['/pot', { timeout: 0 }, 'timeout'],
    ['/pot', { timeout: 601 }, 'timeout'],
    ['/pot', { max_size: -1 }, 'max_size'],
    ['/pot', { max_size: 104_857_601 }, 'max_size'],
    ['/pot', { max_size: 1.5 }, 'max_size'],
    ['/pot', { method: 'STEAL' }, 'method'],
    ['/pot', { query: { a: { b: 1 } } }, 'query'],
    ['/pot', { headers: { host: 'elsewhere' } }, 'host'],
    ['/pot', { headers: { 'accept-encoding': 'gzip' } }, 'accept-encoding'],
  ]
  for (const [path, pins, message] of wrong) {
    const answer = await get(path, pins)
    expect([path, pins, answer.status, answer.text]).toEqual([
      path,
      pins,
      502,
      expect.stringContaining(message),
    ])
  }
  expect(await get('/large', { max_size: 2000 })).toMatchObject({ status: 200 })
}

/** A document goes as it is stored; what the flow wrote before is there when the other server is asked. */
async function sendsDocuments(
  fixture: ContractFixture,
  url: string,
  last: () => Asked | undefined,
): Promise<void> {
  const uri = fixture.name()
  await fixture.fill(uri, [{ name: 'ant' }])
  await fixture.run({
    store: storage(uri),
    on: on('get', uri),
    find: onStore('function_search', '@on.flow', {}),
    ask: { type: 'http request', in: { flow: '@find.flow', url, method: 'POST', body: '@find.documents' } },
    reply: reply('@ask.flow', '@ask.ok'),
  })
  expect((await call(fixture, 'GET', uri)).body).toBe(true)
  expect(last()?.headers['content-type']).toBe('application/json')
  expect(JSON.parse(last()?.body ?? '')).toMatchObject([{ name: 'ant' }])
}

async function namedOtherwise(fixture: ContractFixture, url: string): Promise<void> {
  const uri = fixture.name()
  const ask = { type: 'http_request', in: { flow: '@on.flow', url } }
  await fixture.run({ on: on('get', uri), ask, reply: reply('@ask.flow', '@ask.code') })
  expect((await call(fixture, 'GET', uri)).body).toBe(200)
}

export const scenarios: Scenarios = { 'http request': httpRequest }
