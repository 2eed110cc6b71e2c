import type { Index } from '../../document-index.ts'
import type { KeptKey } from '../../unique/kept-key.ts'
import type { SearchTarget } from '../sql/search-target.ts'

/** What is known of one storage. Also what searches are compiled against. */
export interface StorageEntry extends SearchTarget {
  readonly name: string
  /** Those that are there and valid, by the index's name in PostgreSQL. */
  readonly indexes: ReadonlyMap<string, Index>
  readonly unique: readonly KeptKey[]
  /** Whether each write fills `tokens`; `textReady` once those of all documents are filled. */
  readonly textWanted: boolean
}
