import type { Static } from 'typebox'
import type { Subject } from '../../../records/permissions/judge.ts'
import type { Permissions } from '../../../records/permissions/permissions.ts'
import { notFound } from '../../../records/records.ts'
import type { StorageContext } from '../../../records/storage-records.ts'
import type { documentSearchSchema } from '../../../shared/api/data/documents.ts'
import type { Filter } from '../../../shared/api/search.ts'
import { overlap } from '../../../shared/field-path.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { matchAll, type Query, type Search } from '../../../shared/query.ts'
import type { RecordPage } from '../../../shared/record-page.ts'
import { objectsIn, textIn } from '../../../storage/document-fields.ts'
import { checkText, type SearchField, searchRequest } from '../search-request.ts'

/**
 * The search that a body asks for in a builder's storage. Any field can be named here: the session of the caller refuses a filter by
 * a field that is hidden from the caller. Free text looks into all fields. Types come from what is compared.
 */
export function documentSearch(body: Static<typeof documentSearchSchema>): Search {
  const { query: words, include_removed: includeRemoved = false, expand: _, ...rest } = body
  const requested = searchRequest(rest, namedFields(rest))
  if (words === undefined || words.trim() === '') return { ...requested, includeRemoved }
  checkText(words)
  const text: Query = { kind: 'simple_query_string', fields: [], text: words }
  const query =
    requested.query === matchAll ? text : ({ kind: 'and', queries: [text, requested.query] } as const)
  return { ...requested, query, includeRemoved }
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

interface Asked {
  readonly name: string
  readonly document: string
  readonly page: Pick<Search, 'limit' | 'offset' | 'after'>
}

/**
 * The history of a document that the user sees now, without changes of fields that the user does not see. What was deleted is seen by
 * those alone who are not bound by rules.
 */
export async function historyFor(
  { records, history }: StorageContext,
  permissions: Permissions,
  { name, document, page }: Asked,
  subject: Subject,
): Promise<RecordPage> {
  if (!subject.bound || !(await permissions.counts(name))) return history.of(name, document, page)
  const session = permissions.session(records.database.session(), subject)
  if (!(await session.get(name, document, { removed: true }))) throw notFound(document, 'document')
  const hidden = await permissions.hidden(name, subject)
  const found = await history.of(name, document, page)
  return { ...found, records: found.records.map((record) => withoutHidden(record, hidden)) }
}

function withoutHidden(record: JsonObject, hidden: readonly string[]): JsonObject {
  if (hidden.length === 0) return record
  const revisions = objectsIn(record.revisions).filter(
    ({ key }) => !hidden.some((name) => overlap(name, textIn(key))),
  )
  return { ...record, revisions }
}
