import type { IncomingMessage, ServerResponse } from 'node:http'
import { text as bodyOf } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type LocalServer, startLocalServer } from '../../../test/local-server.ts'
import { noon, runBlock } from '../../../test/run-block.ts'
import { HttpConnection } from '../http-connection.ts'
import { Secret } from '../secret.ts'
import block from './run_code_with_calls.ts'

let server: LocalServer
let elsewhere: LocalServer
let seen: { readonly line: string; readonly authorization: string | undefined; readonly body: string }[] = []
let strayed = 0

beforeAll(async () => {
  server = await startLocalServer((request, response) => void answer(request, response))
  elsewhere = await startLocalServer((_, response) => {
    strayed += 1
    response.end('{}')
  })
})
afterAll(() => Promise.all([server.close(), elsewhere.close()]))
beforeEach(() => {
  seen = []
  strayed = 0
})

async function answer(request: IncomingMessage, response: ServerResponse) {
  const { method, url, headers } = request
  seen.push({
    line: `${method} ${url}`,
    authorization: headers.authorization,
    body: await bodyOf(request),
  })
  if (url === '/v1/long') return void response.end('x'.repeat(300_000))
  if (url === '/v1/moved') return void response.writeHead(302, { location: elsewhere.url }).end()
  const status = url === '/v1/gone' ? 410 : 200
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ at: seen.length, sent: headers.authorization }))
}

const shop = () =>
  new HttpConnection('SHOP', () => ({
    ...{ baseUrl: new URL(`${server.url}/v1/`), headers: {}, identity: {} },
    signIn: { kind: 'bearer', secret: new Secret('KEY', () => 't0ken') },
  }))

const TYPES = '/** @param {Connection} shop */'

function ran(code: string, more: Record<string, unknown> = {}, inputs: Record<string, unknown> = {}) {
  const values = { shop: shop(), ...more }
  const fields = { code: `${TYPES} ${code}`, parameters: Object.keys(values) }
  return runBlock(block, { fields, more: values, inputs, allowedHosts: ['127.0.0.1'] })
}

test.each([
  ['a brace too many', 'return 1 }) (function () {', 'not JavaScript'],
  ['another type of a result', '/** @returns {Connection} */ return 1', 'has the type Connection'],
  ['an unknown type', '/** @param {Request} shop */ return 1', 'Date, any, Connection'],
])('a deploy refuses code with %s', (_, code, problem) => {
  const settings = { code, parameters: ['shop'], timeout: 200 }
  expect(() => block.check?.({}, settings)).toThrow(problem)
})

test('a deploy refuses a parameter with the name call', () => {
  const settings = { code: 'return 1', parameters: ['call'], timeout: 200 }
  expect(() => block.check?.({}, settings)).toThrow('not JavaScript')
})

test('a parameter of the type Connection is a pin for one', () => {
  const settings = { code: `${TYPES} return 1`, parameters: ['shop', 'name'], timeout: 200 }
  expect(block.moreIn?.(settings)).toEqual({
    shop: { type: 'http_connection', help: 'The parameter shop.', required: true },
    name: { type: 'any', help: 'The parameter name.' },
  })
})

test.each([
  ['what is no connection', 'return (await call({ base: "x" }, {})).status', 'call takes what a pin'],
  ['the name of a pin with a text', 'return await call({ connection: "name" }, {})', 'call takes what a pin'],
  ['another method', 'return await call(shop, { method: "TRACE" })', 'method must be GET'],
  ['an address', `return await call(shop, { path: "http://127.0.0.1:1/" })`, 'path below the base address'],
  [
    'a way above its address',
    'return await call(shop, { path: "../admin" })',
    'base address of the connection',
  ],
  ['an answer that is too long', 'return await call(shop, { path: "long" })', '262144'],
  ['no await', 'call(shop, { path: "a" }); return 1', 'await each call'],
  ['a wait without end', 'await new Promise(() => {})', 'never comes'],
  ['a loop without end', 'for (;;) {}', 'did not end within 200 ms'],
  ['101 calls', 'await Promise.all(Array.from({ length: 101 }, () => call(shop, {})))', 'more than 100'],
  ['documents', 'return await documents.get("users", "1")', "'documents' is not defined"],
])('a run fails with %s', async (_, code, problem) => {
  await expect(ran(code, { name: 'shop' })).rejects.toThrow(problem)
  expect(seen.filter(({ line }) => line !== 'GET /v1/long')).toEqual([])
  expect((await ran('return 1')).outputs.result).toBe(1)
})

test('a failure names its line in the code', async () => {
  await expect(ran('const a = 1\nawait call(shop, {})\nthrow new RangeError("no")')).rejects.toThrow(
    'threw RangeError: no, in code:3',
  )
})

test('requests go over the connection, signed in, once each, and what was written before is made durable first', async () => {
  const code = `
    const first = await call(shop, { path: 'a', query: { x: 1 } })
    const [second, third] = await Promise.all([
      call(shop, { method: 'POST', path: 'b', body: { first: first.status } }),
      call(shop, { path: 'gone' }),
    ])
    return [first, second, third].map(({ status, body }) => [status, body])`
  const { outputs, commits } = await ran(code)
  expect(seen).toEqual([
    { line: 'GET /v1/a?x=1', authorization: 'Bearer t0ken', body: '' },
    { line: 'POST /v1/b', authorization: 'Bearer t0ken', body: '{"first":200}' },
    { line: 'GET /v1/gone', authorization: 'Bearer t0ken', body: '' },
  ])
  expect(outputs.result).toEqual([
    [200, { at: 1, sent: 'Bearer ***' }],
    [200, { at: 2, sent: 'Bearer ***' }],
    [410, { at: 3, sent: 'Bearer ***' }],
  ])
  expect(commits).toHaveLength(3)
})

test('a redirect is an answer: its address is not asked', async () => {
  const { outputs } = await ran('return (await call(shop, { path: "moved" })).status')
  expect(outputs.result).toBe(302)
  expect(strayed).toBe(0)
})

test('the code sees neither address nor secret of the connection', async () => {
  const { outputs } = await ran('return JSON.stringify([shop, Object.keys(globalThis)])')
  expect(outputs.result).toContain('{"connection":"shop"}')
  expect(outputs.result).not.toMatch(/t0ken|127\.0\.0\.1/)
})

test.each([
  ['nothing', 'const unused = 1', {}, undefined],
  ['null', 'return null', {}, null],
  ['a promise', 'return Promise.resolve(2)', {}, 2],
  ['what is missing', 'return a === undefined && b === null', { a: undefined, b: null }, true],
  [
    'the time and a number that it was given',
    'return [Date.now(), typeof Math.random()]',
    {},
    [noon, 'number'],
  ],
  ['a comment at its end', 'return 1 // done', {}, 1],
])('it gives %s', async (_, code, more, result) => {
  expect((await ran(code, more, { now: new Date(noon), seed: 'a' })).outputs.result).toEqual(result)
})
