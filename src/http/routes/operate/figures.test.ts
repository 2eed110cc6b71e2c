import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTemporaryServer, type TemporaryServer } from '../../../../test/temporary-server.ts'
import { openTestDatabase, type TestDatabase } from '../../../../test/test-database.ts'
import { addFigures, ensureFigures } from '../../../records/figures/figure-documents.ts'
import { figureRoutes } from './metrics.ts'

const path = '/api/v1/_system/figures'
let fixture: TemporaryServer
let stored: TestDatabase
beforeAll(async () => {
  stored = await openTestDatabase()
  const { database, clock } = stored
  await ensureFigures(database)
  await addFigures({ database, clock }, clock.now / 1000, [[{ kind: 'traffic', node: 'one' }, [7, 0, 2]]])
  fixture = await openTemporaryServer({ api: [figureRoutes({ database, clock })] })
  await fixture.addUser('viewer', ['nodes_view'])
  await fixture.addUser('other', [])
})
afterAll(async () => {
  await fixture.close()
  await stored.close()
})

test('only users who hold nodes_view see figures', async () => {
  expect((await fixture.app.inject(path)).statusCode).toBe(401)
  expect((await fixture.app.inject({ url: path, headers: await fixture.as('other') })).statusCode).toBe(403)
})

test.each([
  ['range=year', 'range'],
  ['until=-1', 'until'],
  ['until=soon', 'until'],
  [`node=${'n'.repeat(256)}`, 'node'],
])('%s is refused', async (query, field) => {
  const reply = await fixture.app.inject({ url: `${path}?${query}`, headers: await fixture.as('viewer') })
  expect([reply.statusCode, reply.json().message]).toEqual([400, expect.stringContaining(field)])
})

test.each([
  ['', 'day', 144],
  ['?range=hour', 'hour', 60],
  ['?range=week', 'week', 168],
])('%j is the %s up to now, in %d steps', async (query, range, steps) => {
  const reply = await fixture.app.inject({ url: `${path}${query}`, headers: await fixture.as('viewer') })
  expect(reply.json()).toMatchObject({ range, nodes: ['one'], complete: true })
  expect(reply.json().points).toHaveLength(steps)
  expect(reply.json().points.at(-1)).toMatchObject({ requests: 7, failed: 2 })
})
