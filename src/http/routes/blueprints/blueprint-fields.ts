import { Type } from 'typebox'
import { createField, getField, removeField, updateField } from '../../../records/fields/field-records.ts'
import { fieldStorage } from '../../../records/fields/field-rules.ts'
import type { RecordContext } from '../../../records/records.ts'
import { createFieldSchema, fieldSchema, updateFieldSchema } from '../../../shared/api/blueprint-fields.ts'
import { guidParams } from '../../../shared/api/meta.ts'
import { searchSchema } from '../../../shared/api/search.ts'
import { removedSchema } from '../../../shared/api/users.ts'
import { findPage } from '../../../storage/find-page.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../actor-of.ts'
import { searchReply } from '../search-reply.ts'
import { metaFields, type SearchField, searchRequest } from '../search-request.ts'

const tags = ['Fields']

const searchFields: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'description', type: 'string', text: true },
  { name: 'type', type: 'string' },
  { name: 'storage', type: 'string' },
  { name: 'blueprint_guid', type: 'string' },
  { name: 'required', type: 'boolean' },
  ...metaFields,
]

/** Blueprint fields: what documents hold, and the rules that every write of them keeps to. */
export function blueprintFieldRoutes(records: RecordContext): RouteFamily {
  const { database } = records
  return (app) => {
    app.post(
      '/blueprintfields/search',
      {
        config: { permission: 'blueprintfields_view', bodyOptional: true },
        schema: {
          operationId: 'searchFields',
          summary: 'List blueprint fields',
          description: 'Filter by `storage` to see what its documents hold.',
          tags,
          body: searchSchema,
          response: { 200: Type.Array(fieldSchema) },
        },
      },
      async (request, reply) => {
        const wanted = searchRequest(request.body, searchFields)
        return searchReply(
          reply,
          request.body,
          await findPage(records.database.session(), fieldStorage, wanted),
        )
      },
    )

    app.post(
      '/blueprintfields',
      {
        config: { permission: 'blueprintfields_create', errors: ['CONFLICT'] },
        schema: {
          operationId: 'createField',
          summary: 'Create a blueprint field',
          description: 'Its rules count for every write from now on. What is stored already stays as it is.',
          tags,
          body: createFieldSchema,
          response: { 200: fieldSchema },
        },
      },
      (request) => createField(database, request.body, actorOf(request)),
    )

    app.get(
      '/blueprintfields/:guid',
      {
        config: { permission: 'blueprintfields_view' },
        schema: {
          operationId: 'getField',
          summary: 'One blueprint field',
          tags,
          params: guidParams,
          response: { 200: fieldSchema },
        },
      },
      (request) => getField(database, request.params.guid),
    )

    app.put(
      '/blueprintfields/:guid',
      {
        config: { permission: 'blueprintfields_update', errors: ['CONFLICT'] },
        schema: {
          operationId: 'updateField',
          summary: 'Change a blueprint field',
          description: 'Changes what is given; `validation_rules` and `metadata` as a whole.',
          tags,
          params: guidParams,
          body: updateFieldSchema,
          response: { 200: fieldSchema },
        },
      },
      (request) => updateField(database, request.params.guid, request.body, actorOf(request)),
    )

    app.delete(
      '/blueprintfields/:guid',
      {
        config: { permission: 'blueprintfields_remove' },
        schema: {
          operationId: 'removeField',
          summary: 'Remove a blueprint field',
          description: 'Its rules no longer count. Documents keep what they hold.',
          tags,
          params: guidParams,
          response: { 200: removedSchema },
        },
      },
      async (request) => {
        const { guid } = request.params
        await removeField(database, guid, actorOf(request))
        return { guid, removed: true } as const
      },
    )
  }
}
