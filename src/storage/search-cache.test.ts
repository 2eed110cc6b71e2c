import { expect, test } from 'vitest'
import { searchCache } from './search-cache.ts'
import type { Found } from './storage.ts'
import { StoredJson } from './stored-json.ts'

function page(text: string): Found {
  return { documents: new StoredJson(text), length: 1, next: () => undefined }
}

function counting() {
  let calls = 0
  const find = (text = '[1]') => {
    return () => {
      calls += 1
      return page(text)
    }
  }
  return { find, calls: () => calls }
}

test('a search is made once for each version of its storage, and apart from other storages and searches', () => {
  const cache = searchCache()
  const { find, calls } = counting()
  const first = cache.found('tasks', 1, 'a', find())
  expect(cache.found('tasks', 1, 'a', find())).toBe(first)
  expect(calls()).toBe(1)
  cache.found('tasks', 1, 'b', find())
  cache.found('notes', 1, 'a', find())
  expect(calls()).toBe(3)
  expect(cache.found('tasks', 2, 'a', find())).not.toBe(first)
  // A version never comes back, so neither do its results.
  cache.found('tasks', 1, 'a', find())
  expect(calls()).toBe(5)
})

test('counts are kept too, zero as well', () => {
  const cache = searchCache()
  expect(cache.counted('tasks', 1, 'a', () => 0)).toBe(0)
  expect(cache.counted('tasks', 1, 'a', () => 9)).toBe(0)
  expect(cache.counted('tasks', 2, 'a', () => 9)).toBe(9)
})

test('what is larger than the rest together is not kept, and the storage used longest ago goes first', () => {
  const cache = searchCache(3000)
  const { find, calls } = counting()
  cache.found('old', 1, 'a', find('x'.repeat(1000)))
  cache.found('new', 1, 'a', find('x'.repeat(1000)))
  expect(calls()).toBe(2)
  cache.found('newest', 1, 'a', find('x'.repeat(1000)))
  cache.found('new', 1, 'a', find())
  expect(calls()).toBe(3)
  cache.found('old', 1, 'a', find('x'))
  expect(calls()).toBe(4)
  const huge = searchCache()
  huge.found('tasks', 1, 'a', find('x'.repeat(300_000)))
  huge.found('tasks', 1, 'a', find('x'.repeat(300_000)))
  expect(calls()).toBe(6)
})

test('what fails is not kept', () => {
  const cache = searchCache()
  expect(() =>
    cache.found('tasks', 1, 'a', () => {
      throw new Error('as planned')
    }),
  ).toThrow('as planned')
  expect(cache.found('tasks', 1, 'a', () => page('[2]')).documents.text).toBe('[2]')
})
