import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import fastify from 'fastify'
import { Type } from 'typebox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTemporaryServer, type TemporaryServer } from '../../../test/temporary-server.ts'
import { closeGracefully, hasTwoHosts } from './hooks.ts'

let server: TemporaryServer
let alive = true
beforeAll(async () => {
  server = await openTemporaryServer({
    cluster: { alive: () => alive },
    api: [
      // As endpoints do whose reply is in memory.
      (_app, tools) =>
        tools.answerFirst(({ url }, response) => {
          if (url !== '/api/v1/taken') return false
          response.end('1')
          return true
        }),
      (app) => {
        const config = { permission: 'public' } as const
        app.get('/_system/constant', { config, schema: { response: { 200: Type.Number() } } }, async () => 1)
      },
    ],
    root: [
      (app) => {
        const config = { permission: 'by-trigger' } as const
        app.get('/health/live', { config, schema: { response: { 200: Type.Number() } } }, async () => 1)
      },
    ],
  })
})
afterAll(() => server.close())

test('a node without its lease answers nothing but probes, also what it has in memory', async () => {
  const get = (url: string) => server.app.inject({ url })
  expect((await get('/api/v1/_system/constant')).statusCode).toBe(200)
  alive = false
  const refused = await get('/api/v1/_system/constant')
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1'])
  expect(refused.json()).toMatchObject({ error: 'UNAVAILABLE' })
  expect((await get('/health/live')).statusCode).toBe(200)
  alive = true
  expect((await get('/api/v1/_system/constant')).statusCode).toBe(200)
})

test('what is answered before the framework is refused as by it: without the lease, with two hosts', async () => {
  const port = Number(new URL(await server.server.listen()).port)
  const status = async (hosts: string) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET /api/v1/taken HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`)
    return (await text(socket)).slice(9, 12)
  }
  expect(await status('Host: a\r\nHost: b\r\n')).toBe('400')
  alive = false
  expect(await status('Host: a\r\n')).toBe('503')
  alive = true
  expect(await status('Host: a\r\n')).toBe('200')
})

test.each<[readonly string[], boolean]>([
  [['Host', 'a', 'HOST', 'a'], true],
  [['host', 'a', 'accept', 'b', 'host', 'b'], true],
  [['Host', 'a'], false],
  [['Host', 'host'], false],
  [['Host', 'a', 'Date', 'b', 'From', 'c'], false],
  [[], false],
])('%j has two hosts: %j', (headers, two) => {
  expect(hasTwoHosts(headers)).toBe(two)
})

test('a request that does not end is cut some time after the server began to close', async () => {
  const app = fastify({ forceCloseConnections: false })
  const { closing } = closeGracefully(app, 20)
  const arrived = Promise.withResolvers<void>()
  app.get('/', () => {
    arrived.resolve()
    return new Promise(() => undefined)
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const cut = expect(fetch(address)).rejects.toThrow('fetch failed')
  await arrived.promise
  expect(closing()).toBe(false)
  await app.close()
  await cut
  expect(closing()).toBe(true)
})
