import type { Index } from '../../document-index.ts'
import type { ActiveUniqueKey } from '../../unique/active-unique-key.ts'
import type { WrittenDocuments } from '../../written-documents.ts'
import type { CachedCounts } from '../cache/cached-counts.ts'
import type { TouchedDocuments } from '../cache/search-cache.ts'
import type { SearchTarget } from '../sql/sql-values.ts'
import type { FieldTexts } from '../text/field-texts.ts'
import type { TextPostings } from '../text/text-postings.ts'
import type { DocumentShape } from './document-shape.ts'

/** What is known of one storage. Also what searches are compiled against. */
export interface StorageEntry extends SearchTarget {
  readonly name: string
  shape: DocumentShape
  /** By the index's name in SQLite. */
  readonly indexes: Map<string, Index>
  /** Replaced and not changed. */
  unique: readonly ActiveUniqueKey[]
  /** Only while the free-text index holds all documents. */
  textTable: string | undefined
  /** Documents with a row number up to this are in the free-text index: -1 = there is none, Infinity = all are. */
  textUpTo: number
  /** From the first search or count on whose result is kept: see `sqlite-catalogue.ts`. */
  counts?: CachedCounts | undefined
  touched?: TouchedDocuments | undefined
  /** Whether a session searched since the cache was last checked after a commit. */
  isSearched?: boolean
  /** From the first question on when a document was written. */
  written?: WrittenDocuments | undefined
  /** While free text is ranked in memory. */
  postings?: TextPostings | undefined
  /** Characters of its documents: of the page of searches that had the longest, on average. */
  charactersEach?: number | undefined
  /** While there were searches in named fields. */
  fieldTexts?: FieldTexts | undefined
  /**
   * Raised whenever the writer's connection sees other documents to stay: by each segment that ended, and again when its
   * group failed.
   */
  revision: number
  /** Segments that ended and are not on disk yet. */
  unsaved: number
  /** False after a write that widened the shape was undone: what is in memory may then not be in the database. */
  shapeSaved: boolean
}
