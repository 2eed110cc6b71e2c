import type { Index } from '../storage.ts'
import type { SearchTarget } from './search-target.ts'

/** What is known of one storage. Also what searches are compiled against. */
export interface StorageEntry extends SearchTarget {
  readonly id: number
  readonly name: string
  /** By the index's name in SQLite. */
  readonly indexes: Map<string, Index>
  /** Only while the free-text index holds all documents. */
  textTable: string | undefined
  /** Documents with a row number up to this are in the free-text index: -1 = there is none, Infinity = all are. */
  textUpTo: number
  /** False after a write that widened the shape was undone: what is in memory may then not be in the database. */
  shapeSaved: boolean
}
