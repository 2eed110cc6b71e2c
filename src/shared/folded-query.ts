/** Queries by fields of which case, or case and accents, do not count. */
import { type FieldRule, textFolding } from './field-rule.ts'
import type { Query } from './query.ts'
import type { TextFolding, TextTest } from './texts/collations.ts'
import { prefixBounds } from './texts/folded-text.ts'

/** By the names of fields. */
export type Foldings = ReadonlyMap<string, TextFolding>

export function foldingsOf(rules: readonly FieldRule[]): Foldings {
  const found = new Map<string, TextFolding>()
  for (const rule of rules) {
    const folding = textFolding(rule)
    if (folding) found.set(rule.name, folding)
  }
  return found
}

/** What is asked of documents that are referred to stays as it is. */
export function foldedQuery(query: Query, foldings: Foldings): Query {
  switch (query.kind) {
    case 'and':
    case 'or':
      return { ...query, queries: query.queries.map((inner) => foldedQuery(inner, foldings)) }
    case 'not':
    case 'filter':
      return { ...query, query: foldedQuery(query.query, foldings) }
    case 'term':
    case 'terms':
    case 'contains':
    case 'caseless':
    case 'range': {
      const folding = foldings.get(query.field)
      return folding === undefined ? query : foldedLeaf(query, folding)
    }
    default:
      return query
  }
}

type Leaf = Extract<Query, { kind: 'term' | 'terms' | 'contains' | 'caseless' | 'range' }>

function foldedLeaf(query: Leaf, folding: TextFolding): Query {
  const { field } = query
  const folded = (test: TextTest, values: readonly string[]): Query => ({
    ...{ kind: 'folded', field, test, values, folding },
  })
  switch (query.kind) {
    case 'term':
      return typeof query.value === 'string' ? folded('equals', [query.value]) : query
    case 'terms': {
      const texts = query.values.filter((value) => typeof value === 'string')
      if (texts.length === 0) return query
      const others = query.values.filter((value) => typeof value !== 'string')
      const same = folded('equals', texts)
      return others.length === 0 ? same : { kind: 'or', queries: [same, { ...query, values: others }] }
    }
    case 'contains':
      return typeof query.value === 'string' ? folded('contains', [query.value]) : query
    case 'caseless':
      // In any case is all that it can be at an end.
      return query.test === 'endsWith' ? query : folded(query.test, [query.value])
    case 'range': {
      // How `startsWith` asks.
      const { gte, lt, gt, lte } = query.bounds
      const isBeginning =
        typeof gte === 'string' &&
        gte !== '' &&
        gt === undefined &&
        lte === undefined &&
        lt === prefixBounds(gte).lt
      return isBeginning ? folded('startsWith', [gte]) : query
    }
  }
}
