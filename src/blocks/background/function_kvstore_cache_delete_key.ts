import { andThen } from '../../shared/maybe-promise.ts'
import { defineFlow, PinError } from '../block.ts'
import { searchCacheKey } from '../cached-search.ts'

export default defineFlow({
  identifier: 'function_kvstore_cache_delete_key',
  title: 'Delete cache key',
  words: 'Delete cache key {key}',
  summary:
    'Deletes a cached search result, so that the next search with this cache key reads the storage. Commits the earlier writes of the flow first, so that no run caches the former state again.',
  effects: { calls: 'external', callerIndependent: true },
  in: {
    key: {
      type: 'value',
      required: true,
      help: 'The cache_key of the searches. With * at its end: all keys with this prefix.',
    },
  },
  out: { deleted: { type: 'number', help: 'Number of deleted results.' } },
  settings: {},
  run({ key }, { cache }) {
    if (key.trim() === '') throw new PinError('key', 'is empty')
    return andThen(cache.delete(searchCacheKey(key)), (deleted) => ({ deleted }))
  },
})
