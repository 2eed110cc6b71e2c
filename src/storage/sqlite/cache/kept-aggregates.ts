/**
 * Aggregates in the cache of searches: each as a page whose documents are the rows. It is dropped when a document was written
 * that the query found before or finds now.
 */

import { search } from '../../../shared/query.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import { type Aggregated, tooManyGroups } from '../../aggregate/finish-aggregate.ts'
import type { Found } from '../../database.ts'
import type { SearchCache } from './search-cache.ts'

/** No search has it: theirs begin with a brace. */
export function aggregateKey(wanted: Aggregate): string {
  return `aggregate ${JSON.stringify(wanted)}`
}

/** What was kept at this version, or what `work` gives, which is then kept. */
export function keptAggregate(
  results: SearchCache,
  storage: string,
  version: number,
  wanted: Aggregate,
  work: () => Aggregated,
): Aggregated {
  const key = aggregateKey(wanted)
  // With a sort, so that free text in the query is a condition and no ranking.
  const sort = [{ field: '_meta.created', order: 'asc', missing: 'last' }] as const
  const page = { search: search({ query: wanted.query, sort }), key }
  return aggregatedOf(results.found(storage, version, page, () => pageOf(work())))
}

const NONE = -1

function pageOf({ rows, total }: Aggregated): Found {
  return { documents: rows, length: total ?? NONE, next: () => undefined }
}

function aggregatedOf({ documents, length }: Found): Aggregated {
  return length === NONE ? tooManyGroups : { rows: documents, total: length }
}
