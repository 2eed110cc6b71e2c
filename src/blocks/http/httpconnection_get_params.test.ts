import { expect, test } from 'vitest'
import { requestWith, runBlock } from '../../../test/run-block.ts'
import block from './httpconnection_get_params.ts'

const request = requestWith({
  query: { status: 'open', tag: ['a', 'b'], guid: 'from-query', none: '', empty: [] },
  path: { guid: 'from-path' },
})

test('without a request everything is empty', async () => {
  expect((await runBlock(block, { inputs: { field: 'status' } })).outputs).toEqual({})
})

test.each([
  ['status', 'open'],
  ['guid', 'from-path'],
  ['tag', 'a'],
  ['none', ''],
  ['empty', undefined],
  ['missing', undefined],
  ['toString', undefined],
  ['__proto__', undefined],
  ['', undefined],
])('the field %j has the value %j', async (field, value) => {
  expect((await runBlock(block, { request, inputs: { field } })).outputs.value).toBe(value)
})

test('query and path, alone and together; the path wins', async () => {
  const { outputs } = await runBlock(block, { request })
  expect(outputs.query).toEqual(request.query)
  expect(outputs.path).toEqual({ guid: 'from-path' })
  expect(outputs.params).toEqual({ ...request.query, guid: 'from-path' })
  expect(outputs.value).toBeUndefined()
})

test('a wired connection is read instead of the run’s own', async () => {
  const connection = requestWith({ query: { status: 'done' } })
  const { outputs } = await runBlock(block, { request, inputs: { connection, field: 'status' } })
  expect(outputs.value).toBe('done')
})

test('params are combined only when they are read', async () => {
  const { outputs } = await runBlock(block, { request, inputs: { field: 'status' }, wired: ['value'] })
  expect(outputs.params).toBeUndefined()
  expect(outputs.value).toBe('open')
})
