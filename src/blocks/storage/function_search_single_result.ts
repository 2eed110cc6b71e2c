import { andThen } from '../../shared/maybe-promise.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { actsAsUser, asSettings } from '../as-user.ts'
import { defineFlow } from '../block.ts'
import { searchWithCache } from '../cached-search.ts'
import { builderStorage } from '../names.ts'
import { expanded, expandIn, whereIn } from '../pins/query-pins.ts'
import { referringQuery } from '../referring-query.ts'

export default defineFlow({
  identifier: 'function_search_single_result',
  title: 'Search one document',
  words: 'Find one of {storage}[ where {where|query}]',
  summary: 'Finds the first document of a storage that matches a query, in the given order.',
  effects: { reads: true, cacheable: ['cache_key'] },
  in: {
    storage: { type: 'storage', required: true, help: 'The storage to search.' },
    query: { type: 'query', help: 'Query. Empty: the first document in the order.' },
    where: whereIn,
    sort: {
      type: 'sort',
      several: true,
      help: 'Order, to choose the first of several matches: fields such as country, amount desc. Empty: the best match for free text, else the newest.',
    },
    expand: expandIn,
    cache_key: {
      type: 'value',
      help: 'Caches the result under this name, so that the same search is answered from the cache. Include everything that the search depends on in the name, and round date maths (now-7d/d): a different search is not served from the cache. Not used as the user.',
    },
    cache_seconds: {
      type: 'number',
      default: 60,
      min: 0,
      max: 2_592_000,
      help: 'Lifetime of a cached result, in seconds (at most 30 days). 0: not cached.',
    },
    include_removed: {
      type: 'condition',
      default: false,
      help: 'Also find a removed document.',
    },
  },
  out: {
    document: { type: 'document', help: 'The found document.' },
    not_found: { type: 'flow', help: 'Continues here if no document matches.' },
  },
  settings: asSettings,
  run(inputs, context) {
    const storage = builderStorage(inputs.storage)
    const result = andThen(referringQuery(context, storage, inputs), (query) =>
      searchWithCache(context, {
        storage,
        search: {
          query,
          sort: inputs.sort,
          limit: 1,
          offset: 0,
          includeRemoved: inputs.include_removed,
        },
        total: false,
        // A name that the builder chose says nothing of the user.
        cacheKey: actsAsUser(context.settings) ? undefined : inputs.cache_key,
        cacheSeconds: inputs.cache_seconds,
      }),
    )
    return andThen(result, ({ hits }) =>
      hits.length === 0
        ? { next: 'not_found' as const }
        : andThen(expanded(context, storage, inputs.expand, onlyItem(hits.documents)), (document) => ({
            document,
          })),
    )
  },
})

/** The text between the brackets of a list of one: the document as it is stored, still not parsed. */
function onlyItem(list: StoredJson): StoredJson {
  return new StoredJson(list.text.slice(1, -1))
}
