/**
 * A query as a condition in SQL, true for exactly the documents that `evaluate-query.ts` says.
 *
 * Conditions may be NULL where a field is missing. AND and OR keep that apart from true, and `not` asks IS NOT TRUE.
 *
 * `doc ->> path` cannot tell true from 1, nor the string "[1]" from an array. Where the shape says that a field has held
 * what could be mistaken, the JSON type is asked too; where it has held arrays, their items are asked one by one. Only
 * that last form cannot use an index.
 */
import type { Bounds, Query, Scalar } from '../../../shared/query.ts'
import { composedBounds, soughtValues } from '../../../shared/texts/composed-text.ts'
import { type CompiledSql, FALSE, joinWith, sql, TRUE, wholeBounds } from '../../search/compiled-sql.ts'
import { ARRAY, BOOLEAN, NUMBER, OBJECT, STRING } from '../core/document-shape.ts'
import {
  EXPIRES,
  EXPIRY,
  type FieldSql,
  fieldSql,
  IS_REMOVED,
  indexExpression,
  REMOVED,
} from './field-sql.ts'
import { jsonValue, type SearchTarget, value } from './sql-values.ts'
import {
  caselessCondition,
  containsCondition,
  emptyCondition,
  fieldsCondition,
  foldedCondition,
} from './sqlite-field-condition.ts'
import { textCondition } from './sqlite-text-query.ts'

export function condition(target: SearchTarget, query: Query): CompiledSql {
  switch (query.kind) {
    case 'all':
      return TRUE
    case 'and':
      return joinWith(
        'AND',
        query.queries.map((inner) => condition(target, inner)),
      )
    case 'or':
      return joinWith(
        'OR',
        query.queries.map((inner) => condition(target, inner)),
      )
    case 'not':
      return sql`((${condition(target, query.query)}) IS NOT TRUE)`
    case 'filter':
      return condition(target, query.query)
    case 'exists':
      return sql`${fieldSql(target.shape, query.field).value} IS NOT NULL`
    case 'term':
      return soughtCondition(target, query)
    case 'terms':
      return termsCondition(target, { ...query, values: query.values.flatMap(soughtValues) })
    case 'range':
      return rangeCondition(target, query)
    case 'fields':
      return fieldsCondition(query)
    case 'contains':
      return joinWith(
        'OR',
        soughtValues(query.value).map((value) => containsCondition(target, { ...query, value })),
      )
    case 'caseless':
      return caselessCondition(target, query)
    case 'folded':
      return foldedCondition(target, query)
    case 'empty':
      return emptyCondition(target, query.field)
    case 'through':
      return throughCondition(target, query)
    case 'simple_query_string':
      return textCondition(target, query)
  }
}

/**
 * A guid is like no JSON text of an array or an object, so the plain comparison is exact. An index of the field serves only where
 * the guid has no affinity, which the plus takes from it.
 */
function throughCondition(
  target: SearchTarget,
  { field, storage, query }: Extract<Query, { kind: 'through' }>,
): CompiledSql {
  const other = target.other?.(storage)
  if (other === undefined) return FALSE
  const found = condition(other, query)
  return sql`${indexExpression(field)} IN (SELECT +guid FROM ${other.table} WHERE removed = 0 AND ${found})`
}

type ScalarType = 'string' | 'number' | 'boolean'

const typeBit = { string: STRING, number: NUMBER, boolean: BOOLEAN }
const jsonTypes = { string: `'text'`, number: `'integer', 'real'`, boolean: `'true', 'false'` }
/** What `->>` gives the same value for. */
const lookAlikes = { string: ARRAY | OBJECT, number: BOOLEAN, boolean: NUMBER }
const scalarTypes = ['string', 'number', 'boolean'] as const

type Term = Extract<Query, { kind: 'term' }>
type Terms = Extract<Query, { kind: 'terms' }>
type Range = Extract<Query, { kind: 'range' }>

/** A field as a comparison reads it: with `scalar`, no items of arrays. */
interface Read extends FieldSql {
  readonly scalar: true | undefined
}

function readOf(target: SearchTarget, { field, scalar }: Pick<Term, 'field' | 'scalar'>): Read {
  return { ...fieldSql(target.shape, field), scalar }
}

function canHold(read: Read, type: ScalarType): boolean {
  return (read.types & (typeBit[type] | (read.scalar ? 0 : ARRAY))) !== 0
}

/** Whether the plain comparison is exact: nothing that was ever there could be mistaken for it. */
function isPlain(field: FieldSql, type: ScalarType): boolean {
  return field.fixed || (field.types & (lookAlikes[type] | ARRAY)) === 0
}

function soughtCondition(target: SearchTarget, query: Term): CompiledSql {
  const values = soughtValues(query.value)
  return values.length === 1
    ? termCondition(target, query)
    : termsCondition(target, { ...query, kind: 'terms', values })
}

function termCondition(target: SearchTarget, query: Term): CompiledSql {
  const { field, value: requested } = query
  if (field === '_meta.created' && typeof requested === 'number')
    return createdCondition({ gte: requested, lte: requested })
  const type = scalarType(requested)
  return typed(readOf(target, query), type, (read) => sql`${read} = ${parameter(requested)}`)
}

/**
 * A request's parameter is text and may mean a number too, so texts and numbers are often asked for together. Of what the
 * field never held nothing is asked, which nearly always leaves one equality, and what is left is one list where it can be:
 * an index serves either, but not an OR of two lists.
 */
function termsCondition(target: SearchTarget, query: Terms): CompiledSql {
  const requested = query.values
  const read = readOf(target, query)
  const held = scalarTypes.filter((type) => canHold(read, type))
  const values = requested.filter((value) => held.includes(scalarType(value)))
  const [only] = values
  if (only === undefined) return FALSE
  if (values.length === 1) return termCondition(target, { ...query, kind: 'term', value: only })
  const types = held.filter((type) => values.some((value) => scalarType(value) === type))
  if (types.every((type) => isPlain(read, type))) return isOneOf(read.value, values)
  const groups = types.map((type) => {
    const group = values.filter((value) => scalarType(value) === type)
    return typed(read, type, (one) => isOneOf(one, group))
  })
  return joinWith('OR', groups)
}

/** One parameter however many values, so that the statement's text does not change with their number. */
function isOneOf(read: string, values: readonly Scalar[]): CompiledSql {
  return sql`${read} IN (SELECT value FROM json_each(${value(JSON.stringify(values))}))`
}

function rangeCondition(target: SearchTarget, query: Range): CompiledSql {
  const { field } = query
  const bounds = composedBounds(query.bounds)
  const { gte, gt, lte, lt } = bounds
  const type = typeof (gte ?? gt ?? lte ?? lt) === 'string' ? 'string' : 'number'
  if (field === '_meta.created' && type === 'number') return createdCondition(bounds)
  return typed(readOf(target, query), type, (read) => {
    const tests = [
      ...bound(read, '>=', gte),
      ...bound(read, '>', gt),
      ...bound(read, '<=', lte),
      ...bound(read, '<', lt),
    ]
    // SQLite puts every number before every text, so '' is the border that keeps a half-open range among its own type.
    if (type === 'string' && gte === undefined && gt === undefined) tests.push(sql`${read} >= ''`)
    if (type === 'number' && lte === undefined && lt === undefined) tests.push(sql`${read} < ''`)
    return joinWith('AND', [...tests, ...impliedBy(field, bounds)])
  })
}

/** What the parameters say already, for the planner: an index of what expires, or of what was removed, serves. */
function impliedBy(field: string, { gte, gt }: Bounds): CompiledSql[] {
  const least = gte ?? gt
  if (typeof least !== 'number') return []
  if (field === EXPIRY && least >= 0) return [{ sql: EXPIRES, parameters: [] }]
  const isPositive = least > 0 || (least === 0 && gte === undefined)
  return field === REMOVED && isPositive ? [{ sql: IS_REMOVED, parameters: [] }] : []
}

function bound(read: string, operator: string, limit: string | number | undefined): CompiledSql[] {
  return limit === undefined ? [] : [sql`${read} ${operator} ${parameter(limit)}`]
}

/**
 * `test` on the field's value if that has this type, or on the items of an array that have it.
 */
function typed(field: Read, type: ScalarType, test: (read: string) => CompiledSql): CompiledSql {
  // Also keeps SQLite from converting: a column is INTEGER or TEXT and would make "5" and 5 equal.
  if (!canHold(field, type)) return FALSE
  if (isPlain(field, type)) return test(field.value)
  if (field.types & ARRAY && !field.scalar) {
    // json_each gives the items of an array, a scalar itself, and the values of an object, which do not count.
    const items = sql`EXISTS (SELECT 1 FROM json_each(doc, ${field.path}) WHERE type IN (${jsonTypes[type]}) AND ${test('value')})`
    return field.types & OBJECT ? sql`(json_type(doc, ${field.path}) <> 'object' AND ${items})` : items
  }
  return sql`(${test(field.value)} AND json_type(doc, ${field.path}) IN (${jsonTypes[type]}))`
}

function scalarType(scalar: Scalar): ScalarType {
  return typeof scalar === 'string' ? 'string' : typeof scalar === 'number' ? 'number' : 'boolean'
}

function parameter(scalar: Scalar): CompiledSql {
  return typeof scalar === 'string' ? value(scalar) : jsonValue(scalar)
}

/** `_meta.created` is the column's milliseconds in whole seconds; the column has the index. */
function createdCondition(bounds: Bounds): CompiledSql {
  const { from, before } = wholeBounds(bounds)
  return joinWith('AND', [
    ...from.map((second) => sql`created >= ${value(second * 1000)}`),
    ...before.map((second) => sql`created < ${value(second * 1000)}`),
  ])
}
