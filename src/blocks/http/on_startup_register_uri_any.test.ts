import { expect, test } from 'vitest'
import { listenTo, requestWith } from '../../../test/run-block.ts'
import block from './on_startup_register_uri_any.ts'

test('a uri that cannot be is refused', () => {
  expect(() => listenTo(block, { inputs: { uri: 'tasks//x' } })).toThrow('between its slashes')
})

test('it listens for ANY and never lets the reply be kept', () => {
  expect(listenTo(block, { inputs: { uri: 'tasks/{guid}' }, fields: { rate_limit: 2 } })).toEqual({
    method: 'ANY',
    uri: 'tasks/{guid}',
    rateLimit: 2,
    cacheSeconds: 0,
    idempotent: false,
    summary: '',
    description: '',
  })
  expect(listenTo(block, { inputs: { uri: 'tasks' }, fields: { idempotent: true } }).idempotent).toBe(true)
})

test.each([[{ title: 'A' }], [[1, 2]], [undefined]])(
  'it starts with the connection and the body %j',
  (body) => {
    const request = requestWith({ method: 'PATCH', body })
    expect(block.start({ request })).toEqual({ connection: request, body })
  },
)
