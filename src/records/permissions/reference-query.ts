/**
 * Rules that lead through references, such as `doc.supplier.owner`: as queries that ask it of the document that is referred to. A rule
 * reads that document as it is stored, whatever the rules of its own storage are: else two storages could wait for each other's rules.
 */
import type { Query } from '../../shared/query.ts'
import { type Reference, type References, referencesIn } from '../../storage/reference/references.ts'
import { throughReferences } from '../../storage/reference/through-references.ts'

/** References that one field of a rule leads through: each is a search within a search. */
export const MOST_STEPS = 3

/** Where a rule stands. */
export interface RuleScope {
  readonly storage: string
  readonly references: References
  /** A query for stored values, here and in documents that are referred to: rules compare as searches do, instants and texts in any case. */
  readonly asked?: (query: Query) => Query
}

const none = referencesIn([])

export function scopeOf(storage: string, references: References = none): RuleScope {
  return { storage, references }
}

/** The references that a field of the storage's documents leads through, in this order. */
export function stepsOf(path: readonly string[], { storage, references }: RuleScope): readonly Reference[] {
  const field = path.join('.')
  const reference = references.of(storage).find((one) => field.startsWith(`${one.field}.`))
  if (reference === undefined) return []
  const rest = path.slice(reference.field.split('.').length)
  return [reference, ...stepsOf(rest, { storage: reference.storage, references })]
}

/** Throws INVALID_QUERY for what cannot be asked of a document that is referred to. */
export function referenceQuery(query: Query, { storage, references, asked }: RuleScope): Query {
  const referenced = through(query, storage, references)
  return asked === undefined ? referenced : asked(referenced)
}

function through(query: Query, storage: string, references: References): Query {
  const own = references.of(storage)
  return own.length === 0 ? query : deeper(throughReferences(query, own), references)
}

function deeper(query: Query, references: References): Query {
  switch (query.kind) {
    case 'and':
    case 'or':
      return { kind: query.kind, queries: query.queries.map((one) => deeper(one, references)) }
    case 'not':
    case 'filter':
      return { kind: query.kind, query: deeper(query.query, references) }
    case 'through':
      return { ...query, query: through(query.query, query.storage, references) }
    default:
      return query
  }
}
