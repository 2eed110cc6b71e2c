import { expect, test } from 'vitest'
import { testClock } from '../../../test/test-database.ts'
import { runCache } from './read-set.ts'

test('a value is there until its time is over', () => {
  const clock = testClock()
  const cache = runCache(clock)
  cache.set('a', 1, 10, 0)
  clock.now += 9_999
  expect(cache.get('a')).toBe(1)
  clock.now += 1
  expect(cache.get('a')).toBeUndefined()
})

test('too many entries: the one used longest ago goes', () => {
  const cache = runCache(testClock(), { entries: 2, bytes: 1e6 })
  cache.set('a', 1, 10, 0)
  cache.set('b', 2, 10, 0)
  cache.get('a')
  cache.set('c', 3, 10, 0)
  expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([1, undefined, 3])
})

test('too many bytes: the oldest go, and what is larger than all is not kept', () => {
  const cache = runCache(testClock(), { entries: 100, bytes: 3_000 })
  cache.set('a', 1, 10, 1_500)
  cache.set('b', 2, 10, 1_500)
  cache.set('huge', 3, 10, 3_000)
  expect(['a', 'b', 'huge'].map((key) => cache.get(key))).toEqual([undefined, 2, undefined])
})

test.each([
  ['a:1', 1, ['a:2', 'b:1']],
  ['a:*', 2, ['b:1']],
  ['*', 3, []],
  ['none', 0, ['a:1', 'a:2', 'b:1']],
])('delete %s takes %i', (key, count, left) => {
  const cache = runCache(testClock())
  for (const known of ['a:1', 'a:2', 'b:1']) cache.set(known, true, 10, 0)
  expect(cache.delete(key)).toBe(count)
  expect(['a:1', 'a:2', 'b:1'].filter((known) => cache.get(known))).toEqual(left)
})
