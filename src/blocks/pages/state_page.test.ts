import { expect, test } from 'vitest'
import { listenTo, requestWith } from '../../../test/run-block.ts'
import { accountPaths } from '../../shared/account-paths.ts'
import block from './state_page.ts'

test.each([
  ['a b', /letters, digits/],
  ['tasks/', /between its slashes/],
  ['../etc', /segment/],
  ['api/v1/tasks', /api\/v1/],
  ['{__proto__}', /__proto__/],
])('the address %j is refused, on its pin', (url, message) => {
  expect(() => listenTo(block, { inputs: { url } })).toThrow(message)
  expect(() => listenTo(block, { inputs: { url } })).toThrow(expect.objectContaining({ pin: 'url' }))
})

test.each([
  ['/', ''],
  ['', ''],
  ['/tasks', 'tasks'],
  ['tasks/:guid', 'tasks/{guid}'],
  ['files/{path...}', 'files/{path...}'],
])('%j is the address /%s', (url, uri) => {
  expect(listenTo(block, { inputs: { url: url === '' ? '/' : url, title: 'Tasks' } })).toEqual({
    uri,
    title: 'Tasks',
    rateLimit: undefined,
  })
})

test('parameters of the path win over those of the query', () => {
  const request = requestWith({ query: { guid: 'query', page: '2' }, path: { guid: 'path' } })
  expect(block.start({ request })).toEqual({ connection: request, params: { guid: 'path', page: '2' } })
})

test.each(Object.values(accountPaths))('the help names the account page %s', (path) => {
  expect(block.in.url?.help).toMatch(new RegExp(`[ (]${path}[,)]`))
})
