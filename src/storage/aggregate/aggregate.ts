/**
 * Figures of groups of documents, as data. The compiler of each engine and the plain evaluator in
 * `test/conformance/aggregate-documents.ts` agree on the meaning.
 *
 * - A group is of one value of each grouping. Missing values, null, arrays and objects are the group `null`. Types are strict:
 *   "5", 5, true and 1 are four groups. Groupings do not look into arrays.
 * - `part`: the part of a calendar that a date falls into, as clocks of the time zone show it. A date is a day (2026-01-31, which
 *   has no hour and needs no time zone), an instant in ISO 8601 (UTC when it names no zone), seconds since 1970, or, from 1e11 on,
 *   milliseconds. What is no date of the years 1 to 9999 is in the group `null`.
 * - `ranges`: bounds of numbers in ascending order. A number belongs behind the last bound that it reaches.
 * - `count` without a field counts documents, with one those where it exists (as in a query). `distinct` counts different texts,
 *   numbers and booleans.
 * - `sum` and `average` are of numbers; all other values are left out. They are exact: a number counts as the decimal that JSON
 *   writes, so that the sum of 0.1 and 0.2 is 0.3 in any order. The result is rounded once, to the nearest double. The sum of no numbers is 0, their average null;
 *   what no double can hold is null.
 * - `min` and `max` follow the order of searches: booleans as 0 and 1, numbers before texts; null when there is none.
 * - Rows are ordered by `order`, then by the groupings; null is last. Without groupings there is one row.
 */
import type { Query } from '../../shared/query.ts'

export type DatePart = 'year' | 'quarter' | 'month' | 'week' | 'day' | 'hour'
export const dateParts: readonly DatePart[] = ['year', 'quarter', 'month', 'week', 'day', 'hour']

export interface Grouping {
  readonly field: string
  /** The name in a row. */
  readonly as: string
  readonly part?: DatePart
  /** Of a part: a name of the IANA database. */
  readonly zone?: string
  readonly ranges?: readonly number[]
}

export type Figure = 'count' | 'distinct' | 'sum' | 'average' | 'min' | 'max'
export const figures: readonly Figure[] = ['count', 'distinct', 'sum', 'average', 'min', 'max']

export interface Measure {
  readonly figure: Figure
  /** undefined: of `count`, all documents of the group. */
  readonly field?: string
  readonly as: string
}

export interface RowOrder {
  /** Of a grouping or a measure. */
  readonly name: string
  readonly order: 'asc' | 'desc'
}

export interface Aggregate {
  readonly query: Query
  readonly groups: readonly Grouping[]
  readonly values: readonly Measure[]
  readonly order: readonly RowOrder[]
  /** 0–10,000 rows. */
  readonly limit: number
}

/** Documents that fall into more are not aggregated. */
export const MOST_GROUPS = 10_000
