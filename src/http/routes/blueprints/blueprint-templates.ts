import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { holds } from '../../../access/scopes.ts'
import { readTemplate } from '../../../pages/read-template.ts'
import type { RecordContext } from '../../../records/records.ts'
import {
  createTemplate,
  getTemplate,
  removeTemplate,
  type TemplateAuthor,
  templateStorage,
  updateTemplate,
} from '../../../records/templates.ts'
import { guidParams } from '../../../shared/api/meta.ts'
import { searchSchema } from '../../../shared/api/search.ts'
import { createTemplateSchema, templateSchema, updateTemplateSchema } from '../../../shared/api/templates.ts'
import { removedSchema } from '../../../shared/api/users.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { textIn } from '../../../storage/document-fields.ts'
import { findPage } from '../../../storage/find-page.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../actor-of.ts'
import { searchReply } from '../search-reply.ts'
import { metaFields, type SearchField, searchRequest } from '../search-request.ts'

const tags = ['Templates']

const searchFields: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'description', type: 'string', text: true },
  { name: 'content', type: 'string', text: true },
  ...metaFields,
]

const NEEDS_SCRIPT =
  'JavaScript (`js`) runs in the browser of every visitor, also of administrators: setting or changing it needs the scope `blueprinttemplates_script`, which equals administrator rights.'

/** Page templates. */
export function blueprintTemplateRoutes(records: RecordContext): RouteFamily {
  const { database } = records
  return (app) => {
    app.post(
      '/blueprinttemplates/search',
      {
        config: { permission: 'blueprinttemplates_view', bodyOptional: true },
        schema: {
          operationId: 'searchTemplates',
          summary: 'List page templates',
          tags,
          body: searchSchema,
          response: { 200: Type.Array(templateSchema) },
        },
      },
      async (request, reply) => {
        const wanted = searchRequest(request.body, searchFields)
        return searchReply(
          reply,
          request.body,
          await findPage(records.database.session(), templateStorage, wanted),
        )
      },
    )

    app.post(
      '/blueprinttemplates',
      {
        config: { permission: 'blueprinttemplates_create', errors: ['CONFLICT'] },
        schema: {
          operationId: 'createTemplate',
          summary: 'Create a page template',
          description: NEEDS_SCRIPT,
          tags,
          body: createTemplateSchema,
          response: { 200: templateSchema },
        },
      },
      async (request) => withProblems(await createTemplate(database, request.body, authorOf(request))),
    )

    app.get(
      '/blueprinttemplates/:guid',
      {
        config: { permission: 'blueprinttemplates_view' },
        schema: {
          operationId: 'getTemplate',
          summary: 'One page template',
          tags,
          params: guidParams,
          response: { 200: templateSchema },
        },
      },
      async (request) => withProblems(await getTemplate(database, request.params.guid)),
    )

    app.put(
      '/blueprinttemplates/:guid',
      {
        config: { permission: 'blueprinttemplates_update', errors: ['CONFLICT'] },
        schema: {
          operationId: 'updateTemplate',
          summary: 'Change a page template',
          description: NEEDS_SCRIPT,
          tags,
          params: guidParams,
          body: updateTemplateSchema,
          response: { 200: templateSchema },
        },
      },
      async (request) =>
        withProblems(await updateTemplate(database, request.params.guid, request.body, authorOf(request))),
    )

    app.delete(
      '/blueprinttemplates/:guid',
      {
        config: { permission: 'blueprinttemplates_remove' },
        schema: {
          operationId: 'removeTemplate',
          summary: 'Remove a page template',
          tags,
          params: guidParams,
          response: { 200: removedSchema },
        },
      },
      async (request) => {
        const { guid } = request.params
        await removeTemplate(database, guid, actorOf(request))
        return { guid, removed: true } as const
      },
    )
  }
}

/** The template, and what is not as pages need it: its writer hears of it at once, and nobody who opens a page does. */
function withProblems(template: JsonObject): JsonObject {
  const { name, content, css } = template
  const { problems } = readTemplate({ name: textIn(name), content: textIn(content), css: textIn(css) })
  return problems.length === 0 ? template : { ...template, problems: [...problems] }
}

function authorOf(request: FastifyRequest): TemplateAuthor {
  const { scopes } = callerOf(request)
  return { ...actorOf(request), mayScript: holds(scopes, 'blueprinttemplates_script') }
}
