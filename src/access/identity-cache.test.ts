import { expect, test } from 'vitest'
import { type Identity, identityCache } from './identity-cache.ts'

const NAMES = ['_tokens', '_users', '_groups']
const ada: Identity = { guid: 'a', username: 'ada', scopes: new Set(), user: {}, tokenGuid: 't' }

function versions() {
  const of: Record<string, number> = { _tokens: 1, _users: 1, _groups: 1, tasks: 1 }
  return { of, version: (name: string) => of[name] ?? 0, watch: () => () => undefined }
}

test('is known until its time is over', () => {
  const cache = identityCache(versions(), NAMES)
  expect(cache.get('h', 1)).toBeUndefined()
  cache.looking('h')(ada, 100)
  expect(cache.get('h', 99)).toBe(ada)
  expect(cache.get('other', 99)).toBeUndefined()
  expect(cache.get('h', 100)).toBeUndefined()
})

test.each(NAMES)('no identity is cached after a write to %s', (name) => {
  const storage = versions()
  const cache = identityCache(storage, NAMES)
  cache.looking('h')(ada, 100)
  storage.of.tasks = 2
  expect(cache.get('h', 1)).toBe(ada)
  storage.of[name] = 2
  expect(cache.get('h', 1)).toBeUndefined()
})

test('what was read before a write is not kept after it', () => {
  const storage = versions()
  const cache = identityCache(storage, NAMES)
  const keep = cache.looking('h')
  storage.of._users = 2
  keep(ada, 100)
  expect(cache.get('h', 1)).toBeUndefined()
})
