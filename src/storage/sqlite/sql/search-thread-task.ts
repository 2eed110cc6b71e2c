/** What a process and its search thread say to each other. */

import type { ErrorCode } from '../../../shared/errors.ts'
import type { Query, Search } from '../../../shared/query.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import type { RankedPhrase } from '../../search/rank-text.ts'
import type { PlacedText } from '../text/text-places.ts'

/** Each in a read transaction of its own: what it finds is of one moment, after it was asked for. */
export type SearchTask =
  | {
      readonly kind: 'find'
      readonly storage: string
      readonly search: Search
      /** Whether to count as well, in the same transaction. */
      readonly total: boolean
      /** In units of search-effort.ts. */
      readonly effort: number
    }
  | {
      readonly kind: 'count'
      readonly storage: string
      readonly query: Query
      readonly includeRemoved: boolean
      readonly effort: number
    }
  | {
      readonly kind: 'aggregate'
      readonly storage: string
      readonly aggregate: Aggregate
      readonly effort: number
    }
  /** Which documents contain a word, for the caller's index in memory. */
  | { readonly kind: 'places'; readonly text: PlacedText; readonly phrase: RankedPhrase }
  /** The words of an index that are like this one. */
  | {
      readonly kind: 'similar'
      readonly textTable: string
      readonly token: string
      readonly distance: number
    }

export type SearchAnswer =
  | (FoundAside & { readonly kind: 'found' })
  | (CountedAside & { readonly kind: 'counted' })
  | (AggregatedAside & { readonly kind: 'aggregated' })
  | { readonly kind: 'places'; readonly rows: Int32Array; readonly counts: Uint16Array }
  | { readonly kind: 'similar'; readonly words: readonly string[] }
  /** The error of a task that failed, as data: errors lose their class on the way between threads. */
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: 'damaged'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string }

export interface FoundAside {
  /** What it took. */
  readonly milliseconds: number
  /** A JSON array. */
  readonly documents: string
  readonly length: number
  /** undefined if it was not asked for. */
  readonly total: number | undefined
}

export interface CountedAside {
  readonly milliseconds: number
  readonly total: number
}

export interface AggregatedAside {
  readonly milliseconds: number
  /** A JSON array. */
  readonly rows: string
  /** undefined: too many groups. */
  readonly total: number | undefined
}

export interface SearchThreadData {
  readonly path: string
}
