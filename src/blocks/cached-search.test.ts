import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openTestDatabase } from '../../test/test-database.ts'
import { isPromise } from '../shared/maybe-promise.ts'
import { search } from '../shared/query.ts'
import type { Database } from '../storage/database.ts'
import { searchWithCache } from './cached-search.ts'
import type { Cache } from './context.ts'

const noCache: Cache = { deletions: 0, get: () => undefined, set: () => undefined, delete: () => 0 }

let database: Database
let close: () => Promise<void>

beforeAll(async () => {
  ;({ database, close } = await openTestDatabase())
  await database.ensure('tasks')
  const session = database.session()
  for (const n of [1, 2, 3]) await session.create('tasks', [{ op: 'set', field: 'n', value: n }])
  await session.transaction.commit()
})

afterAll(() => close())

type Searching = Parameters<typeof searchWithCache>[0]['session']

/** A session that answers later, as PostgreSQL does, and remembers what was asked of it. */
function slowSession(asked: string[]): Searching {
  const session = database.session()
  return {
    transaction: { hasWritten: false },
    async find(...parameters) {
      asked.push('find')
      return session.find(...parameters)
    },
    async count(...parameters) {
      asked.push('count')
      return session.count(...parameters)
    },
  }
}

function run(session: Searching, limit: number, offset: number, total = true, cache = noCache) {
  const requested = { storage: 'tasks', search: search({ limit, offset }), total }
  return searchWithCache({ session, cache }, { ...requested, cacheKey: 'key', cacheSeconds: 60 })
}

describe('searchWithCache', () => {
  test('finishes in the same turn on SQLite', async () => {
    const result = run(database.session(), 2, 0)
    expect(isPromise(result)).toBe(inject('engine') === 'postgres')
    expect(await result).toMatchObject({ hits: { length: 2, total: 3 }, fromCache: false })
  })

  test('waits for an engine that answers later, and keeps the answer, not the promise', async () => {
    const kept = new Map<string, unknown>()
    const cache = {
      ...noCache,
      get: (key: string) => kept.get(key),
      set: (key: string, value: unknown) => void kept.set(key, value),
    }
    expect(await run(slowSession([]), 2, 0, true, cache)).toMatchObject({
      hits: { total: 3 },
      fromCache: false,
    })
    expect(run(slowSession([]), 2, 0, true, cache)).toMatchObject({ hits: { total: 3 }, fromCache: true })
  })

  test('what a run has written and not committed is neither cached nor hidden by the cache', async () => {
    const kept = new Map<string, unknown>()
    const cache = {
      ...noCache,
      get: (key: string) => kept.get(key),
      set: (key: string, value: unknown) => void kept.set(key, value),
    }
    const writing = database.session()
    await writing.create('tasks', [{ op: 'set', field: 'n', value: 4 }])
    expect(await run(writing, 20, 0, true, cache)).toMatchObject({ hits: { total: 4 }, fromCache: false })
    expect(kept.size).toBe(0)
    await writing.transaction.rollback()
    expect(await run(database.session(), 20, 0, true, cache)).toMatchObject({
      hits: { total: 3 },
      fromCache: false,
    })
  })

  test.each([
    ['a full page', 2, 0, ['find', 'count'], 3],
    ['a page that is full by chance', 3, 0, ['find', 'count'], 3],
    ['a page of nothing', 0, 0, ['find', 'count'], 3],
    ['a page behind the end', 2, 5, ['find', 'count'], 3],
    ['not for a last page', 2, 2, ['find'], 3],
    ['not for a single page', 20, 0, ['find'], 3],
  ])('counts for %s', async (_name, limit, offset, asks, total) => {
    const asked: string[] = []
    expect(await run(slowSession(asked), limit, offset)).toMatchObject({ hits: { total } })
    expect(asked).toEqual(asks)
  })

  test('does not count what is not wanted', async () => {
    const asked: string[] = []
    expect(await run(slowSession(asked), 2, 0, false)).toMatchObject({ hits: { total: undefined } })
    expect(asked).toEqual(['find'])
  })
})
