import type { DocumentShape } from '../document-shape.ts'

/** What a search runs on. */
export interface SearchTarget {
  readonly table: string
  /** undefined: no free-text index; then a function reads every document. */
  readonly textTable: string | undefined
  readonly shape: DocumentShape
}
