import { describe, expect, test } from 'vitest'
import { readRequest } from './recorded-request.ts'

const recorded = {
  method: 'GET',
  path: '/api/v1/notes/7',
  query: { q: 'a b', tag: ['x', 'y'] },
  params: { n: '7' },
  headers: { accept: '*/*', 'x-forwarded-for': ['1', '2'] },
  body: null,
}
const cut = { $cut: '{"a', bytes: 100_000 }

describe('is refused', () => {
  test.each([
    ['a body that was cut', 'http', { ...recorded, body: cut }, 'too long'],
    ['a query that was cut', 'http', { ...recorded, query: { q: cut } }, 'too long'],
    ['a form that was sent on a page', 'page', { ...recorded, method: 'POST' }, 'form'],
  ] as const)('%s', (_what, type, request, message) => {
    expect(() => readRequest(request, type, undefined)).toThrow(message)
  })
})

test('is the request that it was, for the user as they are now', () => {
  const user = { username: 'ada' }
  const scopes = new Set(['notes_view'])
  expect(readRequest(recorded, 'http', { user, scopes })).toEqual({
    method: 'GET',
    url: '/api/v1/notes/7?q=a+b&tag=x&tag=y',
    headers: { accept: '*/*', 'x-forwarded-for': ['1', '2'] },
    ip: '127.0.0.1',
    query: { q: 'a b', tag: ['x', 'y'] },
    path: { n: '7' },
    body: undefined,
    rawBody: new Uint8Array(),
    signatures: { found: {}, recorded: {} },
    user,
    scopes,
  })
})

test('a page is only shown, nothing is submitted', () => {
  const { visit } = readRequest(recorded, 'page', undefined)
  expect([visit?.proceed(), visit?.finish(), visit?.submitted]).toEqual([undefined, undefined, undefined])
})
