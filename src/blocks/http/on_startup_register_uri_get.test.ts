import { expect, test } from 'vitest'
import { listenTo, requestWith } from '../../../test/run-block.ts'
import block from './on_startup_register_uri_get.ts'

test.each([
  [undefined, 'is empty'],
  ['..', 'may not have the segment ..'],
  ['api/v1/tasks', 'must be what follows /api/v1/, such as tasks or tasks/{guid}'],
])('the uri %j is refused: %s', (uri, message) => {
  expect(() => listenTo(block, { inputs: { uri } })).toThrow(message)
})

test('it listens for GET under the one spelling, with what the settings say', () => {
  expect(listenTo(block, { inputs: { uri: '/tasks/:guid' } })).toEqual({
    method: 'GET',
    uri: 'tasks/{guid}',
    rateLimit: undefined,
    cacheSeconds: 0,
    idempotent: false,
    summary: '',
    description: '',
  })
  const fields = { rate_limit: 5, cache_seconds: 60, summary: 'All tasks', description: 'Newest first.' }
  expect(listenTo(block, { inputs: { uri: 'tasks' }, fields })).toMatchObject({
    rateLimit: 5,
    cacheSeconds: 60,
    summary: 'All tasks',
    description: 'Newest first.',
  })
})

test.each([{ cache_seconds: -1 }, { cache_seconds: 1e9 }, { rate_limit: 0 }, { idempotent: true }])(
  'the settings %j are refused',
  (fields) => {
    expect(() => listenTo(block, { inputs: { uri: 'tasks' }, fields })).toThrow(TypeError)
  },
)

test('it starts with the connection and has no body', () => {
  const request = requestWith({ body: { a: 1 } })
  expect(block.start({ request })).toEqual({ connection: request })
  expect(Object.keys(block.out)).toEqual(['flow', 'connection'])
})
