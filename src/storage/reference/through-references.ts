/** Fields of what a document refers to, such as `customer.name`, in queries. */
import { QuoinError } from '../../shared/errors.ts'
import type { Query } from '../../shared/query.ts'
import type { Reference } from './references.ts'

/**
 * The query with each field that leads through a reference asked of the document that it names. What is not there has no fields:
 * nothing in it is equal or ordered, and it is missing and empty. Throws INVALID_QUERY for what cannot be asked so.
 */
export function throughReferences(query: Query, references: readonly Reference[]): Query {
  if (references.length === 0) return query
  const inside = (inner: Query) => throughReferences(inner, references)
  switch (query.kind) {
    case 'and':
    case 'or':
      return { kind: query.kind, queries: query.queries.map(inside) }
    case 'not':
    case 'filter':
      return { kind: query.kind, query: inside(query.query) }
    case 'term':
    case 'terms':
    case 'range':
    case 'exists':
    case 'contains':
    case 'caseless':
    case 'folded':
    case 'empty':
      return throughOne(query, references)
    case 'fields':
      if ([query.field, query.other].some((field) => stepOf(field, references)))
        throw refused(
          `${query.field} and ${query.other} cannot be compared: one of them is in another document.`,
        )
      return query
    case 'simple_query_string': {
      const ranked = query.fields.find((field) => stepOf(field, references))
      if (ranked) throw refused(`Free text cannot be searched in ${ranked}, which is in another document.`)
      return query
    }
    default:
      return query
  }
}

type Leaf = Extract<
  Query,
  { kind: 'term' | 'terms' | 'range' | 'exists' | 'contains' | 'caseless' | 'folded' | 'empty' }
>

function throughOne(query: Leaf, references: readonly Reference[]): Query {
  const step = stepOf(query.field, references)
  if (step === undefined) return query
  const { field, storage } = step.reference
  const through = (inner: Query): Query => ({ kind: 'through', field, storage, query: inner })
  if (query.kind !== 'empty') return through({ ...query, field: step.rest })
  const full: Query = { kind: 'not', query: { kind: 'empty', field: step.rest } }
  return { kind: 'not', query: through(full) }
}

/** The reference that a field's name begins with, and what is behind it. */
function stepOf(field: string, references: readonly Reference[]) {
  const reference = references.find((one) => field.startsWith(`${one.field}.`))
  return reference && { reference, rest: field.slice(reference.field.length + 1) }
}

function refused(message: string): QuoinError {
  return new QuoinError('INVALID_QUERY', message)
}
