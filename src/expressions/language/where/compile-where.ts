import { wholeDayBounds } from '../../../shared/dates/dates.ts'
import { isEmptyValue } from '../../../shared/field-rule.ts'
import { jsonProblem } from '../../../shared/json.ts'
import { matchAll, type Query, type Scalar } from '../../../shared/query.ts'
import { composedText } from '../../../shared/texts/composed-text.ts'
import { prefixBounds } from '../../../shared/texts/folded-text.ts'
import type { Expression } from '../expression.ts'
import { kindOf } from '../value-types.ts'
import type { Comparison, Operand, WhereCondition, WhereLeaf } from './where-condition.ts'

/** What is asked of the field, or why the value cannot be asked for, in words that finish "q …". */
export function comparedQuery(
  condition: Compared,
  value: unknown,
  textProblem: (text: string) => string | undefined,
): Query | string {
  if (condition.kind === 'among') return amongQuery(condition, value)
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    return `must be a text, a number, true or false; this is ${kindOf(value)}`
  const problem = jsonProblem(value)
  if (problem !== undefined) return problem
  if (condition.kind !== 'search' && condition.caseless) {
    const test = condition.kind === 'compared' ? 'equals' : condition.kind
    return typeof value === 'string' ? { kind: 'caseless', field: condition.field, test, value } : none
  }
  switch (condition.kind) {
    case 'compared':
      if (condition.operator === '==') return { kind: 'term', field: condition.field, value, scalar: true }
      return orderQuery(condition.field, condition.operator, value)
    case 'contains':
      return { kind: 'contains', field: condition.field, value }
    case 'startsWith':
      if (typeof value !== 'string') return none
      return {
        kind: 'range',
        field: condition.field,
        bounds: prefixBounds(composedText(value)),
        scalar: true,
      }
    case 'search': {
      if (typeof value !== 'string') return `must be a text; this is ${kindOf(value)}`
      const wrong = textProblem(value)
      if (wrong !== undefined) return wrong
      return value.trim() === ''
        ? none
        : { kind: 'simple_query_string', fields: condition.fields, text: value }
    }
  }
}

/** Elements that are nothing find no document. */
function amongQuery(
  { field, caseless }: Extract<Compared, { kind: 'among' }>,
  list: unknown,
): Query | string {
  if (!Array.isArray(list)) return `must be a list; this is ${kindOf(list)}`
  const values: Scalar[] = []
  for (const value of list) {
    if (value === undefined || value === null) continue
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      return `must be a list of texts, numbers, true and false; an element is ${kindOf(value)}`
    const problem = jsonProblem(value)
    if (problem !== undefined) return `has an element that ${problem}`
    values.push(value)
  }
  const [only] = values
  if (only === undefined) return none
  if (caseless) {
    const texts = values.filter((value) => typeof value === 'string')
    return anyOf(texts.map((text) => ({ kind: 'caseless', field, test: 'equals', value: text })))
  }
  return values.length === 1
    ? { kind: 'term', field, value: only, scalar: true }
    : { kind: 'terms', field, values, scalar: true }
}

type Order = Exclude<Comparison, '=='>

const bounds = { '<': 'lt', '<=': 'lte', '>': 'gt', '>=': 'gte' } as const

/** Which of true and false are in this order to true, and to false. */
const conditions: Readonly<Record<Order, readonly [readonly boolean[], readonly boolean[]]>> = {
  '<': [[false], []],
  '<=': [[false, true], [false]],
  '>': [[], [true]],
  '>=': [[true], [false, true]],
}

function orderQuery(field: string, order: Order, value: string | number | boolean): Query {
  if (typeof value !== 'boolean')
    return { kind: 'range', field, bounds: wholeDayBounds({ [bounds[order]]: value }), scalar: true }
  const [ofTrue, ofFalse] = conditions[order]
  const values = value ? ofTrue : ofFalse
  return values.length === 0 ? none : { kind: 'terms', field, values, scalar: true }
}

/** How the parts of a where that do not depend on the document get their values. */
export interface WhereValues<F> {
  /** The value of the run that a field is compared with, or the list that it is looked for in. */
  value(part: Expression, isList: boolean): (frame: F) => unknown
  /** A condition that does not depend on the document, and stands in this. */
  condition(part: Expression, negated: boolean, inside: 'and' | 'or'): (frame: F) => boolean
  /** The error of a value that cannot be compared with a field. `problem` finishes "q …". */
  error(problem: string, part: Expression): Error
  /** What is wrong with a free text, in words that finish "the text …". */
  textProblem(text: string): string | undefined
}

/**
 * The condition as a function of the frame that gives the query. Values are evaluated from left to right, and what cannot
 * change the result any more is not evaluated, as in an expression.
 */
export function compileWhere<F>(condition: WhereCondition, values: WhereValues<F>): (frame: F) => Query {
  return compiled(condition, 'and', values)
}

function compiled<F>(
  condition: WhereCondition,
  inside: 'and' | 'or',
  values: WhereValues<F>,
): (frame: F) => Query {
  if (!('parts' in condition)) return leaf(condition, inside, values)
  const { kind } = condition
  const parts = condition.parts.map((part) => compiled(part, kind, values))
  const isDecided = kind === 'and' ? isNone : ({ kind: found }: Query) => found === 'all'
  return (frame) => {
    const queries: Query[] = []
    for (const part of parts) {
      const query = part(frame)
      if (isDecided(query)) return query
      queries.push(query)
    }
    return kind === 'and' ? allOf(queries) : anyOf(queries)
  }
}

function leaf<F>(condition: WhereLeaf, inside: 'and' | 'or', values: WhereValues<F>): (frame: F) => Query {
  const { negated } = condition
  switch (condition.kind) {
    case 'run': {
      const holds = values.condition(condition.part, negated, inside)
      return (frame) => (holds(frame) ? matchAll : none)
    }
    case 'never':
      return fixed(none, negated)
    case 'missing':
      return fixed({ kind: 'exists', field: condition.field }, !negated)
    case 'empty':
      return fixed({ kind: 'empty', field: condition.field }, negated)
    case 'fields': {
      const { field, operator, other } = condition
      return fixed({ kind: 'fields', field, operator, other }, negated)
    }
    default:
      return compared(condition, values)
  }
}

type Compared = Extract<WhereLeaf, { readonly value: Operand }>

function compared<F>(condition: Compared, values: WhereValues<F>): (frame: F) => Query {
  const { negated, value } = condition
  const { part, maybe } = value
  const queryOf = (input: unknown): Query => {
    if (maybe && isEmptyValue(input)) return matchAll
    if (input === undefined || input === null) return none
    const query = comparedQuery(condition, input, values.textProblem)
    if (typeof query === 'string') throw values.error(query, part)
    return negated ? not(query) : query
  }
  if (part.kind !== 'literal') {
    const read = values.value(part, condition.kind === 'among')
    return (frame) => queryOf(read(frame))
  }
  let known: Query | undefined
  return () => {
    known ??= queryOf(part.value)
    return known
  }
}

function fixed(query: Query, negated: boolean): () => Query {
  const one = negated ? not(query) : query
  return () => one
}

const none: Query = { kind: 'or', queries: [] }

export function isNone(query: Query): boolean {
  return query.kind === 'or' && query.queries.length === 0
}

function not(query: Query): Query {
  if (query.kind === 'all') return none
  return isNone(query) ? matchAll : { kind: 'not', query }
}

function allOf(input: readonly Query[]): Query {
  const queries = input.flatMap((one) => (one.kind === 'and' ? one.queries : one.kind === 'all' ? [] : [one]))
  const [first = matchAll, second] = queries
  return second ? { kind: 'and', queries } : first
}

/** Alternatives of one field are one list of values, which an index serves. */
function anyOf(input: readonly Query[]): Query {
  const flat = input.flatMap((one) => (one.kind === 'or' ? one.queries : [one]))
  const lists = new Map<string, Scalar[]>()
  const queries: Query[] = []
  for (const one of flat) {
    const values = equalValues(one)
    if (values === undefined || !('field' in one)) {
      queries.push(one)
      continue
    }
    const list = lists.get(one.field)
    if (list) {
      list.push(...values)
      continue
    }
    const started = [...values]
    lists.set(one.field, started)
    queries.push({ kind: 'terms', field: one.field, values: started, scalar: true })
  }
  const joined = queries.map(alone)
  const [first = none, second] = joined
  return second ? { kind: 'or', queries: joined } : first
}

function equalValues(query: Query): readonly Scalar[] | undefined {
  if ((query.kind !== 'term' && query.kind !== 'terms') || !query.scalar) return undefined
  return query.kind === 'term' ? [query.value] : query.values
}

function alone(query: Query): Query {
  if (query.kind !== 'terms' || query.values.length !== 1) return query
  const [value = ''] = query.values
  return { kind: 'term', field: query.field, value, scalar: true }
}
