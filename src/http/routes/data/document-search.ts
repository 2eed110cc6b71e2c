import type { Static } from 'typebox'
import type { documentSearchSchema } from '../../../shared/api/data/documents.ts'
import type { Filter } from '../../../shared/api/search.ts'
import { matchAll, type Query, type Search } from '../../../shared/query.ts'
import { checkText, type SearchField, searchRequest } from '../search-request.ts'

/**
 * The search that a body asks for in a builder's storage. Any field can be named here: the session of the caller refuses a filter by
 * a field that is hidden from the caller. Free text looks into all fields. Types come from what is compared.
 */
export function documentSearch(body: Static<typeof documentSearchSchema>): Search {
  const { query: words, include_removed: includeRemoved = false, expand: _, ...rest } = body
  const wanted = searchRequest(rest, namedFields(rest))
  if (words === undefined || words.trim() === '') return { ...wanted, includeRemoved }
  checkText(words)
  const text: Query = { kind: 'simple_query_string', fields: [], text: words }
  const query = wanted.query === matchAll ? text : ({ kind: 'and', queries: [text, wanted.query] } as const)
  return { ...wanted, query, includeRemoved }
}

function namedFields({ filters = {}, sort = [] }: Static<typeof documentSearchSchema>): SearchField[] {
  return [
    ...Object.entries(filters).map(([name, filter]) => ({ name, type: typeOf(filter) })),
    ...sort.flatMap((key) => Object.keys(key).map((name) => ({ name, type: 'string' as const }))),
  ]
}

function typeOf(filter: Filter): SearchField['type'] {
  const values: unknown[] = typeof filter === 'object' ? Object.values(filter).flat() : [filter]
  const isExists = typeof filter === 'object' && !Array.isArray(filter) && 'exists' in filter
  // `exists` is true or false about a field of any type.
  const [first] = isExists
    ? Object.entries(filter).flatMap(([key, value]) => (key === 'exists' ? [] : value))
    : values
  return typeof first === 'number' ? 'number' : typeof first === 'boolean' ? 'boolean' : 'string'
}
