import { Value } from 'typebox/value'
import type { Filter, SearchBody, SearchQuery } from '../../shared/api/search.ts'
import { searchSchema } from '../../shared/api/search.ts'
import { wholeDayBounds } from '../../shared/dates/dates.ts'
import { QuoinError } from '../../shared/errors.ts'
import { readJson } from '../../shared/numbers/exact-json.ts'
import type { Bounds, Query, Scalar, Search, SortKey } from '../../shared/query.ts'
import { matchAll } from '../../shared/query.ts'
import type { TextTest } from '../../shared/texts/collations.ts'
import { textProblem } from '../../storage/search/check-search.ts'

/** What can be filtered and sorted by on one resource. Everything else is refused, so that nothing hidden can be probed. */
export interface SearchField {
  readonly name: string
  readonly type: 'string' | 'number' | 'boolean'
  /** Free text looks into it. */
  readonly text?: true
}

/** Every record has these. */
export const metaFields: readonly SearchField[] = [
  { name: '_meta.guid', type: 'string' },
  ...['created', 'updated', 'cms', 'ums', 'expiry'].map((name) => ({
    name: `_meta.${name}`,
    type: 'number' as const,
  })),
]

const DEFAULT_LIMIT = 50

/** The search that a body asks for. Throws INVALID_QUERY, naming the field, for what the resource cannot answer. */
export function searchRequest(body: SearchBody, fields: readonly SearchField[]): Search {
  const queries: Query[] = Object.entries(body.filters ?? {}).flatMap(([name, filter]) =>
    filterQueries(fieldNamed(name, fields, 'filters'), filter),
  )
  if (body.query !== undefined && body.query.trim() !== '') queries.push(textQuery(body.query, fields))
  const [only] = queries
  return {
    query: only === undefined ? matchAll : queries.length === 1 ? only : { kind: 'and', queries },
    sort: (body.sort ?? []).flatMap((key) =>
      Object.entries(key).map(
        ([name, order]): SortKey => ({
          field: fieldNamed(name, fields, 'sort').name,
          order,
          missing: 'last',
        }),
      ),
    ),
    // Of a count only the total is wanted.
    limit: body.count ? 0 : (body.limit ?? DEFAULT_LIMIT),
    offset: body.count ? 0 : (body.offset ?? 0),
    ...(body.after !== undefined && !body.count && { after: body.after }),
    includeRemoved: false,
  }
}

/** The body that a search by GET means: its `filters` and `sort` are JSON text. */
export function searchBodyFromQuery(query: SearchQuery): SearchBody {
  const { filters, sort, ...rest } = query
  const body: unknown = {
    ...rest,
    ...(filters !== undefined && { filters: parameterValue('filters', filters) }),
    ...(sort !== undefined && { sort: parameterValue('sort', sort) }),
  }
  if (!Value.Check(searchSchema, body)) {
    const [fault] = Value.Errors(searchSchema, body)
    const at = fault?.instancePath.slice(1).replaceAll('/', '.') ?? ''
    throw invalidQuery(
      at.split('.', 1)[0] ?? '',
      `The query parameter ${at} ${fault?.message ?? 'does not fit'}.`,
    )
  }
  return body
}

function parameterValue(name: string, text: string): unknown {
  const read = readJson(text)
  if ('value' in read) return read.value
  throw invalidQuery(name, `The query parameter ${name} ${read.problem}.`)
}

function textQuery(text: string, fields: readonly SearchField[]): Query {
  const names = fields.filter((field) => field.text).map((field) => field.name)
  if (names.length === 0)
    throw invalidQuery('query', 'These records cannot be searched by free text. Use filters.')
  checkText(text)
  return { kind: 'simple_query_string', fields: names, text }
}

/** Throws INVALID_QUERY for a free text that asks for too much of what is slow. */
export function checkText(text: string): void {
  const problem = textProblem([text])
  if (problem) throw invalidQuery('query', `query ${problem}.`)
}

function filterQueries(field: SearchField, filter: Filter): Query[] {
  if (typeof filter !== 'object') return [term(field, filter)]
  if (isList(filter)) return [terms(field, filter)]
  const { exists, not, contains, starts_with, ...bounds } = filter
  const queries: Query[] = []
  if (Object.keys(bounds).length > 0) queries.push(range(field, bounds))
  if (contains !== undefined) queries.push(partOf(field, 'contains', contains))
  if (starts_with !== undefined) queries.push(partOf(field, 'startsWith', starts_with))
  if (exists !== undefined) {
    const query: Query = { kind: 'exists', field: field.name }
    queries.push(exists ? query : { kind: 'not', query })
  }
  if (not !== undefined) {
    const query = typeof not === 'object' ? terms(field, not) : term(field, not)
    queries.push({ kind: 'not', query })
  }
  return queries
}

function isList(filter: object): filter is Scalar[] {
  return Array.isArray(filter)
}

function term(field: SearchField, value: Scalar): Query {
  return { kind: 'term', field: field.name, value: fitting(field, value) }
}

function terms(field: SearchField, values: readonly Scalar[]): Query {
  return { kind: 'terms', field: field.name, values: values.map((value) => fitting(field, value)) }
}

function partOf(field: SearchField, test: TextTest, value: string): Query {
  if (field.type !== 'string')
    throw invalidQuery('filters', `${field.name} is no text that something can be in.`)
  return { kind: 'caseless', field: field.name, test, value }
}

function range(field: SearchField, bounds: Bounds): Query {
  if (field.type === 'boolean')
    throw invalidQuery('filters', `${field.name} is true or false and has no range.`)
  for (const bound of Object.values(bounds)) fitting(field, bound)
  return { kind: 'range', field: field.name, bounds: wholeDayBounds(bounds) }
}

/** Types are strict in searches: a value of another type would silently find nothing. */
function fitting(field: SearchField, value: Scalar): Scalar {
  if (typeof value !== field.type)
    throw invalidQuery(
      'filters',
      `${field.name} is compared with a ${field.type}, not with a ${typeof value}.`,
    )
  return value
}

function fieldNamed(name: string, fields: readonly SearchField[], place: 'filters' | 'sort'): SearchField {
  const field = fields.find((one) => one.name === name)
  if (field) return field
  const names = fields.map((one) => one.name).join(', ')
  throw invalidQuery(place, `${place} names ${JSON.stringify(name)}, which is none of ${names}.`)
}

/** `field`: of the body, or the parameter of the query. */
function invalidQuery(field: string, message: string, cause?: unknown): QuoinError {
  return new QuoinError('INVALID_QUERY', message, { fields: [field], cause })
}
