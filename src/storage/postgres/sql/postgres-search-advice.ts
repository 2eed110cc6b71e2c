/** Tells the advisor of searches that took long. */
import { type Search, search } from '../../../shared/query.ts'
import type { SearchedStorage } from '../../search/index-advice.ts'
import type { SearchAdvisor } from '../../search/search-advisor.ts'
import type { StorageEntry } from '../core/postgres-catalogue.ts'
import type { PostgresConnection } from '../core/rows.ts'
import { countDocuments } from './postgres-query.ts'

/** Does the search. What was slow is looked at before its result goes on: another count or two, once a shape. */
export async function recorded<T>(
  advisor: SearchAdvisor,
  connection: PostgresConnection,
  entry: StorageEntry,
  kind: 'find' | 'count',
  requested: Pick<Search, 'query' | 'includeRemoved'> & Partial<Search>,
  work: () => Promise<T>,
): Promise<T> {
  const started = performance.now()
  const result = await work()
  const milliseconds = performance.now() - started
  if (milliseconds < advisor.limits.milliseconds) return result
  const finished = { storage: entry.table, kind, search: search(requested), milliseconds }
  const look = advisor.look(finished, searchedStorage(entry))
  if (look === undefined) return result
  const { reads, readsRemoved } = look.advice
  look.keep(look.worse ? await countDocuments(connection, entry, reads, readsRemoved) : 0)
  return result
}

export function searchedStorage(entry: StorageEntry): SearchedStorage {
  // Statements find out by themselves whether lists are in the way (search-plan.ts).
  return { indexes: [...entry.indexes.values()], text: entry.textReady, holdsLists: () => false }
}
