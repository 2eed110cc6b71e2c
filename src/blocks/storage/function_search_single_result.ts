import { andThen } from '../../shared/maybe-promise.ts'
import { matchAll } from '../../shared/query.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { defineFlow } from '../block.ts'
import { builderStorage } from '../builder-storage.ts'
import { searchWithCache } from '../cached-search.ts'

export default defineFlow({
  identifier: 'function_search_single_result',
  title: 'Search one document',
  summary: 'Finds the first document of a storage that matches a query, in the order you choose.',
  repeatable: ['cache_key'],
  in: {
    storage: { type: 'storage', required: true, help: 'Where to search.' },
    query: { type: 'query', help: 'Which document to find. Empty: any, so the first in the order.' },
    sort: {
      type: 'sort',
      several: true,
      help: 'Which one comes first when several match. Empty: the best match for free text, else the newest.',
    },
    cache_key: {
      type: 'value',
      help: 'Keeps the result under this name for a while, so that the same search is answered without searching. Put what the search depends on into the name, and round date maths (now-7d/d): a search that differs is made anew.',
    },
    cache_seconds: {
      type: 'number',
      default: 60,
      min: 0,
      max: 2_592_000,
      help: 'How long a cached result may be used, in seconds (at most 30 days). 0: not cached.',
    },
    include_removed: {
      type: 'condition',
      default: false,
      help: 'Also finds a document that was removed but not deleted.',
    },
  },
  out: {
    document: { type: 'document', help: 'The document that was found.' },
    not_found: { type: 'flow', help: 'Taken instead of flow when no document matches.' },
  },
  settings: {},
  run(inputs, context) {
    const result = searchWithCache(context, {
      storage: builderStorage(inputs.storage),
      search: {
        query: inputs.query ?? matchAll,
        sort: inputs.sort,
        limit: 1,
        offset: 0,
        includeRemoved: inputs.include_removed,
      },
      total: false,
      cacheKey: inputs.cache_key,
      cacheSeconds: inputs.cache_seconds,
    })
    return andThen(result, ({ hits }) =>
      hits.length === 0 ? { next: 'not_found' as const } : { document: onlyItem(hits.documents) },
    )
  },
})

/** The text between the brackets of a list of one: the document as it is stored, still not parsed. */
function onlyItem(list: StoredJson): StoredJson {
  return new StoredJson(list.text.slice(1, -1))
}
