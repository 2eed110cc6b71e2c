import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTemporaryServer, type TemporaryServer } from '../../../../test/temporary-server.ts'
import { openTestDatabase, type TestDatabase } from '../../../../test/test-database.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { healthRoutes } from './nodes.ts'

let place: TestDatabase
let fixture: TemporaryServer
let isStarted: boolean
let isDamaged: boolean
/** Resolves when the server has begun to close. */
let stopping: PromiseWithResolvers<void>
/** What requests wait for before they are handled. */
let hold: () => Promise<void>

beforeEach(async () => {
  isStarted = true
  isDamaged = false
  stopping = Promise.withResolvers()
  hold = async () => undefined
  place = await openTestDatabase()
  await place.database.ensure('_blueprints')
  const health: RouteFamily = (app, tools) => {
    app.addHook('preHandler', () => hold())
    healthRoutes(
      place.database,
      () => isStarted,
      () => isDamaged,
    )(app, tools)
    app.addHook('preClose', (done) => {
      stopping.resolve()
      done()
    })
  }
  fixture = await openTemporaryServer({
    api: [health],
    settings: { environment: 'production', rateLimit: 5 },
  })
})
afterEach(async () => {
  await fixture.close()
  await place.close()
})

async function ask(path: 'live' | 'ready') {
  const reply = await fixture.app.inject(`/api/v1/health/${path}`)
  expect(reply.headers['cache-control']).toBe('no-store')
  return [reply.statusCode, reply.json().status]
}

test('a node that starts is live, and not ready', async () => {
  isStarted = false
  expect(await ask('live')).toEqual([200, 'live'])
  expect(await ask('ready')).toEqual([503, 'starting'])
  isStarted = true
  expect(await ask('ready')).toEqual([200, 'ready'])
})

test('a node whose storage fails is live, and not ready', async () => {
  expect(await ask('ready')).toEqual([200, 'ready'])
  await place.database.close()
  expect(await ask('live')).toEqual([200, 'live'])
  expect(await ask('ready')).toEqual([503, 'storage'])
  expect(fixture.log.join('')).toContain('the storage does not answer')
})

test('a node whose database was found damaged is live, and not ready', async () => {
  isDamaged = true
  expect(await ask('live')).toEqual([200, 'live'])
  expect(await ask('ready')).toEqual([503, 'damaged'])
})

test('a node that stops is not ready', async () => {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
  hold = () => {
    arrive()
    return promise
  }
  const inFlight = fetch(`${await fixture.server.listen()}/api/v1/health/ready`)
  await arrived
  const closed = fixture.server.close()
  await stopping.promise
  release()
  const reply = await inFlight
  expect([reply.status, await reply.json()]).toEqual([503, { status: 'stopping' }])
  await closed
})

test('probes are not limited in rate', async () => {
  const statuses = await Promise.all(Array.from({ length: 50 }, async () => (await ask('ready'))[0]))
  expect(new Set(statuses)).toEqual(new Set([200]))
})
