import type { FastifyRequest } from 'fastify'
import { holds } from '../../../access/scopes.ts'
import { readTemplate } from '../../../pages/read-template.ts'
import type { RecordContext } from '../../../records/records.ts'
import {
  createTemplate,
  getTemplate,
  removeTemplate,
  type TemplateAuthor,
  updateTemplate,
} from '../../../records/templates.ts'
import {
  createTemplateSchema,
  templateSchema,
  updateTemplateSchema,
} from '../../../shared/api/blueprints/templates.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { textIn } from '../../../storage/document-fields.ts'
import { findPage } from '../../../storage/find-documents.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { resource } from '../resource.ts'
import { actorOf } from '../search-reply.ts'
import type { SearchField } from '../search-request.ts'

const tags = ['Templates']

const searchable: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'description', type: 'string', text: true },
  { name: 'content', type: 'string', text: true },
]

const NEEDS_SCRIPT =
  'JavaScript (`js`) runs in the browser of every visitor, administrators included. Setting or changing it requires the scope `blueprinttemplates_script`, which equals administrator rights. The template with the name `sign-in` is that of the pages that come with Quoin; writing it requires the scope `blueprints_account_pages`.'

/** Page templates. */
export function blueprintTemplateRoutes(records: RecordContext): RouteFamily {
  const { database } = records
  return (app) => {
    const templates = resource(app, {
      path: '/blueprinttemplates',
      scopes: 'blueprinttemplates',
      tags,
      record: templateSchema,
      searchable,
    })
    templates.list(
      {
        operationId: 'searchTemplates',
        summary: 'List page templates',
      },
      (requested) => findPage(database.session(), systemStorages.templates, requested),
    )

    templates.create(
      {
        operationId: 'createTemplate',
        summary: 'Create a page template',
        description: NEEDS_SCRIPT,
        errors: ['CONFLICT'],
        bodyBytes: 'setting',
        body: createTemplateSchema,
      },
      async (body, request) => withProblems(await createTemplate(database, body, authorOf(request))),
    )

    templates.get(
      {
        operationId: 'getTemplate',
        summary: 'One page template',
      },
      async (guid) => withProblems(await getTemplate(database, guid)),
    )

    templates.update(
      {
        operationId: 'updateTemplate',
        summary: 'Change a page template',
        description: NEEDS_SCRIPT,
        errors: ['CONFLICT'],
        bodyBytes: 'setting',
        body: updateTemplateSchema,
      },
      async (guid, body, request) =>
        withProblems(await updateTemplate(database, guid, body, authorOf(request))),
    )

    templates.remove(
      {
        operationId: 'removeTemplate',
        summary: 'Remove a page template',
      },
      (guid, request) => removeTemplate(database, guid, actorOf(request)),
    )
  }
}

/** The template and its problems: its author sees them at once, visitors never. */
function withProblems(template: JsonObject): JsonObject {
  const { name, content, css } = template
  const { problems } = readTemplate({ name: textIn(name), content: textIn(content), css: textIn(css) })
  return problems.length === 0 ? template : { ...template, problems: [...problems] }
}

function authorOf(request: FastifyRequest): TemplateAuthor {
  const { scopes } = callerOf(request)
  return {
    ...actorOf(request),
    mayScript: holds(scopes, 'blueprinttemplates_script'),
    mayTakeAccountPages: holds(scopes, 'blueprints_account_pages'),
  }
}
