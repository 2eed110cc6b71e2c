/** The columns of an aggregate's groupings. */
import type { Grouping } from '../../aggregate/aggregate.ts'
import type { GroupKey } from '../../aggregate/finish-aggregate.ts'
import { type CompiledSql, sql } from '../../search/compiled-sql.ts'
import { numberOf, type Row, textOf } from '../core/rows.ts'
import { isScalar } from './aggregate-cells.ts'
import {
  type DateColumn,
  dateBucketSql,
  datePartSql,
  type InstantBucket,
  instantBucket,
} from './date-bucket-sql.ts'
import { FIRST_LIST, FIRST_TEXT, numberOfKey, numbers, TRUE_KEY } from './field-sql.ts'

/** A column of documents that a grouping reads. */
export type GroupedColumn = DateColumn & {
  /** JSON that no expression may name twice, since each time the document would be read. */
  readonly isReadOnce?: boolean
}

export interface GroupColumn {
  /** What documents are grouped by first: more groups than there are keys, for what costs less. */
  readonly bucket: CompiledSql
  /** The key of a bucket. undefined: it is the key. */
  readonly key: ((bucket: string) => CompiledSql) | undefined
  /** Documents that have a bucket of less cost. */
  readonly instants?: InstantBucket | undefined
  /** A column that is the bucket of all documents but those with true, false, 1 or 0, where none has an odd value. */
  readonly plainKey?: string
}

/** `mayMerge`: groups can be put together to larger ones. */
export function groupColumn(grouping: Grouping, column: GroupedColumn, mayMerge: boolean): GroupColumn {
  const { part, zone = 'UTC', ranges } = grouping
  if (part !== undefined) {
    const bucket = dateBucketSql(column, mayMerge ? zone : undefined)
    const key = (name: string) => datePartSql(name, part, zone)
    return mayMerge
      ? { bucket: plain(bucket), key, instants: instantBucket(column, zone) }
      : { bucket: key(`(${bucket})`), key: undefined }
  }
  if (column.kind === 'key')
    return { bucket: keyBucket(column, ranges), key: undefined, ...(!ranges && { plainKey: column.read }) }
  const json = column.kind === 'json' ? column.read : `to_json(${column.read})`
  if (ranges) {
    const range = sql`CASE WHEN json_typeof(${json}) = 'number' THEN width_bucket((${json} #>> '{}')::float8, ${numbers(ranges, 'float8')}) END`
    return { bucket: range, key: undefined }
  }
  if (column.isReadOnce) return { bucket: plain(`(${json})::text COLLATE "C"`), key: scalarKey }
  return { bucket: plain(`CASE WHEN ${isScalar(json)} THEN ${json}::text END COLLATE "C"`), key: undefined }
}

export function keyOf(row: Row, { part, ranges }: Grouping, at: number): GroupKey {
  const key = row[`k${at}`]
  if (key === null) return null
  if (part !== undefined || ranges) return numberOf(row, `k${at}`)
  const text = textOf(row, `k${at}`)
  // No JSON begins like a key.
  if (text.startsWith('s')) return text.slice(1)
  if (text.startsWith('b')) return text === `b${TRUE_KEY}`
  return text.startsWith('n') ? numberOfKey(text) : JSON.parse(text)
}

/** The key of a text or number; of true and false, which numbers have the keys of, with a `b` before it. */
function keyBucket(
  { read, number }: Extract<GroupedColumn, { kind: 'key' }>,
  ranges: readonly number[] | undefined,
): CompiledSql {
  if (ranges)
    return sql`CASE WHEN ${number} IS NOT NULL THEN width_bucket(${number}::float8, ${numbers(ranges, 'float8')}) END`
  return plain(
    `CASE WHEN ${read} >= '${FIRST_LIST}' THEN NULL WHEN ${number} IS NOT NULL OR ${read} >= '${FIRST_TEXT}' THEN ${read} ELSE 'b' || ${read} END COLLATE "C"`,
  )
}

/** Of a scalar its JSON text, which is the same for the same value: JavaScript wrote it. */
function scalarKey(text: string): CompiledSql {
  return plain(
    `CASE WHEN left(${text}, 1) NOT IN ('{', '[') AND ${text} <> 'null' THEN ${text} END COLLATE "C"`,
  )
}

function plain(text: string): CompiledSql {
  return { sql: text, parameters: [] }
}
