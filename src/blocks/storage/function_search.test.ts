import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Circumstances, noon, runBlock } from '../../../test/run-block.ts'
import { openTestDatabase } from '../../../test/test-database.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import type { Database } from '../../storage/database.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import functionSearch from './function_search.ts'

const open = { kind: 'term', field: 'status', value: 'open' }
const byNumber = { field: 'n', order: 'asc', missing: 'last' }

let database: Database
let close: () => Promise<void>

beforeAll(async () => {
  ;({ database, close } = await openTestDatabase())
  await database.ensure('tasks')
  await database.ensure('notes')
  await store('tasks', [
    { n: 1, status: 'open' },
    { n: 2, status: 'done' },
    { n: 3, status: 'open' },
    { n: 4, status: 'open' },
  ])
  const removed = await store('tasks', [{ n: 5, status: 'open' }])
  const session = database.session()
  for (const guid of removed) await session.setRemoved('tasks', guid, true)
  await session.transaction.commit()
})

afterAll(() => close())

async function store(name: string, documents: Record<string, JsonValue>[]): Promise<string[]> {
  const session = database.session()
  const guids: string[] = []
  for (const document of documents) {
    const mutations = Object.entries(document).map(([field, value]) => ({ op: 'set' as const, field, value }))
    const created = await session.create(name, mutations)
    guids.push(
      String(isJsonObject(created.value) && isJsonObject(created.value._meta) && created.value._meta.guid),
    )
  }
  await session.transaction.commit()
  return guids
}

/** The numbers of the documents found, in order. */
async function find(inputs: Circumstances['inputs'], more: Circumstances = {}) {
  const ran = await runBlock(functionSearch, {
    session: database.session(),
    ...more,
    inputs: { storage: 'tasks', ...inputs },
  })
  const { cursor: _, ...outputs } = ran.outputs
  return { ...outputs, next: ran.next, documents: numbersIn(outputs.documents) }
}

function numbersIn(documents: unknown): JsonValue[] {
  if (!(documents instanceof StoredJson) || !Array.isArray(documents.value))
    throw new TypeError('No documents.')
  return documents.value.map((document: JsonValue) => (isJsonObject(document) ? (document.n ?? null) : null))
}

test.each<[string, JsonValue[] | undefined, unknown]>([
  ['only a field', ['n', 'nothing', 'constructor'], [['_meta', 'n']]],
  ['no field', [], [['_meta']]],
  ['a field twice, and what is no text', ['n', 'n', 1, null], [['_meta', 'n']]],
  ['no only', undefined, undefined],
])('%s: picked has these fields of each document', async (_name, only, fields) => {
  const inputs = { storage: 'tasks', limit: 1, only }
  const { picked } = (await runBlock(functionSearch, { session: database.session(), inputs })).outputs
  const value: unknown = picked instanceof StoredJson ? picked.value : undefined
  expect(Array.isArray(value) ? value.map((one) => Object.keys(one).sort()) : value).toEqual(fields)
})

describe('function_search', () => {
  test.each([
    ['no storage', { storage: undefined }, 'storage', /is empty/],
    ['a storage of the cluster', { storage: '_user' }, 'storage', /starts with _/],
    ['a name that is none', { storage: 'a b' }, 'storage', /must be 1 to 63/],
    ['a limit below 0', { limit: -1 }, 'limit', /from 0 to 10,000/],
    ['a limit above 10,000', { limit: 10_001 }, 'limit', /from 0 to 10,000/],
    ['half a document', { limit: '2.5' }, 'limit', /whole number/],
    ['a limit that is no number', { limit: 'abc' }, 'limit', /whole number/],
    ['an offset below 0', { offset: -1 }, 'offset', /from 0 to 10,000/],
    ['an offset above 10,000', { offset: 10_001 }, 'offset', /from 0 to 10,000/],
    ['a cache below 0 seconds', { cache_seconds: -1 }, 'cache_seconds', /from 0 to/],
    ['a cache key that is a text', { cache_key: 'k'.repeat(513) }, 'cache_key', /at most 512/],
  ])('refuses %s', async (_name, inputs, pin, message) => {
    const error = await find(inputs).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'PinError', pin, message: expect.stringMatching(message) })
  })

  test('refuses a storage that does not exist', async () => {
    await expect(find({ storage: 'nowhere' })).rejects.toMatchObject({ code: 'INTERNAL' })
  })

  test.each([
    ['all, newest first', {}, [4, 3, 2, 1], 4],
    ['what matches', { query: open }, [4, 3, 1], 3],
    ['in an order', { query: open, sort: byNumber }, [1, 3, 4], 3],
    [
      'in several orders',
      { sort: [{ field: 'status', order: 'asc', missing: 'last' }, byNumber] },
      [2, 1, 3, 4],
      4,
    ],
    ['the first page', { sort: byNumber, limit: 2 }, [1, 2], 4],
    ['the second page', { sort: byNumber, limit: 2, offset: 2 }, [3, 4], 4],
    ['a last page that is not full', { sort: byNumber, limit: 3, offset: 3 }, [4], 4],
    ['a page behind the last', { limit: 2, offset: 6 }, [], 4],
    ['a page of nothing', { limit: 0 }, [], 4],
    ['numbers as text, as requests send them', { limit: '2', offset: '1' }, [3, 2], 4],
    ['removed ones too', { include_removed: true }, [5, 4, 3, 2, 1], 5],
    ['a page of removed ones too, and counts them', { include_removed: true, limit: 2 }, [5, 4], 5],
    ['nothing', { query: { kind: 'or', queries: [] } }, [], 0],
    ['nothing in an empty storage', { storage: 'notes' }, [], 0],
  ])('finds %s', async (_name, inputs, documents, total) => {
    expect(await find(inputs)).toEqual({ documents, total, from_cache: false, next: 'flow' })
  })

  test('does not count an unread total', async () => {
    expect(await find({ limit: 2 }, { wired: ['documents'] })).toMatchObject({ total: undefined })
  })

  test('reads the writes of its own run, and other runs do not before the commit', async () => {
    const session = database.session()
    await session.create('notes', [{ op: 'set', field: 'n', value: 9 }])
    expect(await find({ storage: 'notes' }, { session })).toMatchObject({ documents: [9], total: 1 })
    expect(await find({ storage: 'notes' })).toMatchObject({ documents: [], total: 0 })
    await session.transaction.rollback()
  })
})

describe('function_search behind a cursor', () => {
  const page = async (inputs: Circumstances['inputs'], more: Circumstances = {}) => {
    const session = database.session()
    const ran = await runBlock(functionSearch, { session, ...more, inputs: { storage: 'tasks', ...inputs } })
    return { ...ran.outputs, documents: numbersIn(ran.outputs.documents) }
  }

  test.each([
    ['what is none', { after: 'x' }, /must be the cursor of the previous page/],
    [
      'one of another order',
      { after: 'WyJuIGFzYyBsYXN0IixbMV0sNSwiZyJd' },
      /must be the cursor of the previous page/,
    ],
    [
      'one of results by best match',
      { after: 'x', query: { kind: 'simple_query_string', fields: [], text: 'x' } },
      /add a sort/,
    ],
  ])('refuses %s', async (_name, inputs, message) => {
    const error = await page(inputs).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'PinError', pin: 'after', message: expect.stringMatching(message) })
  })

  test.each([
    ['newest first', {}, [4, 3, 2, 1]],
    ['in an order', { sort: byNumber }, [1, 2, 3, 4]],
    ['of what matches', { query: open, sort: byNumber }, [1, 3, 4]],
  ])('gives the pages one after the other, %s, each with the whole total', async (_name, inputs, all) => {
    const seen: JsonValue[] = []
    let after: unknown
    do {
      const found = await page({ ...inputs, limit: 1, ...(after !== undefined && { after }) })
      seen.push(...found.documents)
      expect(found).toMatchObject({ total: all.length })
      after = 'cursor' in found ? found.cursor : undefined
    } while (after !== undefined)
    expect(seen).toEqual(all)
  })

  test('gives no cursor when it is unread, nor after the last page', async () => {
    expect(await page({ limit: 2 }, { wired: ['documents'] })).toMatchObject({ cursor: undefined })
    expect(await page({ limit: 20 })).toMatchObject({ cursor: undefined })
  })

  test('keeps the next page with the result', async () => {
    const cache = memoryCache(() => noon)
    const inputs = { cache_key: 'pages', limit: 2, sort: byNumber }
    const first = await page(inputs, { cache })
    expect(await page(inputs, { cache })).toEqual({ ...first, from_cache: true })
    const behind = { ...inputs, after: 'cursor' in first ? first.cursor : undefined }
    expect(await page(behind, { cache })).toMatchObject({ documents: [3, 4], from_cache: false, total: 4 })
  })
})

describe('function_search with a cache key', () => {
  test('gives the same again until its time is over', async () => {
    await database.ensure('cached')
    await store('cached', [{ n: 1 }])
    let now = noon
    const memory = memoryCache(() => now)
    const search = () => find({ storage: 'cached', cache_key: 'all', cache_seconds: 10 }, { cache: memory })
    expect(await search()).toMatchObject({ documents: [1], from_cache: false })
    await store('cached', [{ n: 2 }])
    now += 9_999
    expect(await search()).toMatchObject({ documents: [1], total: 1, from_cache: true })
    now += 1
    expect(await search()).toMatchObject({ documents: [2, 1], total: 2, from_cache: false })
  })

  test.each([
    ['another query', { query: open }],
    ['another order', { sort: byNumber }],
    ['another page', { offset: 1 }],
    ['another size of page', { limit: 2 }],
    ['removed documents too', { include_removed: true }],
    ['another storage', { storage: 'notes' }],
    ['another key', { cache_key: 'other' }],
  ])('does not answer %s with the same result', async (_name, inputs) => {
    const cache = memoryCache(() => noon)
    await find({ cache_key: 'tasks' }, { cache })
    const asked = await find({ cache_key: 'tasks', ...inputs }, { cache })
    expect(asked).toEqual(await find(inputs))
  })

  test.each([
    ['without a key', {}],
    ['with an empty key', { cache_key: '' }],
    ['for 0 seconds', { cache_key: 'tasks', cache_seconds: 0 }],
  ])('keeps nothing %s', async (_name, inputs) => {
    const cache = memoryCache(() => noon)
    await find(inputs, { cache })
    expect(await find(inputs, { cache })).toMatchObject({ from_cache: false })
    expect(cache.keys()).toEqual([])
  })

  test('searches again when the total is read and was not counted', async () => {
    const cache = memoryCache(() => noon)
    const inputs = { cache_key: 'tasks', limit: 2 }
    await find(inputs, { cache, wired: [] })
    expect(await find(inputs, { cache })).toMatchObject({ total: 4, from_cache: false })
    expect(await find(inputs, { cache })).toMatchObject({ total: 4, from_cache: true })
    expect(await find(inputs, { cache, wired: [] })).toMatchObject({ from_cache: true })
  })

  test('takes something else under its key for nothing', async () => {
    const cache = memoryCache(() => noon)
    cache.set('search:tasks', { documents: 'none' }, 60)
    expect(await find({ cache_key: 'tasks' }, { cache })).toMatchObject({
      documents: [4, 3, 2, 1],
      from_cache: false,
    })
  })
})

function memoryCache(now: () => number) {
  const kept = new Map<string, { value: unknown; until: number }>()
  return {
    deletions: 0,
    get: (key: string) => {
      const entry = kept.get(key)
      return entry && now() < entry.until ? entry.value : undefined
    },
    set: (key: string, value: unknown, seconds: number) =>
      void kept.set(key, { value, until: now() + seconds * 1000 }),
    delete: (key: string) => Number(kept.delete(key)),
    keys: () => [...kept.keys()],
  }
}
