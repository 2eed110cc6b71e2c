import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTemporaryServer, type TemporaryServer } from '../../../../test/temporary-server.ts'
import { nodeRoutes } from './nodes.ts'

const node = {
  guid: 'g',
  name: 'one',
  version: '1.2.3',
  started: 5,
  seen: 9,
  load: 0.25,
  live: true,
  self: true,
}
const path = '/api/v1/_system/nodes'

let fixture: TemporaryServer
beforeAll(async () => {
  fixture = await openTemporaryServer({ api: [nodeRoutes(async () => [node])] })
  await fixture.addUser('viewer', ['nodes_view'])
  await fixture.addUser('nobody', [])
})
afterAll(() => fixture.close())

test('nodes are shown to those who hold nodes_view', async () => {
  expect((await fixture.app.inject(path)).statusCode).toBe(401)
  expect((await fixture.app.inject({ url: path, headers: await fixture.as('nobody') })).statusCode).toBe(403)
  const reply = await fixture.app.inject({ url: path, headers: await fixture.as('viewer') })
  expect([reply.statusCode, reply.json()]).toEqual([200, [node]])
})
