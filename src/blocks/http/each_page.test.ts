/** Lists of other servers page by page, against a real server on this machine. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type LocalServer, startLocalServer } from '../../../test/local-server.ts'
import { type Circumstances, runBlock } from '../../../test/run-block.ts'
import { HttpConnection } from '../http-connection.ts'
import { Secret } from '../secret.ts'
import block from './each_page.ts'

let server: LocalServer
let elsewhere: LocalServer
let seen: { readonly url: string; readonly headers: IncomingMessage['headers'] }[] = []
let strayed: string[] = []
/** How the server replies, given the address and how many requests came before. */
let reply: (response: ServerResponse, url: URL, before: number) => void
const sends = (response: ServerResponse, value: unknown, headers = {}, code = 200) =>
  void response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
/** Three pages of two, two and one item, by the header Link. */
const linked = (response: ServerResponse, url: URL) => {
  const at = Number(url.searchParams.get('at') ?? 0)
  const rest = `<${url.pathname}?at=0>; rel="first", `
  const link = at < 4 ? { link: `${rest}<${url.pathname}?at=${at + 2}>; title="a, b; c"; rel="x next"` } : {}
  sends(response, [1, 2, 3, 4, 5].slice(at, at + 2), link)
}

beforeAll(async () => {
  server = await startLocalServer((request, response) => {
    seen.push({ url: request.url ?? '', headers: request.headers })
    reply(response, new URL(request.url ?? '/', server.url), seen.length - 1)
  })
  elsewhere = await startLocalServer((request, response) => {
    strayed.push(request.url ?? '')
    sends(response, [])
  })
})
beforeEach(() => {
  seen = []
  strayed = []
  reply = linked
})
afterAll(() => Promise.all([server.close(), elsewhere.close()]))

const pages = (inputs: Record<string, unknown> = {}, more: Circumstances = {}) =>
  runBlock(block, {
    ...{ allowedHosts: ['127.0.0.1'], wired: [], ...more },
    inputs: { url: `${server.url}/v1/goods`, ...inputs },
  })
const paths = () => seen.map(({ url }) => url)
const byField = { next_by: 'field' }
const byNumber = { next_by: 'number' }
const shop = () =>
  new HttpConnection('SHOP', () => ({
    ...{ baseUrl: new URL(`${server.url}/v1/`), headers: { 'x-shop': '7' }, identity: {} },
    signIn: { kind: 'bearer', secret: new Secret('KEY', () => 't0ken') },
  }))

test('pages show no secret that the other server sends back', async () => {
  reply = (response) => sends(response, [{ sent: 'Bearer t0ken' }], { 'x-sent': 't0ken' })
  const { passes } = await pages({ connection: shop(), url: 'goods' })
  expect(passes).toMatchObject([{ items: [{ sent: 'Bearer ***' }], body: [{ sent: 'Bearer ***' }] }])
})

describe('ends with an error', () => {
  const next = (address: () => string) => (response: ServerResponse) =>
    sends(response, [1], { link: `<${address()}>; rel=next` })
  test.each<[string, typeof reply, Record<string, unknown>, string, number]>([
    ['a next page of another server', next(() => `${elsewhere.url}/v1/goods`), {}, 'to another server', 1],
    ['a next page by another protocol', next(() => 'file:///etc/passwd'), {}, 'is invalid', 1],
    ['a next page with a password', next(() => 'http://a:b@127.0.0.1/'), {}, 'is invalid', 1],
    ['the same page again', next(() => '/v1/goods'), {}, 'in a circle: page 2', 1],
    [
      'a circle of three',
      (response, _url, before) => sends(response, [1], { link: `</v1/goods?n=${before % 2}>; rel=next` }),
      {},
      'in a circle: page 4',
      3,
    ],
    ['a reply that is no list', (response) => sends(response, {}), {}, 'page 1 is no list', 1],
    [
      'no list at the field',
      (response) => sends(response, { data: [] }),
      { items_field: 'data.items' },
      'no list at data.items',
      1,
    ],
    ['a refusal', (response) => sends(response, [], {}, 500), {}, 'status 500 for page 1', 1],
    ['a page that is too large', linked, { max_size: 4 }, 'which is max_size', 1],
    ['pages that are too large together', linked, { max_total: 12 }, 'which is max_total', 3],
  ])('%s', async (_what, replies, inputs, message, requests) => {
    reply = replies
    await expect(pages(inputs)).rejects.toThrow(message)
    expect([seen.length, strayed]).toEqual([requests, []])
  })

  test.each([
    [{ items_field: 'a..b' }, {}, 'items_field'],
    [{ next_field: '__proto__' }, byField, 'next_field'],
    [{ url: 'file:///etc/passwd' }, {}, 'url'],
    [{ max_pages: 10_001 }, {}, 'max_pages'],
  ])('%j, before a request', async (inputs, fields, pin) => {
    await expect(pages(inputs, { fields })).rejects.toMatchObject({ pin })
    expect(seen).toEqual([])
  })

  test('with a connection: a next page outside of its base address, to which no secret goes', async () => {
    for (const address of [`${elsewhere.url}/v1/x`, '/v2/goods', '../goods']) {
      seen = []
      reply = next(() => address)
      await expect(pages({ connection: shop(), url: 'goods' })).rejects.toThrow('out of the base address')
      expect([paths(), strayed]).toEqual([['/v1/goods'], []])
    }
  })

  test('a private address', async () => {
    await expect(pages({}, { allowedHosts: [] })).rejects.toMatchObject({ pin: 'url' })
    expect(seen).toEqual([])
  })

  test('a cursor that is an object', async () => {
    reply = (response) => sends(response, { items: [1], next: { a: 1 } })
    await expect(pages({ items_field: 'items' }, { fields: byField })).rejects.toThrow(
      'text or number at next',
    )
  })
})

test('by the header Link: each page with its items, and a commit before each further request', async () => {
  const { passes, outputs, next, commits } = await pages({ query: { q: 'tea' } })
  expect(passes).toEqual([
    { items: [1, 2], body: [1, 2], page: 1 },
    { items: [3, 4], body: [3, 4], page: 2 },
    { items: [5], body: [5], page: 3 },
  ])
  expect({ outputs, next }).toEqual({ outputs: { count: 5, pages: 3, more: false, code: 200 }, next: 'flow' })
  expect(paths()).toEqual(['/v1/goods?q=tea', '/v1/goods?at=2', '/v1/goods?at=4'])
  expect(commits).toEqual([1, 2])
})

test('by an address in a field', async () => {
  reply = (response, url) => {
    const next = url.searchParams.has('p') ? null : `${server.url}/v1/goods?p=2`
    sends(response, { data: { items: [url.search] }, paging: { next } })
  }
  const inputs = { items_field: 'data.items', next_field: 'paging.next' }
  const { passes } = await pages(inputs, { fields: byField })
  expect(passes.map(({ items }) => items)).toEqual([[''], ['?p=2']])
})

test('by a cursor in a field, written into the query of the first page', async () => {
  reply = (response, url) => {
    const next = { null: 'a&b=c', 'a&b=c': 7, 7: '' }[String(url.searchParams.get('after'))]
    sends(response, { items: [next], next })
  }
  const inputs = { items_field: 'items', next_parameter: 'after', query: { size: 1 } }
  const { outputs } = await pages(inputs, { fields: byField })
  expect(outputs).toMatchObject({ pages: 3, count: 3 })
  expect(paths()).toEqual([
    '/v1/goods?size=1',
    '/v1/goods?size=1&after=a%26b%3Dc',
    '/v1/goods?size=1&after=7',
  ])
})

test.each([
  [{}, ['/v1/goods?page=1', '/v1/goods?page=2', '/v1/goods?page=3']],
  [{ next_parameter: 'p', first_number: 0 }, ['/v1/goods?p=0', '/v1/goods?p=1', '/v1/goods?p=2']],
])('by number, until a page is empty: %j', async (inputs, asked) => {
  reply = (response, _url, before) => sends(response, before < 2 ? [before] : [])
  const { passes, outputs } = await pages(inputs, { fields: byNumber })
  expect([passes.length, outputs]).toEqual([2, { count: 2, pages: 2, more: false, code: 200 }])
  expect(paths()).toEqual(asked)
})

test('max_pages ends the loop, and more says that there were more', async () => {
  expect((await pages({ max_pages: 2 })).outputs).toMatchObject({ pages: 2, count: 4, more: true })
  expect(seen).toHaveLength(2)
  expect((await pages({ max_pages: 3 })).outputs).toMatchObject({ pages: 3, more: false })
})

test('a refusal takes the way failed, with the page that was refused', async () => {
  reply = (response, url, before) =>
    before === 1 ? sends(response, { why: 'gone' }, {}, 410) : linked(response, url)
  const { outputs, next, passes } = await pages({}, { wired: ['failed'] })
  expect({ outputs, next }).toEqual({
    outputs: { code: 410, body: { why: 'gone' }, page: 2, count: 2, pages: 1 },
    next: 'failed',
  })
  expect(passes).toHaveLength(1)
  seen = []
  await expect(pages()).rejects.toMatchObject({
    message: 'the other server replied with status 410 for page 2',
    gave: { code: 410, body: { why: 'gone' } },
  })
})

test('a connection signs in each page, and retries count for each', async () => {
  reply = (response, url, before) =>
    before % 2 === 0 ? sends(response, {}, { 'retry-after': '0' }, 503) : linked(response, url)
  const { outputs } = await pages({ connection: shop(), url: 'goods' }, { fields: { retries: 1 } })
  expect(outputs).toMatchObject({ count: 5, pages: 3 })
  expect(seen).toHaveLength(6)
  for (const { headers } of seen)
    expect(headers).toMatchObject({ authorization: 'Bearer t0ken', 'x-shop': '7' })
})

test('a return in a pass ends the loop, and a run that is stopped requests no further page', async () => {
  const { outputs, next } = await pages({}, { body: () => false })
  expect([outputs, next, seen.length]).toEqual([{}, null, 1])
  const stop = new AbortController()
  const body = () => {
    stop.abort(new Error('stopped'))
    return true
  }
  await expect(pages({}, { body, signal: stop.signal })).rejects.toThrow('stopped')
  expect(seen).toHaveLength(2)
})
