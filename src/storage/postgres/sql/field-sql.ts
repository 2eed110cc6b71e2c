import { createHash } from 'node:crypto'
import { parseFieldPath } from '../../../shared/field-path.ts'
import { lruCache } from '../../../shared/lru-cache.ts'
import type { Scalar } from '../../../shared/query.ts'
import type { Collation } from '../../../shared/texts/collations.ts'
import { tailoring } from '../../../shared/texts/text-order.ts'
import { readIndexed } from '../../document-index.ts'
import type { CompiledSql, SqlValue } from '../../search/compiled-sql.ts'
import type { PostgresConnection, Row } from '../core/rows.ts'

// The JavaScript twin of `quoin_full_key` (migrations/0002-search.sql): makes the keys of a search's own values.

/** Keys of numbers are from 'n' on and before this; keys of texts are from 's' on. */
export const AFTER_NUMBERS = 'o'
export const FIRST_TEXT = 's'
/** Only in key columns: what is not plain, which is texts too long for an index, and then arrays and objects. */
const FIRST_UNUSUAL = 't'
export const FIRST_LIST = 'u'
export const TRUE_KEY = 'nbff0000000000000'
export const FALSE_KEY = 'n8000000000000000'

const SIGN = 1n << 63n
const ALL = (1n << 64n) - 1n
const view = new DataView(new ArrayBuffer(8))

/** Booleans are the numbers 1 and 0: they sort so. Equality asks the type besides. */
export function sortKey(scalar: Scalar): string {
  return typeof scalar === 'string' ? `s${scalar}` : numberKey(Number(scalar))
}

/** The number of a key that begins with 'n'. */
export function numberOfKey(key: string): number {
  const bits = BigInt(`0x${key.slice(1)}`)
  view.setBigUint64(0, bits & SIGN ? bits ^ SIGN : bits ^ ALL)
  return view.getFloat64(0)
}

/** The bits of a double sort like the number once those of a negative one are turned round, and the sign of others. */
function numberKey(number: number): string {
  view.setFloat64(0, number + 0)
  const bits = view.getBigUint64(0)
  const sorted = bits & SIGN ? bits ^ ALL : bits | SIGN
  return `n${sorted.toString(16).padStart(16, '0')}`
}

/** How a field is read in SQL, in a statement over a document table. */
export type FieldSql =
  /** A whole number of `_meta` that is a column: the column is `unit` times the field, rounded down to it. */
  | { readonly kind: 'whole'; readonly column: string; readonly unit: number; readonly read: string }
  | { readonly kind: 'text'; readonly read: string }
  | JsonSql

/** A value as JSON, NULL where the field is missing, and as text: of a text itself, without its quotes. */
export interface JsonSql {
  readonly kind: 'json'
  readonly json: string
  readonly text: string
}

const metaFields: Readonly<Record<string, FieldSql>> = {
  '_meta.guid': { kind: 'text', read: 'guid' },
  '_meta.created': { kind: 'whole', column: 'created', unit: 1000, read: '(created / 1000)' },
  '_meta.updated': { kind: 'whole', column: 'updated', unit: 1000, read: '(updated / 1000)' },
  '_meta.cms': { kind: 'whole', column: 'created', unit: 1, read: 'created' },
  '_meta.ums': { kind: 'whole', column: 'updated', unit: 1, read: 'updated' },
  '_meta.removed': { kind: 'whole', column: 'removed', unit: 1, read: 'removed' },
}

export const REMOVED = '_meta.removed'
/** True of documents that were removed; others hold 0 there. */
export const IS_REMOVED = 'removed > 0'
/**
 * Not removed, for documents that are asked for by guid. With `removed = 0` PostgreSQL read the whole index over present documents where
 * it did not know yet how many there are: 3.2 ms among 10,000 instead of 0.2 ms.
 */
export const IS_PRESENT = 'removed <= 0'

/** By name: a search asks some ten times for each of its fields. */
const known = lruCache<string, FieldSql>(1_000)

export function fieldSql(field: string): FieldSql {
  const before = known.get(field)
  if (before) return before
  const found = readField(field)
  known.set(field, found)
  return found
}

function readField(field: string): FieldSql {
  const meta = Object.hasOwn(metaFields, field) ? metaFields[field] : undefined
  return meta ?? { kind: 'json', json: jsonField(field), text: `(${pathSql(field, '->>')})` }
}

/**
 * The expression that conditions, orders and indexes share: the planner uses an index only for the very same one. As it
 * stands in the list of an index: `k1`, `(quoin_key(doc -> 'status') COLLATE "C")`, `guid`, `(created / 1000)`.
 */
export function indexExpression(indexed: string, columns: KeyColumns): string {
  const { field, collation } = readIndexed(indexed)
  const read = fieldSql(field)
  return read.kind === 'json' ? sortedSql(keyOf(field, columns), collation) : read.read
}

/** The key by which texts sort as people sort them, of either key below (see migrations/0016-sorted-texts.sql). */
export function sortedSql(key: string, collation: Collation | undefined): string {
  if (collation === undefined) return key
  const pairs = tailoring(collation).flat().join(',')
  return `(quoin_sorted(${key}, '{${pairs}}') COLLATE "C")`
}

/** Fields of `doc` that have key columns, with the number of the columns (core/key-columns.ts). */
export type KeyColumns = ReadonlyMap<string, number>

/** The key of an indexed field. Only for fields whose values are all plain (see migrations/0002-search.sql). */
export function keyOf(field: string, columns: KeyColumns): string {
  const number = columns.get(field)
  return number === undefined ? `(quoin_key(${jsonField(field)}) COLLATE "C")` : `k${number}`
}

/** The key of any value of a field that has columns: with all of a long text, and 'u' for arrays and objects. */
export function wholeKeyOf(field: string, columns: KeyColumns): string {
  const key = keyOf(field, columns)
  const whole = `quoin_full_key(${jsonField(field)})`
  return `(CASE WHEN ${key} < '${FIRST_UNUSUAL}' THEN ${key} WHEN ${key} < '${FIRST_LIST}' THEN ${whole} ELSE left(${key}, 1) END COLLATE "C")`
}

/** The number of a field that has columns; NULL of what is none. */
export function numberOf(field: string, columns: KeyColumns): string {
  return `v${columns.get(field)}`
}

/** Quarters of an hour since 1970 of an instant; NULL of all else, and of dates that are written otherwise. */
export function quarterOf(field: string, columns: KeyColumns): string {
  return `t${columns.get(field)}`
}

/** Whether a key is of a value of the type. undefined: keys of texts are no others'. Numbers share theirs with true and false. */
export function isOfType(
  field: string,
  columns: KeyColumns,
  type: 'string' | 'number' | 'boolean',
): string | undefined {
  if (type === 'string') return undefined
  const number = columns.get(field)
  if (number === undefined) return `json_typeof(${jsonField(field)}) = '${type}'`
  return `v${number} IS ${type === 'number' ? 'NOT NULL' : 'NULL'}`
}

/** The key of any value. No index is over it. */
export function fullKeyOf(json: string): string {
  return `(quoin_full_key(${json}) COLLATE "C")`
}

/**
 * The index that stands beside each index over a field: of the few documents whose value there is odd (an array or a long
 * text), so that a search can ask at no cost whether there is one. It is usually empty. undefined for fields of `_meta`.
 */
export function unexpectedTypeIndex(
  table: string,
  indexed: string,
  columns: KeyColumns,
): { name: string; sql: string } | undefined {
  const { field } = readIndexed(indexed)
  const read = fieldSql(field)
  if (read.kind !== 'json') return undefined
  const number = columns.get(field)
  if (number !== undefined) {
    const name = `${table}_odd_k${number}`
    return { name, sql: `CREATE INDEX ${name} ON ${table} (created) WHERE ${isUnusual(field, columns)}` }
  }
  const name = `${table}_odd_${createHash('sha256').update(field).digest('hex').slice(0, 12)}`
  return { name, sql: `CREATE INDEX ${name} ON ${table} (created) WHERE ${isUnusual(field, columns)}` }
}

function isUnusual(field: string, columns: KeyColumns): string {
  const number = columns.get(field)
  return number === undefined ? `quoin_odd(${jsonField(field)})` : `k${number} >= '${FIRST_UNUSUAL}'`
}

/** Whether no document has an odd value at the field. The order is what makes the planner take the index. */
export function allPlain(table: string, field: string, columns: KeyColumns): string {
  return `(SELECT created FROM ${table} WHERE ${isUnusual(field, columns)} ORDER BY created LIMIT 1) IS NULL`
}

/**
 * The only way of a field name into SQL: as JSON. `parseFieldPath` refuses quotes, backslashes and control characters,
 * and doubled apostrophes keep a part inside its literal. `->` with a text reaches into objects only, also for `0`.
 */
export function jsonField(field: string): string {
  return pathSql(field, '->')
}

function pathSql(field: string, last: '->' | '->>'): string {
  const parts = parseFieldPath(field).map((part) => `'${part.replaceAll("'", "''")}'`)
  return `doc${parts.map((part, at) => ` ${at === parts.length - 1 ? last : '->'} ${part}`).join('')}`
}

// How values stand in SQL for PostgreSQL, which numbers them over the whole statement.

/**
 * Stands for a number until the statement is whole. Nothing else can hold this character: a field name with a control
 * character is refused, and values are never text of a statement.
 */
const PLACE = '\u0001'

export function value(parameter: SqlValue): CompiledSql {
  return { sql: PLACE, parameters: [parameter] }
}

/** Many texts as one parameter, so that a statement's text does not change with their number. */
export function texts(list: readonly string[]): CompiledSql {
  return { sql: `${PLACE}::text[]`, parameters: [arrayLiteral(list)] }
}

/** Many numbers as one parameter. */
export function numbers(list: readonly number[], type: 'bigint' | 'float8'): CompiledSql {
  return { sql: `${PLACE}::${type}[]`, parameters: [`{${list.join(',')}}`] }
}

/** A whole statement: its text, with $1, $2 …, and its values. */
export function statement(compiled: CompiledSql): { text: string; values: SqlValue[] } {
  let number = 0
  return {
    text: compiled.sql.replaceAll(PLACE, () => `$${++number}`),
    values: [...compiled.parameters],
  }
}

/** The row of a statement that always gives one. */
export async function oneRow(connection: PostgresConnection, requested: CompiledSql): Promise<Row> {
  const { text, values } = statement(requested)
  const [row] = await connection.rows(text, values)
  if (!row) throw new TypeError('The statement gave no row.')
  return row
}

function arrayLiteral(list: readonly string[]): string {
  return `{${list.map((item) => `"${item.replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}
