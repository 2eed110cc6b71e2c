import { isEmptyValue } from '../../../shared/field-rule.ts'
import { matchAll, type Query } from '../../../shared/query.ts'
import type { Expression } from '../expression.ts'
import { allOf, anyOf, isNone, none, not } from './join-queries.ts'
import { comparedQuery } from './value-query.ts'
import type { Operand, WhereCondition, WhereLeaf } from './where-condition.ts'

/** How the parts of a where that do not depend on the document get their values. */
export interface WhereValues<F> {
  /** The value of the run that a field is compared with, or the list that it is looked for in. */
  value(part: Expression, isList: boolean): (frame: F) => unknown
  /** A condition that does not depend on the document, and stands in this. */
  condition(part: Expression, negated: boolean, inside: 'and' | 'or'): (frame: F) => boolean
  /** The error of a value that cannot be compared with a field. */
  error(message: string, part: Expression): Error
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
  const queryOf = (given: unknown): Query => {
    if (maybe && isEmptyValue(given)) return matchAll
    if (given === undefined || given === null) return none
    const query = comparedQuery(condition, given, values.textProblem)
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
