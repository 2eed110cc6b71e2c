import type { Index } from '../../document-index.ts'
import type { KeyColumns } from './field-sql.ts'

/** What a search runs on. */
export interface SearchTarget {
  readonly id: number
  readonly table: string
  /** Whether `tokens` and `token_count` of all documents are filled. */
  readonly textReady: boolean
  /** Whether the database notes each write (`cache/change-log.ts`). */
  readonly noted: boolean
  /** Another storage. */
  readonly other?: ((storage: string) => SearchTarget | undefined) | undefined
  /** Of these fields all documents have key columns. */
  readonly columns: KeyColumns
  /** Those that are there and valid, by name. */
  readonly indexes: ReadonlyMap<string, Index>
}
