import { matchAll, type Query, type Scalar } from '../../../shared/query.ts'

export const none: Query = { kind: 'or', queries: [] }

export function isNone(query: Query): boolean {
  return query.kind === 'or' && query.queries.length === 0
}

export function not(query: Query): Query {
  if (query.kind === 'all') return none
  return isNone(query) ? matchAll : { kind: 'not', query }
}

export function allOf(input: readonly Query[]): Query {
  const queries = input.flatMap((one) => (one.kind === 'and' ? one.queries : one.kind === 'all' ? [] : [one]))
  const [first = matchAll, second] = queries
  return second ? { kind: 'and', queries } : first
}

/** Alternatives of one field are one list of values, which an index serves. */
export function anyOf(input: readonly Query[]): Query {
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
