import { expect, test } from 'vitest'
import { requestWith, runBlock } from '../../../test/run-block.ts'
import block from './httpconnection_current_request.ts'

test('without a request everything is empty', async () => {
  expect((await runBlock(block)).outputs).toEqual({})
})

test('it gives all that is known about the request', async () => {
  const request = requestWith({
    method: 'POST',
    headers: { accept: 'a/b', 'x-list': ['1', '2'], 'x-gone': undefined },
    body: [1],
    user: { username: 'ann' },
  })
  const { outputs } = await runBlock(block, { request })
  expect(outputs).toEqual({
    connection: request,
    method: 'POST',
    url: '/api/v1/tasks',
    headers: { accept: 'a/b', 'x-list': ['1', '2'] },
    ip: '127.0.0.1',
    body: [1],
    user: { username: 'ann' },
  })
  expect(outputs.headers).not.toHaveProperty('x-gone')
})

test('an anonymous request has no user, one without a body none', async () => {
  const { outputs } = await runBlock(block, { request: requestWith() })
  expect([outputs.user, outputs.body]).toEqual([undefined, undefined])
})

test('unread headers are not copied', async () => {
  const { outputs } = await runBlock(block, {
    request: requestWith({ headers: { a: 'b' } }),
    wired: ['method'],
  })
  expect(outputs.headers).toBeUndefined()
  expect(outputs.method).toBe('GET')
})
