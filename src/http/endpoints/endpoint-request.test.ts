import { parse } from 'node:querystring'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Identity } from '../../access/identity-cache.ts'
import { loadBlocks } from '../../blocks/load-blocks.ts'
import { addressKey } from '../../flows/run/read-set.ts'
import { runRequest } from './request-and-reply.ts'

const ann: Identity = {
  guid: 'ann',
  username: 'ann',
  user: { username: 'ann' },
  scopes: new Set(),
  tokenGuid: 't',
}

/** The request as `EndpointExchange` and the check of the token leave it. */
function requestTo(
  url: string,
  identity: Identity | undefined,
  path: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
) {
  const at = url.indexOf('?')
  const query = at < 0 ? {} : parse(url.slice(at + 1))
  delete query.access_token
  return runRequest({ method: 'GET', url, headers, ip: '::1', query, identity }, path, undefined)
}

test.each([
  ['/a?access_token=t', '/a'],
  ['/a?access%5Ftoken=t', '/a'],
  ['/a?acc%65ss_tok%65n=t&b=1', '/a?b=1'],
  ['/a?b=1&access_token', '/a?b=1'],
  ['/a?b=1&access_token=t&access_token=t&c=?x', '/a?b=1&c=?x'],
  ['/a?status=open?x', '/a?status=open?x'],
  ['/a??access_token=t', '/a??access_token=t'],
  ['/a?access_tokens=t', '/a?access_tokens=t'],
  ['/a?%61=1', '/a?%61=1'],
  ['/a', '/a'],
  ['/a?access_token=&b', '/a?b'],
  ['/a?access_token', '/a'],
  [`/a?${'b&'.repeat(1_000)}access_token=t`, `/a?${'b&'.repeat(999)}b`],
])('signed in or not, %s is seen as %s', (url, seen) => {
  for (const identity of [ann, undefined]) {
    const request = requestTo(url, identity, {}, { referer: url, 'x-original-url': `http://a.example${url}` })
    expect(request.url).toBe(seen)
    expect(request.headers.referer).toBe(seen)
    expect(request.headers['x-original-url']).toBe(`http://a.example${seen}`)
  }
})

const piece = fc.constantFrom(
  ...[
    'a',
    'b',
    'status',
    '=',
    '=',
    '&',
    '&',
    '?',
    '%3F',
    '%26',
    '%3D',
    '+',
    '%20',
    '"',
    '%22',
    ',',
    '[',
    ']',
  ],
  ...['{', '}', '\\', '%5C', '%', '%ff', 'é', '#', ' ', '__proto__', 'access_token', 'access%5Ftoken', '1'],
)
const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))
const address = fc.record({ path: fc.dictionary(fc.constantFrom('a', 'b', 'rest'), text), query: text })
/** Most pairs differ in little: an address with something behind it, or with a part of it twice. */
const pair = fc.oneof(
  fc.tuple(address, address),
  fc.tuple(address, text).map(([one, more]) => [one, { ...one, query: one.query + more }] as const),
  fc.tuple(address, text).map(([one, more]) => [one, { ...one, path: { ...one.path, a: more } }] as const),
)

test('two requests with one key read equal values, for any sender', () => {
  let equal = 0
  fc.assert(
    fc.property(pair, fc.boolean(), fc.boolean(), ([first, second], signedIn, other) => {
      const one = requestTo(`/api/v1/tasks?${first.query}`, signedIn ? ann : undefined, first.path)
      const two = requestTo(`/api/v1/tasks?${second.query}`, other ? ann : undefined, second.path)
      const key = addressKey(one)
      if (key === undefined || key !== addressKey(two)) return
      equal += 1
      expect(Object.entries(two.query)).toEqual(Object.entries(one.query))
      expect(Object.entries(two.path)).toEqual(Object.entries(one.path))
    }),
    { numRuns: 2_000 },
  )
  expect(equal).toBeGreaterThan(5)
})

test.each([
  ['status=open?x', 'status=open'],
  ['a=1&a=2', 'a=1,2'],
  ['a=1&a=2', 'a=%5B%221%22,%222%22%5D'],
  ['a', ''],
  ['a=1&b=2', 'b=2&a=1'],
  ['a=%22%2C%22b%22%3A%22', 'a=&b='],
])('?%s and ?%s have two keys', (one, other) => {
  expect(addressKey(requestTo(`/t?${one}`, ann))).not.toBe(addressKey(requestTo(`/t?${other}`, undefined)))
})

test('the path and the query are apart, and what is too long has no key', () => {
  const inPath = requestTo('/t', undefined, { a: '1' })
  expect(addressKey(inPath)).not.toBe(addressKey(requestTo('/t?a=1', undefined)))
  expect(addressKey(requestTo(`/t?a=${'x'.repeat(16_000)}`, undefined))).toBeUndefined()
})

test('a block that says it reads the address reads nothing else of the request', async () => {
  const blocks = [...(await loadBlocks()).values()].filter(
    (block) => block.kind === 'value' && block.readsAddress === true,
  )
  expect(blocks.length).toBeGreaterThan(0)
  for (const block of blocks) {
    if (block.kind !== 'value') continue
    const read = new Set<string | symbol>()
    const request = new Proxy(requestTo('/t?a=1', ann, { b: '2' }), {
      get(target, name, self) {
        read.add(name)
        return Reflect.get(target, name, self)
      },
    })
    const context = { settings: {}, more: {}, request, wired: () => true, now: () => 0 }
    for (const field of ['a', 'b', undefined]) {
      block.value({ field }, context)
      block.value({ field, connection: request }, { ...context, request: undefined })
    }
    expect([...read].filter((name) => name !== 'query' && name !== 'path')).toEqual([])
  }
})
