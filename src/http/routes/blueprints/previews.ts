import { Type } from 'typebox'
import type { Publisher } from '../../../applications/apply-release.ts'
import type { Actor } from '../../../records/records.ts'
import {
  type MadePreview,
  MOST_APPLICATION_BYTES,
  madePreviewSchema,
  type Preview,
  type PreviewRequest,
  previewParams,
  previewRequestSchema,
  previewSchema,
} from '../../../shared/api/blueprints/applications.ts'
import { folderScopes } from '../../../shared/management-scopes.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../search-reply.ts'
import { publisherOf } from './applications.ts'

const tags = ['Applications']

/** Applications beside the live ones, for some hours. */
export interface ManagedPreviews {
  list(): readonly Preview[]
  /** CONFLICT for an application that cannot be released, and for a name of the preview of another one. */
  make(input: PreviewRequest, by: Publisher): Promise<MadePreview>
  /** With all of its data. NOT_FOUND. */
  remove(name: string, by: Actor): Promise<void>
}

/** Of the operator only: a preview is a space. */
export function previewRoutes(previews: ManagedPreviews): RouteFamily {
  return (app) => {
    app.get(
      '/_system/previews',
      {
        config: { permission: 'applications_view' },
        schema: {
          operationId: 'listPreviews',
          summary: 'List previews of applications',
          tags,
          response: { 200: Type.Array(previewSchema) },
        },
      },
      async () => [...previews.list()],
    )
    makeRoute(app, previews)
    app.delete(
      '/_system/previews/:name',
      {
        config: { permission: 'applications_update', errors: ['NOT_FOUND'] },
        schema: {
          operationId: 'removePreview',
          summary: 'Remove a preview with all of its data',
          tags,
          params: previewParams,
          response: { 200: Type.Object({ name: Type.String(), removed: Type.Literal(true) }) },
        },
      },
      async (request) => {
        const { name } = request.params
        await previews.remove(name, actorOf(request))
        return { name, removed: true } as const
      },
    )
  }
}

function makeRoute(app: App, previews: ManagedPreviews): void {
  app.post(
    '/_system/previews',
    {
      config: {
        permission: 'applications_update',
        alsoNeeds: [...folderScopes],
        bodyBytes: MOST_APPLICATION_BYTES,
        errors: ['CONFLICT', 'UNAVAILABLE'],
      },
      schema: {
        operationId: 'makePreview',
        summary: 'Put an application beside the live one',
        description:
          'Its pages and endpoints are below `/~name/`, with users, storages and jobs of their own, until its end. The same name again pushes into the preview that is there and moves its end. Needs also the scopes that a push of the application needs. 409 for a name of another application, for what cannot be released, and beyond 20 previews.',
        tags,
        body: previewRequestSchema,
        response: { 200: madePreviewSchema },
      },
    },
    async (request) => {
      const { accounts, missing, problems, ...made } = await previews.make(request.body, publisherOf(request))
      return { ...made, accounts: [...accounts], missing: [...missing], problems: [...problems] }
    },
  )
}
