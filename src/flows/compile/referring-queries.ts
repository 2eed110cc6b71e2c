import type { FieldsOf } from '../../shared/field-rule.ts'
import type { Query } from '../../shared/query.ts'
import { referencesIn } from '../../storage/reference/references.ts'
import { throughReferences } from '../../storage/reference/through-references.ts'

type Through = Extract<Query, { kind: 'through' }>

/** What queries ask of their storage, and of the storages that its documents refer to. What a run refuses is left as it is. */
export function referringQueries(
  queries: readonly Query[],
  storage: string,
  fieldsOf: FieldsOf | undefined,
): { readonly own: readonly Query[]; readonly others: readonly Through[] } {
  const references = referencesIn(fieldsOf?.(storage) ?? []).of(storage)
  if (references.length === 0) return { own: queries, others: [] }
  const own = queries.map((query) => {
    try {
      return throughReferences(query, references)
    } catch {
      return query
    }
  })
  return { own, others: own.flatMap(throughIn) }
}

function throughIn(query: Query): readonly Through[] {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.queries.flatMap(throughIn)
    case 'not':
    case 'filter':
      return throughIn(query.query)
    case 'through':
      return [query]
    default:
      return []
  }
}
