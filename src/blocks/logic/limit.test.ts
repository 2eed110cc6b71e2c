import { afterEach, beforeEach, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import { ensureLimits, limitCounts } from '../../records/limits/limit-counts.ts'
import type { RunRequest } from '../run-request.ts'
import block from './limit.ts'

let fixture: TestDatabase
beforeEach(async () => {
  fixture = await openTestDatabase()
  await ensureLimits(fixture.database)
})
afterEach(() => fixture.close())

const request = (ip: string): RunRequest => ({
  ...{ method: 'POST', url: '/api/v1/x', headers: {}, query: {}, path: {}, body: undefined, user: undefined },
  ip,
})
const count = (
  inputs: Record<string, unknown>,
  { per = 'key', ip = '192.0.2.1', id = 'limit 1', job = false } = {},
) =>
  runBlock(block, {
    inputs: { limit: 1, ...inputs },
    fields: { per },
    block: id,
    services: { counts: limitCounts(fixture) },
    ...(!job && { request: request(ip) }),
  })
const ways = async (...calls: Parameters<typeof count>[]) => {
  const taken: (string | null)[] = []
  for (const one of calls) taken.push((await count(...one)).next)
  return taken
}

test.each<[string, Record<string, unknown>, string]>([
  ['no key', {}, 'key is empty'],
  ['an empty key', { key: '' }, 'key is empty'],
  ['a window of no time', { key: 'a', window: '0s' }, 'window must be seconds'],
  ['a window that is too long', { key: 'a', window: '32d' }, 'window must be seconds'],
  ['a window that is no time', { key: 'a', window: 'soon' }, 'window must be seconds'],
  ['a limit that is no whole number', { key: 'a', limit: 1.5 }, 'limit must be'],
  ['a negative amount', { key: 'a', amount: -1 }, 'amount must be'],
])('%s is refused, and nothing is counted', async (_what, inputs, message) => {
  await expect(count(inputs)).rejects.toSatisfy((error: { pin?: string; message: string }) =>
    `${error.pin} ${error.message}`.includes(message),
  )
  expect(await fixture.database.session().count('_limits', { kind: 'all' })).toBe(0)
})

test('a job has no address to be counted by', async () => {
  await expect(count({}, { per: 'address', job: true })).rejects.toThrow('no client address')
  expect(await ways([{ key: 'a' }, { job: true }])).toEqual(['flow'])
})

test('what passes and what exceeds', async () => {
  const passed = await count({ key: 'a', limit: 2, window: '5m' })
  expect([passed.next, passed.outputs]).toEqual(['flow', { remaining: 1, retry_after: 0 }])
  await count({ key: 'a', limit: 2, window: '5m' })
  const exceeded = await count({ key: 'a', limit: 2, window: '5m' })
  expect([exceeded.next, exceeded.outputs]).toEqual(['exceeded', { remaining: 0, retry_after: 300 }])
})

test('keys, blocks and names count apart; blocks with one name count together', async () => {
  expect(
    await ways(
      [{ key: 'a' }],
      [{ key: 'b' }],
      [{ key: 'a' }, { id: 'limit 2' }],
      [{ key: 'a', name: 'sign-ins' }],
      [{ key: 'a', name: ' sign-ins ' }, { id: 'limit 2' }],
      [{ key: 'a', name: 'limit 1' }],
      [{ key: 'a' }],
    ),
  ).toEqual(['flow', 'flow', 'flow', 'flow', 'exceeded', 'flow', 'exceeded'])
})

test('per address: with and without a key, and by the first 64 bits of IPv6', async () => {
  const per = 'address'
  expect(
    await ways(
      [{}, { per, ip: '192.0.2.1' }],
      [{}, { per, ip: '192.0.2.2' }],
      [{}, { per, ip: '::ffff:192.0.2.2' }],
      [{ key: 'a' }, { per, ip: '192.0.2.2' }],
      [{}, { per, ip: '2001:db8::1' }],
      [{}, { per, ip: '2001:db8::ffff:1' }],
      [{}, { per, ip: '2001:db8:0:1::1' }],
    ),
  ).toEqual(['flow', 'flow', 'exceeded', 'flow', 'flow', 'exceeded', 'flow'])
})
