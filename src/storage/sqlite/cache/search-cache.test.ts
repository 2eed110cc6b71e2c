import { expect, test } from 'vitest'
import type { JsonObject } from '../../../shared/json.ts'
import { type Query, search } from '../../../shared/query.ts'
import type { Found } from '../../database.ts'
import { StoredJson } from '../../stored-json.ts'
import { searchCache, type TouchedDocument } from './search-cache.ts'

function page(text: string): Found {
  return { documents: new StoredJson(text), length: 1, next: () => undefined }
}

function requested(query: Query, includeRemoved = false) {
  return { search: search({ query, includeRemoved }), key: JSON.stringify([query, includeRemoved]) }
}

const all = requested({ kind: 'all' })
const ones = requested({ kind: 'term', field: 'n', value: 1 })

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
  const first = cache.found('tasks', 1, all, find())
  expect(cache.found('tasks', 1, all, find())).toBe(first)
  expect(calls()).toBe(1)
  cache.found('tasks', 1, ones, find())
  cache.found('notes', 1, all, find())
  expect(calls()).toBe(3)
  expect(cache.found('tasks', 2, all, find())).not.toBe(first)
  // A version never comes back, so neither do its results.
  cache.found('tasks', 1, all, find())
  expect(calls()).toBe(5)
})

test('what is larger than the rest together is not kept, and the storage used longest ago goes first', () => {
  const cache = searchCache(3000)
  const { find, calls } = counting()
  cache.found('old', 1, all, find('x'.repeat(1000)))
  cache.found('new', 1, all, find('x'.repeat(1000)))
  expect(calls()).toBe(2)
  cache.found('newest', 1, all, find('x'.repeat(1000)))
  cache.found('new', 1, all, find())
  expect(calls()).toBe(3)
  cache.found('old', 1, all, find('x'))
  expect(calls()).toBe(4)
  const huge = searchCache()
  huge.found('tasks', 1, all, find('x'.repeat(300_000)))
  huge.found('tasks', 1, all, find('x'.repeat(300_000)))
  expect(calls()).toBe(6)
})

test('what fails is not kept', () => {
  const cache = searchCache()
  expect(() =>
    cache.found('tasks', 1, all, () => {
      throw new Error('as planned')
    }),
  ).toThrow('as planned')
  expect(cache.found('tasks', 1, all, () => page('[2]')).documents.text).toBe('[2]')
})

const document = (n: number, removed = 0): JsonObject => ({ _meta: { removed }, n })
const words = requested({ kind: 'simple_query_string', text: 'quoin', fields: [] })
const removedOnes = requested({ kind: 'term', field: 'n', value: 1 }, true)

const watched: readonly {
  name: string
  touched: readonly TouchedDocument[] | undefined
  /** Which of all, ones, removed ones and words stay. */
  stays: readonly boolean[]
}[] = [
  { name: 'an unknown set of documents', touched: undefined, stays: [false, false, false, false] },
  { name: 'nothing', touched: [], stays: [true, true, true, true] },
  {
    name: 'one that was not among them and is not now',
    touched: [{ before: document(2), now: document(3) }],
    stays: [false, true, true, false],
  },
  {
    name: 'one that was among them',
    touched: [{ before: document(1), now: document(3) }],
    stays: [false, false, false, false],
  },
  {
    name: 'one that came',
    touched: [{ before: undefined, now: document(1) }],
    stays: [false, false, false, false],
  },
  {
    name: 'one that went',
    touched: [{ before: document(1), now: undefined }],
    stays: [false, false, false, false],
  },
  {
    name: 'a removed one',
    touched: [{ before: document(1, 9), now: undefined }],
    stays: [true, true, false, false],
  },
  {
    name: 'several, of which the last was among them',
    touched: [
      { before: document(2), now: document(2) },
      { before: undefined, now: document(1) },
    ],
    stays: [false, false, false, false],
  },
]

test.each(watched)('after $name was written', ({ touched, stays }) => {
  const cache = searchCache()
  const pages = [all, ones, removedOnes, words]
  const before = pages.map((one) => cache.found('tasks', 1, one, () => page('[]')))
  cache.follow('tasks', 2, touched)
  expect(pages.map((one, at) => cache.known('tasks', 2, one.key) === before[at])).toEqual(stays)
  expect(pages.map(({ key }) => cache.known('tasks', 1, key))).toEqual(pages.map(() => undefined))
})

test('more than is worth judging takes all pages', () => {
  const cache = searchCache()
  for (let n = 0; n < 100; n++)
    cache.found('tasks', 1, requested({ kind: 'term', field: 'n', value: n }), () => page('[]'))
  const other = { before: document(-1), now: document(-2) }
  cache.follow(
    'tasks',
    2,
    Array.from({ length: 30 }, () => other),
  )
  expect(cache.version('tasks')).toBe(2)
  cache.follow(
    'tasks',
    3,
    Array.from({ length: 31 }, () => other),
  )
  expect(cache.version('tasks')).toBeUndefined()
})
