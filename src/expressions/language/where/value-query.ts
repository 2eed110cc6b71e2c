import { wholeDayBounds } from '../../../shared/dates/whole-day.ts'
import { jsonProblem } from '../../../shared/json.ts'
import type { Query, Scalar } from '../../../shared/query.ts'
import { composedText } from '../../../shared/texts/composed-text.ts'
import { prefixBounds } from '../../../shared/texts/text-prefix.ts'
import { kindOf } from '../value-kind.ts'
import { anyOf, none } from './join-queries.ts'
import type { Comparison, Operand, WhereLeaf } from './where-condition.ts'

type Compared = Extract<WhereLeaf, { readonly value: Operand }>

/** What is asked of the field, or in a sentence why the value cannot be asked for. */
export function comparedQuery(
  condition: Compared,
  value: unknown,
  textProblem: (text: string) => string | undefined,
): Query | string {
  if (condition.kind === 'among') return amongQuery(condition, value)
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    return `A search compares fields with texts, numbers, true and false; this is ${kindOf(value)}.`
  const problem = jsonProblem(value)
  if (problem !== undefined) return `The value ${problem}.`
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
      if (typeof value !== 'string') return `search needs a text; this is ${kindOf(value)}.`
      const wrong = textProblem(value)
      if (wrong !== undefined) return `The text ${wrong}.`
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
  if (!Array.isArray(list))
    return `contains with a field as its second argument needs a list; this is ${kindOf(list)}.`
  const values: Scalar[] = []
  for (const value of list) {
    if (value === undefined || value === null) continue
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      return `A search compares fields with texts, numbers, true and false; an element of the list is ${kindOf(value)}.`
    const problem = jsonProblem(value)
    if (problem !== undefined) return `An element of the list ${problem}.`
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
