import { afterAll, beforeAll, expect, it } from 'vitest'
import { jsonAt, recordsIn } from '../../../../test/json-at.ts'
import { type ManagementServer, openManagementServer } from '../../../../test/management-server.ts'
import type { JsonValue } from '../../../shared/json.ts'

const path = '/_system/systemlogs/search'
let fixture: ManagementServer
beforeAll(async () => {
  fixture = await openManagementServer()
  await fixture.addUser('viewer', ['systemlogs_view'])
  await fixture.addUser('nobody', [])
  fixture.flows.log.write({
    level: 'info',
    message: 'The invoice was sent.',
    run: 'r1',
    block: 'b',
    pin: 'p',
  })
  fixture.flows.log.write({ level: 'error', message: 'The invoice was lost.', run: 'r2', value: { n: 1 } })
})
afterAll(() => fixture.close())

const messages = async (body: JsonValue) =>
  recordsIn((await fixture.send('POST', path, 'viewer', body)).body).map(({ message }) => message)

it('system logs are for those who hold systemlogs_view', async () => {
  expect((await fixture.send('POST', path, '')).status).toBe(401)
  expect((await fixture.send('POST', path, 'nobody')).status).toBe(403)
})

it.each([
  [{ filters: { value: 'x' } }, 'INVALID_QUERY'],
  [{ filters: { level: 5 } }, 'INVALID_QUERY'],
  [{ level: 'info' }, 'INVALID_BODY'],
])('refuses %j', async (body, error) => {
  const reply = await fixture.send('POST', path, 'viewer', body)
  expect([reply.status, jsonAt(reply.body, 'error')]).toEqual([400, error])
})

it('finds what was just written, by text, level, run, block and pin', async () => {
  expect(await messages({ query: 'invoice' })).toHaveLength(2)
  expect(await messages({ query: 'invoice -lost' })).toEqual(['The invoice was sent.'])
  expect(await messages({ filters: { level: 'error' } })).toEqual(['The invoice was lost.'])
  expect(await messages({ filters: { run: 'r1', block: 'b', pin: 'p' } })).toEqual(['The invoice was sent.'])
  expect(await messages({ filters: { run: 'r3' } })).toEqual([])
  const [record] = recordsIn((await fixture.send('POST', path, 'viewer', { filters: { run: 'r2' } })).body)
  expect(record).toMatchObject({ level: 'error', value: { n: 1 } })
})
