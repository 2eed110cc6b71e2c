/** Which searches words in memory may lead to. */
import type { Search } from '../../../shared/query.ts'
import { otherStorages } from '../../search/other-storages.ts'
import { isRelevanceOrder } from '../../search/rank-text.ts'
import { decidesFirst } from '../sql/decide-texts.ts'
import type { SearchTarget } from '../sql/search-target.ts'

/** Of a page and all before it. */
export const MOST_HITS = 5_000

export function isServed(target: SearchTarget, search: Search): boolean {
  return (
    target.textReady &&
    !search.includeRemoved &&
    search.after === undefined &&
    search.limit + search.offset <= MOST_HITS &&
    isRelevanceOrder(search) &&
    otherStorages(search.query).length === 0 &&
    // Of misspelled words PostgreSQL finds out what they may be.
    !decidesFirst(target, search.query)
  )
}
