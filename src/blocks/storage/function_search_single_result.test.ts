import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Circumstances, runBlock } from '../../../test/run-block.ts'
import { openTestDatabase } from '../../../test/test-database.ts'
import type { Database } from '../../storage/database.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import single from './function_search_single_result.ts'

const byNumber = { field: 'n', order: 'asc', missing: 'last' }
const is = (field: string, value: string) => ({ kind: 'term', field, value })

let database: Database
let close: () => Promise<void>

beforeAll(async () => {
  ;({ database, close } = await openTestDatabase())
  await database.ensure('tasks')
  const session = database.session()
  for (const n of [1, 2, 3])
    await session.create('tasks', [
      { op: 'set', field: 'n', value: n },
      { op: 'set', field: 'note', value: 'a "[1,2]" \\ é' },
    ])
  const removed = await session.create('tasks', [{ op: 'set', field: 'n', value: 0 }])
  await session.setRemoved('tasks', guidOf(removed), true)
  await session.transaction.commit()
})

afterAll(() => close())

function guidOf(document: unknown): string {
  expect(document).toMatchObject({ value: { _meta: { guid: expect.any(String) } } })
  return document instanceof StoredJson ? JSON.parse(document.text)._meta.guid : ''
}

function find(inputs: Circumstances['inputs'], more: Circumstances = {}) {
  const session = database.session()
  return runBlock(single, { session, ...more, inputs: { storage: 'tasks', ...inputs } })
}

describe('function_search_single_result', () => {
  test.each([
    ['no storage', { storage: null }, 'storage', /is empty/],
    ['a storage of the cluster', { storage: '_user' }, 'storage', /starts with _/],
    ['a cache key that is a text', { cache_key: 'k'.repeat(513) }, 'cache_key', /at most 512/],
  ])('refuses %s', async (_name, inputs, pin, message) => {
    const error = await find(inputs).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'PinError', pin, message: expect.stringMatching(message) })
  })

  test.each([
    ['the newest', {}, 3],
    ['the first in an order', { sort: byNumber }, 1],
    ['the one that matches', { query: { kind: 'term', field: 'n', value: 2 } }, 2],
    ['a removed one if asked', { sort: byNumber, include_removed: true }, 0],
  ])('finds %s', async (_name, inputs, n) => {
    const { outputs, next } = await find(inputs)
    expect(next).toBe('flow')
    expect(outputs.document).toMatchObject({ value: { n } })
  })

  test('gives the document as it is stored, not parsed', async () => {
    const { outputs } = await find({ query: { kind: 'term', field: 'n', value: 2 } })
    const guid = guidOf(outputs.document)
    expect(outputs.document).toEqual(await database.session().get('tasks', guid))
  })

  test('takes not_found when nothing matches, and gives no document', async () => {
    const { outputs, next } = await find({ query: is('status', 'gone') })
    expect({ outputs, next }).toEqual({ outputs: {}, next: 'not_found' })
  })

  test('keeps what it found under a cache key, also that it found nothing', async () => {
    const kept = new Map<string, unknown>()
    const cache = {
      deletions: 0,
      get: (key: string) => kept.get(key),
      set: (key: string, value: unknown) => void kept.set(key, value),
      delete: (key: string) => Number(kept.delete(key)),
    }
    const inputs = { query: is('title', 'late'), cache_key: 'late' }
    expect((await find(inputs, { cache })).next).toBe('not_found')
    const session = database.session()
    await session.create('tasks', [{ op: 'set', field: 'title', value: 'late' }])
    await session.transaction.commit()
    expect((await find(inputs, { cache })).next).toBe('not_found')
    expect((await find({ query: is('title', 'late') }, { cache })).next).toBe('flow')
    kept.clear()
    const found = await find(inputs, { cache })
    expect(found.outputs.document).toMatchObject({ value: { title: 'late' } })
    const again = await find(inputs, { cache })
    expect(again.outputs.document).toEqual(found.outputs.document)
  })
})
