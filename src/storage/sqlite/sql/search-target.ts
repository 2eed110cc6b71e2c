import type { CompiledSql } from '../../search/compiled-sql.ts'
import type { TextClause } from '../../search/rank-text.ts'
import type { DocumentShape } from '../core/document-shape.ts'

/** What a search runs on. */
export interface SearchTarget {
  /** The storage's number. */
  readonly id: number
  readonly table: string
  /** undefined: no free-text index; then a function reads every document. */
  readonly textTable: string | undefined
  readonly shape: DocumentShape
  /** Another storage, as the connection sees it. */
  readonly other?: ((storage: string) => SearchTarget | undefined) | undefined
  /** The condition of a free text whose documents are known already. */
  readonly marked?: ((clause: TextClause) => CompiledSql | undefined) | undefined
}
