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

let room: TemporaryServer
beforeAll(async () => {
  room = await openTemporaryServer({ api: [nodeRoutes(async () => [node])] })
  await room.addUser('viewer', ['nodes_view'])
  await room.addUser('nobody', [])
})
afterAll(() => room.close())

test('nodes are shown to those who hold nodes_view', async () => {
  expect((await room.app.inject(path)).statusCode).toBe(401)
  expect((await room.app.inject({ url: path, headers: await room.as('nobody') })).statusCode).toBe(403)
  const reply = await room.app.inject({ url: path, headers: await room.as('viewer') })
  expect([reply.statusCode, reply.json()]).toEqual([200, [node]])
})
