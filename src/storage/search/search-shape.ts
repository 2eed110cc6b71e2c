/**
 * A query without its values: field names and operators only, as text that people read and that tells searches apart.
 *
 *     country = ? and (status in ? or not done exists), text in title
 */
import type { Bounds, Query } from '../../shared/query.ts'

/** Field names can be long and many, and the record of a search has to stay small. */
const MAX_LENGTH = 1_000

export function queryShape(query: Query): string {
  const shape = shapeOf(query)
  return shape.length > MAX_LENGTH ? `${shape.slice(0, MAX_LENGTH).toWellFormed()}…` : shape
}

function shapeOf(query: Query): string {
  switch (query.kind) {
    case 'all':
      return ''
    case 'and':
      return joined(query.queries, 'and')
    case 'or':
      return joined(query.queries, 'or')
    case 'not':
      return `not (${shapeOf(query.query)})`
    case 'filter':
      return shapeOf(query.query)
    case 'exists':
      return `${query.field} exists`
    case 'fields':
      return `${query.field} ${query.operator === '==' ? '=' : query.operator} ${query.other}`
    case 'contains':
      return `${query.field} contains ?`
    case 'caseless':
      return `${query.field} ${query.test} ? in any case`
    case 'folded':
      return `${query.field} ${foldedTests[query.test]} ? ${query.folding.ignoreAccents ? 'in any case, without accents' : 'in any case'}`
    case 'empty':
      return `${query.field} is empty`
    case 'term':
      return `${query.field} = ?`
    case 'terms':
      return `${query.field} in ?`
    case 'range':
      return rangeShape(query.field, query.bounds)
    case 'through':
      return `${query.field}: (${shapeOf(query.query)})`
    case 'simple_query_string':
      return query.fields.length === 0 ? 'free text' : `free text in ${query.fields.join(', ')}`
  }
}

const foldedTests = { equals: 'is', contains: 'contains', startsWith: 'begins with' }

function rangeShape(field: string, { gte, gt, lte, lt }: Bounds): string {
  const sides = Object.entries({ '>=': gte, '>': gt, '<=': lte, '<': lt })
  return sides.flatMap(([sign, bound]) => (bound === undefined ? [] : `${field} ${sign} ?`)).join(' and ')
}

/** Each form once: 1,000 alternatives on one field are one shape. */
function joined(queries: readonly Query[], word: 'and' | 'or'): string {
  const parts = new Set(queries.map(shapeOf).filter((part) => part !== ''))
  const [only = ''] = parts
  if (parts.size <= 1) return only
  return [...parts].map((part) => (/ (and|or) /.test(part) ? `(${part})` : part)).join(` ${word} `)
}
