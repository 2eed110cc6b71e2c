import { expect, test } from 'vitest'
import { noon, runBlock } from '../../../test/run-block.ts'
import { runCache } from '../../flows/run/read-set.ts'
import { searchCacheKey } from '../cached-search.ts'
import block from './function_kvstore_cache_delete_key.ts'

function cacheWith(...keys: string[]) {
  const cache = runCache(() => noon)
  for (const key of keys) cache.set(searchCacheKey(key), key, 60, 1)
  cache.set('other:open', 'kept for something else', 60, 1)
  return cache
}

test.each([
  [{}, 'is empty'],
  [{ key: '' }, 'is empty'],
  [{ key: ' ' }, 'is empty'],
  [{ key: ['a'] }, 'must be text'],
])('%j is refused: %s', async (inputs, message) => {
  const cache = cacheWith('open')
  await expect(runBlock(block, { inputs, cache })).rejects.toThrow(message)
  expect(cache.get(searchCacheKey('open'))).toBe('open')
})

test.each([
  ['none', 0, ['open', 'open:ada', 'done']],
  ['ope', 0, ['open', 'open:ada', 'done']],
  ['open', 1, ['open:ada', 'done']],
  ['open*', 2, ['done']],
  ['*', 3, []],
])('%s deletes %d, and nothing that is no search', async (key, deleted, left) => {
  const cache = cacheWith('open', 'open:ada', 'done')
  expect(await runBlock(block, { inputs: { key }, cache })).toMatchObject({
    outputs: { deleted },
    next: 'flow',
  })
  expect(['open', 'open:ada', 'done'].filter((one) => cache.get(searchCacheKey(one)))).toEqual(left)
  expect(cache.get('other:open')).toBe('kept for something else')
})

test('what the flow wrote before is durable first', () => {
  expect(block.effects).toMatchObject({ calls: 'external' })
})
