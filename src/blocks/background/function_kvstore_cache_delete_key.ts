import { andThen } from '../../shared/maybe-promise.ts'
import { defineFlow, PinError } from '../block.ts'
import { searchCacheKey } from '../cached-search.ts'

export default defineFlow({
  identifier: 'function_kvstore_cache_delete_key',
  title: 'Delete cache key',
  summary:
    'Forgets a cached search, so that the next one with this cache key asks the storage again. What the flow wrote before is stored for good first, so that nobody caches the former state anew.',
  outside: true,
  ignoresCaller: true,
  in: {
    key: {
      type: 'value',
      required: true,
      help: 'The cache_key of the searches. With * at its end: all keys that start so.',
    },
  },
  out: { deleted: { type: 'number', help: 'How many cached results there were.' } },
  settings: {},
  run({ key }, { cache }) {
    if (key.trim() === '') throw new PinError('key', 'is empty')
    return andThen(cache.delete(searchCacheKey(key)), (deleted) => ({ deleted }))
  },
})
