/**
 * Searching users. Only the fields listed here can be searched and sorted by: a filter on the password hash would give
 * it away letter by letter, and so would free text over the whole record.
 */

import { QuoinError } from '../shared/errors.ts'
import type { Query, Search } from '../shared/query.ts'
import type { RecordPage } from '../shared/record-page.ts'
import { findPage } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import type { AccessContext } from './access-context.ts'
import { publicUser } from './user-record.ts'

const textFields = ['username', 'email', 'firstname', 'lastname'] as const

const searchableUserFields: readonly string[] = [
  ...textFields,
  'timezone',
  'language',
  'custom_scopes',
  'groups',
  'is_active',
  'is_service',
  'login_attempts',
  'locked_until',
  'last_activity',
  '_meta.guid',
  '_meta.entity',
  '_meta.created',
  '_meta.updated',
  '_meta.cms',
  '_meta.ums',
  '_meta.removed',
  '_meta.expiry',
]

/** INVALID_QUERY naming a field that is not in {@link searchableUserFields}. Free text without fields looks into names. */
export async function searchUsers(context: AccessContext, search: Search): Promise<RecordPage> {
  for (const key of search.sort) checkField(key.field)
  const query = withKnownFields(search.query)
  const page = await findPage(context.database.session(), systemStorages.users, { ...search, query })
  return { ...page, records: page.records.map(publicUser) }
}

function withKnownFields(query: Query): Query {
  switch (query.kind) {
    case 'all':
      return query
    case 'and':
    case 'or':
      return { kind: query.kind, queries: query.queries.map(withKnownFields) }
    case 'not':
    case 'filter':
      return { kind: query.kind, query: withKnownFields(query.query) }
    case 'simple_query_string':
      for (const field of query.fields) checkField(field)
      return query.fields.length > 0 ? query : { ...query, fields: textFields }
    case 'term':
    case 'terms':
    case 'range':
    case 'exists':
    case 'contains':
    case 'caseless':
    case 'folded':
    case 'empty':
      checkField(query.field)
      return query
    case 'fields':
      checkField(query.field)
      checkField(query.other)
      return query
    case 'through':
      throw new QuoinError('INVALID_QUERY', 'Users refer to no documents.')
  }
}

function checkField(field: string): void {
  if (searchableUserFields.includes(field)) return
  throw new QuoinError(
    'INVALID_QUERY',
    `Users cannot be searched or sorted by ${field}. Use one of ${searchableUserFields.join(', ')}.`,
  )
}
