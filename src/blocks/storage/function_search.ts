import { andThen } from '../../shared/maybe-promise.ts'
import type { Search } from '../../shared/query.ts'
import { isRelevanceOrder } from '../../storage/search/rank-text.ts'
import { checkCursor } from '../../storage/search/search-cursor.ts'
import { actsAsUser, asSettings } from '../as-user.ts'
import { defineFlow, PinError } from '../block.ts'
import { searchWithCache } from '../cached-search.ts'
import { builderStorage } from '../names.ts'
import { checkExpanded, expanded, expandIn, onlyIn, pickedFields, whereIn } from '../pins/query-pins.ts'
import { referringQuery } from '../referring-query.ts'

export default defineFlow({
  identifier: 'function_search',
  title: 'Search documents',
  words: 'Search {storage}[ where {where|query}][ by {sort}]',
  summary:
    'Finds the documents of a storage that match a query, one page at a time. Without a query it finds all of them, newest first.',
  effects: { reads: true, cacheable: ['cache_key'] },
  in: {
    storage: { type: 'storage', required: true, help: 'The storage to search.' },
    query: { type: 'query', help: 'Query. Empty: all documents.' },
    where: whereIn,
    sort: {
      type: 'sort',
      several: true,
      help: 'The order: fields such as country, amount desc, most important first. Empty: best matches first for free text, else newest first.',
    },
    limit: {
      type: 'number',
      default: 20,
      min: 0,
      max: 10_000,
      integer: true,
      help: 'Maximum number of documents on a page.',
    },
    offset: {
      type: 'number',
      default: 0,
      min: 0,
      max: 10_000,
      integer: true,
      help: 'Number of documents to skip: 20 gives the second page of 20.',
    },
    after: {
      type: 'value',
      help: 'The cursor of the previous page. Unlike offset it costs the same on page 5,000 as on page 1, and no document is missed or repeated while documents are created and removed. Requires a sort with free text. Empty: the first page.',
    },
    expand: expandIn,
    only: onlyIn,
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
      help: 'Also find removed documents.',
    },
  },
  out: {
    documents: { type: 'documents', help: 'The documents of this page; an empty list if there are none.' },
    total: {
      type: 'number',
      help: 'Number of matches on all pages. Counted only if this pin is wired.',
    },
    picked: {
      type: 'documents',
      help: 'The same documents with the fields of only, and _meta. Empty without only.',
    },
    cursor: {
      type: 'value',
      help: 'Value of after for the next page. Empty if there is no further page, or the order is by best matches.',
    },
    from_cache: { type: 'condition', help: 'True if the result came from the cache.' },
  },
  settings: asSettings,
  run(inputs, context) {
    const storage = builderStorage(inputs.storage)
    return andThen(referringQuery(context, storage, inputs), (query) => {
      const search: Search = {
        query,
        sort: inputs.sort,
        limit: inputs.limit,
        offset: inputs.offset,
        includeRemoved: inputs.include_removed,
        ...(inputs.after && { after: inputs.after }),
      }
      if (inputs.after) checkAfter(search)
      checkExpanded(inputs.expand, inputs.limit)
      const result = searchWithCache(context, {
        storage,
        search,
        total: context.wired('total'),
        // A name that the builder chose says nothing of the user.
        cacheKey: actsAsUser(context.settings) ? undefined : inputs.cache_key,
        cacheSeconds: inputs.cache_seconds,
      })
      return andThen(result, ({ hits, fromCache }) =>
        andThen(expanded(context, storage, inputs.expand, hits.documents), (documents) =>
          andThen(pickedFields(documents, inputs.only), (picked) => ({
            documents,
            picked,
            total: hits.total,
            cursor: context.wired('cursor') ? hits.next() : undefined,
            from_cache: fromCache,
          })),
        ),
      )
    })
  },
})

/** Here, so that who sent a wrong one is told which parameter it was. */
function checkAfter(search: Search): void {
  try {
    checkCursor(search)
  } catch {
    throw new PinError(
      'after',
      isRelevanceOrder(search)
        ? 'cannot be used with results by best match: add a sort'
        : 'must be the cursor of the previous page of the same search',
    )
  }
}
