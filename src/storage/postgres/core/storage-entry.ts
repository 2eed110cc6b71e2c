import type { Index } from '../../document-index.ts'
import type { ActiveUniqueKey } from '../../unique/active-unique-key.ts'
import type { SearchTarget } from '../sql/search-target.ts'

/** What is known of one storage. Also what searches are compiled against. */
export interface StorageEntry extends SearchTarget {
  readonly name: string
  /** Those that are there and valid, by the index's name in PostgreSQL. */
  readonly indexes: ReadonlyMap<string, Index>
  readonly unique: readonly ActiveUniqueKey[]
  /** Whether each write fills `tokens`; `textReady` once those of all documents are filled. */
  readonly needsText: boolean
}

/** Whether nothing but the database itself can refuse a document that has a guid of its own. */
export function isPlain(entry: StorageEntry): boolean {
  return entry.unique.length === 0 && !hasUniqueIndex(entry)
}

export function hasUniqueIndex({ indexes }: StorageEntry): boolean {
  for (const { unique } of indexes.values()) if (unique) return true
  return false
}
