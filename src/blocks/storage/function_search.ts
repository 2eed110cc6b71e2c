import { andThen } from '../../shared/maybe-promise.ts'
import { matchAll, type Search } from '../../shared/query.ts'
import { isRelevanceOrder } from '../../storage/search/rank-text.ts'
import { readCursor } from '../../storage/search/search-cursor.ts'
import { defineFlow, PinError } from '../block.ts'
import { builderStorage } from '../builder-storage.ts'
import { searchWithCache } from '../cached-search.ts'

export default defineFlow({
  identifier: 'function_search',
  title: 'Search documents',
  summary:
    'Finds the documents of a storage that match a query, one page at a time. Without a query it finds all of them, newest first.',
  repeatable: ['cache_key'],
  in: {
    storage: { type: 'storage', required: true, help: 'Where to search.' },
    query: { type: 'query', help: 'Which documents to find. Empty: all.' },
    sort: {
      type: 'sort',
      several: true,
      help: 'The order, most important first. Empty: best matches first for free text, else newest first.',
    },
    limit: {
      type: 'number',
      default: 20,
      min: 0,
      max: 10_000,
      integer: true,
      help: 'How many documents a page holds at most.',
    },
    offset: {
      type: 'number',
      default: 0,
      min: 0,
      max: 10_000,
      integer: true,
      help: 'How many documents to skip: 20 gives the second page of 20.',
    },
    after: {
      type: 'value',
      help: 'Goes on behind a page: what its cursor was. Unlike skipping it costs the same on page 5,000 as on page 1, and nothing is missed or shown twice while documents come and go. Needs a sort when there is free text. Empty: the first page.',
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
      help: 'Also finds documents that were removed but not deleted.',
    },
  },
  out: {
    documents: { type: 'documents', help: 'The documents of this page; an empty list if there are none.' },
    total: {
      type: 'number',
      help: 'How many documents match on all pages. Counted only if this pin is wired.',
    },
    cursor: {
      type: 'value',
      help: 'What the next page takes as after. Empty when there is no further page, or the order is by best matches.',
    },
    from_cache: { type: 'condition', help: 'True when the result was still in the cache.' },
  },
  settings: {},
  run(inputs, context) {
    const search: Search = {
      query: inputs.query ?? matchAll,
      sort: inputs.sort,
      limit: inputs.limit,
      offset: inputs.offset,
      includeRemoved: inputs.include_removed,
      ...(inputs.after && { after: inputs.after }),
    }
    if (inputs.after) checkCursor(search)
    const result = searchWithCache(context, {
      storage: builderStorage(inputs.storage),
      search,
      total: context.wired('total'),
      cacheKey: inputs.cache_key,
      cacheSeconds: inputs.cache_seconds,
    })
    return andThen(result, ({ hits, fromCache }) => ({
      documents: hits.documents,
      total: hits.total,
      cursor: context.wired('cursor') ? hits.next() : undefined,
      from_cache: fromCache,
    }))
  },
})

/** Here, so that who sent a wrong one is told which parameter it was. */
function checkCursor(search: Search): void {
  try {
    readCursor(search)
  } catch {
    throw new PinError(
      'after',
      isRelevanceOrder(search)
        ? 'cannot be used with results by best match: add a sort'
        : 'must be what cursor was on the page before, of the same search',
    )
  }
}
