/**
 * A query as a condition in SQL, true for exactly the documents that `evaluate-query.ts` says.
 *
 * Conditions may be NULL where a field is missing. AND and OR keep that apart from true, and `not` asks IS NOT TRUE.
 *
 * Keys (migrations/0002-search.sql) tell texts from numbers, but not true from 1: the JSON type is asked besides.
 */
import type { Bounds, Query, Scalar } from '../../../shared/query.ts'
import { composedBounds, soughtValues } from '../../../shared/texts/composed-text.ts'
import { type CompiledSql, FALSE, joinWith, sql, TRUE, wholeBounds } from '../../search/compiled-sql.ts'
import {
  AFTER_NUMBERS,
  FIRST_TEXT,
  type FieldSql,
  fieldSql,
  IS_REMOVED,
  indexExpression,
  isOfType,
  type JsonSql,
  keyOf,
  numbers,
  REMOVED,
  sortKey,
  texts,
  value,
} from './field-sql.ts'
import {
  caselessCondition,
  containsCondition,
  emptyCondition,
  fieldsCondition,
  foldedCondition,
} from './postgres-field-condition.ts'
import { textCondition } from './postgres-text-query.ts'
import { plainlyAsked, type SearchPlan, UNDECIDED } from './search-plan.ts'
import type { SearchTarget } from './search-target.ts'

export function condition(plan: SearchPlan, query: Query): CompiledSql {
  switch (query.kind) {
    case 'all':
      return TRUE
    case 'and':
    case 'or':
      return joinWith(
        query.kind === 'and' ? 'AND' : 'OR',
        query.queries.map((inner) => condition(plan, inner)),
      )
    case 'not':
      return sql`((${condition({ ...plan, wordsOnly: false }, query.query)}) IS NOT TRUE)`
    case 'filter':
      return condition(plan, query.query)
    case 'exists':
      return existsCondition(plan.target, query.field)
    case 'term':
      return termsCondition(plan, query, soughtValues(query.value))
    case 'terms':
      return termsCondition(plan, query, query.values.flatMap(soughtValues))
    case 'range':
      return rangeCondition(plan, query)
    case 'fields':
      return fieldsCondition(query)
    case 'contains':
      return joinWith(
        'OR',
        soughtValues(query.value).map((value) => containsCondition({ ...query, value })),
      )
    case 'caseless':
      return caselessCondition(query)
    case 'folded':
      return foldedCondition(plan, query)
    case 'empty':
      return emptyCondition(query.field)
    case 'through':
      return throughCondition(plan, query)
    case 'simple_query_string':
      return textCondition(plan, query)
  }
}

/**
 * A key is the guid's exactly where the field holds that guid, so it is right for odd values too, and an index of the field
 * serves. Inside no field is known to have no odd values; but a text as short as an index holds whole equals no odd one.
 */
function throughCondition(
  { target }: SearchPlan,
  { field, storage, query }: Extract<Query, { kind: 'through' }>,
): CompiledSql {
  const other = target.other?.(storage)
  if (other === undefined) return FALSE
  const plan: SearchPlan = { target: other, plain: plainlyAsked(query), decided: UNDECIDED }
  const found = condition(plan, query)
  return sql`${indexExpression(field, target.columns)} IN (SELECT 's' || guid FROM ${other.table} WHERE removed = 0 AND ${found})`
}

type Range = Extract<Query, { kind: 'range' }>
type ScalarType = 'string' | 'number' | 'boolean'

function existsCondition({ columns }: SearchTarget, field: string): CompiledSql {
  const read = fieldSql(field)
  if (read.kind !== 'json') return TRUE
  // A column has a key of arrays and objects, too.
  if (columns.has(field)) return sql`${keyOf(field, columns)} IS NOT NULL`
  return sql`json_typeof(${read.json}) <> 'null'`
}

function termsCondition(
  plan: SearchPlan,
  { field, scalar }: Pick<Range, 'field' | 'scalar'>,
  requested: readonly Scalar[],
): CompiledSql {
  const read = fieldSql(field)
  const groups = (['string', 'number', 'boolean'] as const).flatMap((type) => {
    const values = requested.filter((value) => typeof value === type)
    if (values.length === 0) return []
    if (read.kind !== 'json') return [columnTerms(read, type, values)]
    if (plan.plain.has(field)) return [plainTerms(plan, field, type, values)]
    return [scalar ? scalarTerms(read, type, values) : exactTerms(read, type, values)]
  })
  return joinWith('OR', groups)
}

function plainTerms(
  { target: { columns } }: SearchPlan,
  field: string,
  type: ScalarType,
  requested: readonly Scalar[],
): CompiledSql {
  const [only = '', ...others] = requested
  const list = others.length === 0 ? value(sortKey(only)) : sql`ANY (${texts(requested.map(sortKey))})`
  return ofType(isOfType(field, columns, type), sql`${keyOf(field, columns)} = ${list}`)
}

/** Only of arrays are the items asked, in a function: it takes 6 µs a document of 480 bytes, the comparison 2.5. */
function exactTerms(read: JsonSql, type: ScalarType, requested: readonly Scalar[]): CompiledSql {
  const { json } = read
  const own = comparedTerms(read, type, requested)
  const [only, ...others] = requested
  if (others.length === 0)
    return byType(json, type, own, sql`quoin_equals(${json}, '${type}', ${value(String(only))})`)
  const items = sql`EXISTS (SELECT FROM json_array_elements(${json}) AS items(one) WHERE ${byType('one', type, comparedTerms(ITEM, type, requested))})`
  return byType(json, type, own, items)
}

const ITEM: JsonSql = { kind: 'json', json: 'one', text: "(one #>> '{}')" }

/** As {@link exactTerms}, but no items of arrays. */
function scalarTerms(read: JsonSql, type: ScalarType, requested: readonly Scalar[]): CompiledSql {
  if (type === 'number') return whereTrue(sql`${scalarNumber(read)} = ${numbersOf(requested)}`)
  // Most texts differ: their type is asked only where they do not.
  return sql`(${comparedTerms(read, type, requested)} AND ${byType(read.json, type, TRUE)})`
}

/** Of a value that is of the type. The planner makes a hash table of many, so that 10,000 cost a document no more than two. */
function comparedTerms(read: JsonSql, type: ScalarType, requested: readonly Scalar[]): CompiledSql {
  if (type === 'number') return sql`${read.text}::float8 = ${numbersOf(requested)}`
  const [only, ...others] = requested
  const list = others.length === 0 ? value(String(only)) : sql`ANY (${texts(requested.map(String))})`
  return sql`${read.text} = ${list}`
}

function numbersOf(requested: readonly Scalar[]): CompiledSql {
  const [only, ...others] = requested
  return others.length === 0 ? value(String(only)) : sql`ANY (${numbers(requested.map(Number), 'float8')})`
}

/**
 * `own` where the value is of the type, `items` where it is an array. As CASE, because only a number can be cast to one, and
 * because PostgreSQL takes each comparison with a type for true of 1 document in 200: it would read and sort all that an index
 * finds, where the first 20 in its order are enough.
 */
function byType(json: string, type: ScalarType, own: CompiledSql, items?: CompiledSql): CompiledSql {
  const array = items ? sql` WHEN 'array' THEN ${items}` : sql``
  return sql`(CASE json_typeof(${json}) WHEN '${type}' THEN ${own}${array} ELSE FALSE END)`
}

function rangeCondition(plan: SearchPlan, { field, bounds: input, scalar }: Range): CompiledSql {
  const bounds = composedBounds(input)
  const { gte, gt, lte, lt } = bounds
  const type = typeof (gte ?? gt ?? lte ?? lt) === 'string' ? 'string' : 'number'
  const read = fieldSql(field)
  if (read.kind === 'whole') {
    if (type !== 'number') return FALSE
    const isRemoved = field === REMOVED && wholeBounds(bounds).from.some((least) => least > 0)
    // What the parameters say already, for the planner: an index of removed documents serves.
    return joinWith('AND', [...(isRemoved ? [sql`${IS_REMOVED}`] : []), wholeCondition(read, bounds)])
  }
  if (read.kind === 'text') return type === 'string' ? boundsCondition(read.read, bounds, String) : FALSE
  if (plan.plain.has(field)) return plainRange(plan, field, type, bounds)
  if (scalar && type === 'number') return whereTrue(boundsCondition(scalarNumber(read), bounds, String))
  const compared = type === 'number' ? `${read.text}::float8` : `(${read.text} COLLATE "C")`
  const own = boundsCondition(compared, bounds, String)
  if (scalar) return byType(read.json, type, own)
  const keys = [gte, gt, lte, lt].map((bound) =>
    bound === undefined ? sql`NULL` : sql`${value(sortKey(bound))}`,
  )
  const items = sql`quoin_within(${read.json}, '${type}', ${keys.reduce((list, key) => sql`${list}, ${key}`)})`
  return byType(read.json, type, own, items)
}

/**
 * Of a number, NULL of all else: only a number's JSON begins so. Each naming of a field parses the document up to it (3 µs of 480 bytes),
 * and to ask for the type first would name it twice.
 */
function scalarNumber({ json }: JsonSql): string {
  return `substring((${json})::text FROM '^[-0-9].*')::float8`
}

/** As CASE for the reason that {@link byType} gives. */
function whereTrue(test: CompiledSql): CompiledSql {
  return sql`(CASE WHEN ${test} THEN TRUE ELSE FALSE END)`
}

function plainRange(
  { target: { columns } }: SearchPlan,
  field: string,
  type: ScalarType,
  bounds: Bounds,
): CompiledSql {
  const { gte, gt, lte, lt } = bounds
  const key = keyOf(field, columns)
  const tests = [boundsCondition(key, bounds, sortKey)]
  // What keeps a half-open range among its own type.
  if (type === 'string' && gte === undefined && gt === undefined) tests.push(sql`${key} >= '${FIRST_TEXT}'`)
  if (type === 'number' && lte === undefined && lt === undefined) tests.push(sql`${key} < '${AFTER_NUMBERS}'`)
  return ofType(isOfType(field, columns, type), joinWith('AND', tests))
}

function ofType(isType: string | undefined, test: CompiledSql): CompiledSql {
  return isType === undefined ? test : sql`(${test} AND ${isType})`
}

function boundsCondition(
  read: string,
  { gte, gt, lte, lt }: Bounds,
  bind: (bound: string | number) => string,
): CompiledSql {
  const test = (operator: string, bound: string | number | undefined): CompiledSql[] =>
    bound === undefined ? [] : [sql`${read} ${operator} ${value(bind(bound))}`]
  return joinWith('AND', [...test('>=', gte), ...test('>', gt), ...test('<=', lte), ...test('<', lt)])
}

type Column = Exclude<FieldSql, { kind: 'json' }>

function columnTerms(field: Column, type: ScalarType, requested: readonly Scalar[]): CompiledSql {
  const [only] = requested
  if (field.kind === 'text') {
    if (type !== 'string') return FALSE
    if (requested.length === 1) return sql`${field.read} = ${value(String(only))}`
    return sql`${field.read} = ANY (${texts(requested.map(String))})`
  }
  if (type !== 'number') return FALSE
  if (requested.length === 1) return wholeCondition(field, { gte: Number(only), lte: Number(only) })
  return sql`${field.read} = ANY (${numbers(requested.map(Number).filter(Number.isSafeInteger), 'bigint')})`
}

/** Asked of the column, which may have an index: second ≥ 5 is ms ≥ 5,000, second > 5 is ms ≥ 6,000. */
function wholeCondition(field: Extract<FieldSql, { kind: 'whole' }>, bounds: Bounds): CompiledSql {
  const { from, before } = wholeBounds(bounds)
  const column = (whole: number): CompiledSql => sql`${value(bounded(whole * field.unit))}::bigint`
  return joinWith('AND', [
    ...from.map((whole) => sql`${field.column} >= ${column(whole)}`),
    ...before.map((whole) => sql`${field.column} < ${column(whole)}`),
  ])
}

/** No column holds more, and a bigint takes it. */
function bounded(whole: number): number {
  return Math.min(Math.max(whole, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)
}
