/**
 * Searches as data. Three things give a query its meaning and must agree: the compiler of each engine and the plain
 * evaluator in `storage/search/evaluate-query.ts`, which is the reference.
 *
 * What holds for all of them:
 * - A field is a dotted name; `_meta.…` is allowed. A path goes through objects, not into array items.
 * - Types are strict: the string "5" is not the number 5, true is not 1.
 * - `term`, `terms` and `range` hold for an array when they hold for one of its items (one level; one item must satisfy
 *   the whole range). Objects never match.
 * - With `scalar` they look at the field's own value only: the items of an array do not count.
 * - Ranges compare numbers with number bounds and strings with string bounds, strings by code point.
 * - `exists` holds when the field is there and not null.
 * - `not` holds exactly where the inner query does not: missing fields included.
 * - `and` of nothing holds for all, `or` of nothing holds for none.
 */
import type { Collation, TextFolding, TextTest } from './texts/collations.ts'

export type Scalar = string | number | boolean

export type Query =
  | { readonly kind: 'all' }
  | { readonly kind: 'and'; readonly queries: readonly Query[] }
  | { readonly kind: 'or'; readonly queries: readonly Query[] }
  | { readonly kind: 'not'; readonly query: Query }
  /** Same documents as `query`; what is inside never counts for the ranking. */
  | { readonly kind: 'filter'; readonly query: Query }
  | { readonly kind: 'term'; readonly field: string; readonly value: Scalar; readonly scalar?: true }
  | {
      readonly kind: 'terms'
      readonly field: string
      readonly values: readonly Scalar[]
      readonly scalar?: true
    }
  | { readonly kind: 'range'; readonly field: string; readonly bounds: Bounds; readonly scalar?: true }
  | { readonly kind: 'exists'; readonly field: string }
  /** Two fields of one document: equal when both are missing or null, or hold the same text, number or boolean. */
  | {
      readonly kind: 'fields'
      readonly field: string
      readonly operator: FieldOperator
      readonly other: string
    }
  /** An array with this item, or a text with this text in it. */
  | { readonly kind: 'contains'; readonly field: string; readonly value: Scalar }
  /** A text that is, has in it, begins or ends with this one, whatever the case of their letters is (`texts/caseless-text.ts`). */
  | {
      readonly kind: 'caseless'
      readonly field: string
      readonly test: TextTest | 'endsWith'
      readonly value: string
    }
  /** A text that is the same as one of these, has it in it or begins with it, by what its field ignores (`texts/folded-text.ts`). */
  | {
      readonly kind: 'folded'
      readonly field: string
      readonly test: TextTest
      readonly values: readonly string[]
      readonly folding: TextFolding
    }
  /** Missing, null, a text without a visible character, an empty array or object. */
  | { readonly kind: 'empty'; readonly field: string }
  /** The field holds the guid of a present document of another storage for which the query holds. */
  | {
      readonly kind: 'through'
      readonly field: string
      readonly storage: string
      readonly query: Query
    }
  /** Free text in the grammar of `simple-query-string.ts`. No fields = all text of the document. */
  | { readonly kind: 'simple_query_string'; readonly fields: readonly string[]; readonly text: string }

/** Order is among numbers, among texts and among booleans (false before true); nothing else has one. */
export type FieldOperator = '==' | '<' | '<='

/** At least one bound. All given bounds are of one type. */
export interface Bounds {
  readonly gte?: string | number
  readonly gt?: string | number
  readonly lte?: string | number
  readonly lt?: string | number
}

/**
 * Order of a field's values: booleans as 0 and 1 among the numbers, then numbers, then strings by code point. Missing,
 * null, arrays and objects count as missing and stand where `missing` says, whatever the order is.
 */
export interface SortKey {
  readonly field: string
  readonly order: 'asc' | 'desc'
  readonly missing: 'first' | 'last'
  /** Strings as people sort them and not by code point. */
  readonly collation?: Collation
}

/**
 * One page of documents.
 *
 * Order: by `sort`; ties by creation (milliseconds, then guid) in the direction of the last sort key. Without `sort`:
 * by relevance when the query has a `simple_query_string` outside `filter` and `not`, else newest first; relevance ties
 * are newest first too.
 */
export interface Search {
  readonly query: Query
  readonly sort: readonly SortKey[]
  /** 0–10,000. */
  readonly limit: number
  /** 0–10,000. */
  readonly offset: number
  /** Continue behind this cursor (a `next` of the same search). Not together with relevance order. */
  readonly after?: string
  readonly includeRemoved: boolean
}

export const matchAll: Query = { kind: 'all' }

/** A search for all present documents, newest first, with what is given changed. */
export function search(changes: Partial<Search> = {}): Search {
  return { query: matchAll, sort: [], limit: 20, offset: 0, includeRemoved: false, ...changes }
}
