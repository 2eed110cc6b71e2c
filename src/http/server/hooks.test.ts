import { Type } from 'typebox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTemporaryServer, type TemporaryServer } from '../../../test/temporary-server.ts'

let server: TemporaryServer
let alive = true
beforeAll(async () => {
  server = await openTemporaryServer({
    cluster: { alive: () => alive },
    api: [
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
