import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FlowFixture, openFlowFixture } from '../../../test/run-flow.ts'
import type { LiveTable } from '../../flows/live/live-blueprints.ts'
import { endpointTable, type FindEndpoint } from './endpoint-table.ts'

let fixture: FlowFixture
let find: FindEndpoint
beforeAll(async () => {
  fixture = await openFlowFixture()
  const get = (uri: string) => ({ type: 'on_startup_register_uri_get', in: { uri } })
  const { blueprint } = fixture.compile({
    list: get('tasks'),
    one: get('tasks/{guid}'),
    comments: get('tasks/:task/comments/{comment}'),
    fixed: get('tasks/today'),
    rest: get('files/{folder}/{path...}'),
    write: { type: 'on_startup_register_uri_post', in: { uri: 'tasks' } },
    any: { type: 'on_startup_register_uri_any', in: { uri: 'hooks/{name}' } },
    other: { type: 'on_startup_register_uri_delete', in: { uri: 'hooks/{guid}' } },
    patch: { type: 'on_startup_register_uri_patch', in: { uri: 'hooks/fixed' } },
  })
  if (!blueprint) throw new Error('does not compile')
  const table: LiveTable = {
    blueprints: new Map([['b', { compiled: blueprint, name: 'B', deployment: 1 }]]),
    functions: new Map(),
    version: 1,
  }
  find = endpointTable(table)
})
afterAll(() => fixture.close())

test.each([
  ['GET', '/nothing', undefined, undefined],
  ['PUT', '/tasks', undefined, undefined],
  ['PATCH', '/tasks', undefined, undefined],
  ['GET', '/files/a', undefined, undefined],
  ['GET', '/tasks', 'list', {}],
  ['HEAD', '/tasks', 'list', {}],
  ['GET', '/tasks/', 'list', {}],
  ['POST', '/tasks', 'write', {}],
  ['GET', '/tasks/17', 'one', { guid: '17' }],
  ['GET', '/tasks/today', 'fixed', {}],
  ['GET', '/tasks/a%20b', 'one', { guid: 'a b' }],
  ['GET', '/tasks/1/comments/2', 'comments', { task: '1', comment: '2' }],
  ['GET', '/files/a/b/c.txt', 'rest', { folder: 'a', path: 'b/c.txt' }],
  ['GET', '/hooks/a', 'any', { name: 'a' }],
  ['HEAD', '/hooks/a', 'any', { name: 'a' }],
  ['PATCH', '/hooks/a', 'any', { name: 'a' }],
  ['OPTIONS', '/hooks/a', undefined, undefined],
  ['DELETE', '/hooks/a', 'other', { guid: 'a' }],
  ['PATCH', '/hooks/fixed', 'patch', {}],
  ['POST', '/hooks/fixed', 'any', { name: 'fixed' }],
])('%s %s', (method, path, block, parameters) => {
  const found = find(method, path)
  expect(found?.endpoint.block).toBe(block)
  expect(found?.parameters).toEqual(parameters)
})
