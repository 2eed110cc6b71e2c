/** Searches that look into further storages, through references. */
import type { Query } from '../../shared/query.ts'

/** The storages that a query looks into beside its own. */
export function otherStorages(query: Query): readonly string[] {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.queries.flatMap(otherStorages)
    case 'not':
    case 'filter':
      return otherStorages(query.query)
    case 'through':
      return [query.storage, ...otherStorages(query.query)]
    default:
      return []
  }
}

/**
 * Whether a result may be kept for its storage alone. `key`: the search as JSON. A text that looks like such a query costs its
 * search the cache, no more.
 */
export function isOfOneStorage(key: string): boolean {
  return !key.includes('"kind":"through"')
}
