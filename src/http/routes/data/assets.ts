import multipart from '@fastify/multipart'
import type { Assets } from '../../../records/assets/assets.ts'
import {
  assetSchema,
  fileResponse,
  imageQuerySchema,
  uploadBody,
  uploadQuerySchema,
} from '../../../shared/api/data/assets.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { guidOf } from '../../../storage/document-fields.ts'
import { allowSlowBody } from '../../limits/slow-body.ts'
import { sendAsset } from '../../replies/asset-file.ts'
import { checkSchema } from '../../server/check-schema.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { resource } from '../resource.ts'
import { actorOf } from '../search-reply.ts'
import type { SearchField } from '../search-request.ts'
import { receiveUpload } from './asset-upload.ts'

const tags = ['Assets']

const searchable: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'type', type: 'string' },
  { name: 'size', type: 'number' },
  { name: 'sha256', type: 'string' },
  { name: 'directory', type: 'string', text: true },
  { name: 'public_path', type: 'string' },
  { name: 'created_by.username', type: 'string' },
]

/** Uploaded files and their records. */
export function assetRoutes(assets: Assets): RouteFamily {
  return async (app) => {
    await app.register(async (scope: App) => uploadRoute(scope, assets))

    const files = resource(app, {
      path: '/_system/assets',
      scopes: 'assets',
      tags,
      record: assetSchema,
      searchable,
    })
    files.list(
      {
        operationId: 'searchAssets',
        summary: 'Search assets',
      },
      async (requested) => {
        const page = await assets.search(requested)
        return { ...page, records: page.records.map(shown) }
      },
    )

    files.get(
      {
        operationId: 'getAsset',
        summary: 'One asset',
      },
      async (guid) => shown(await assets.get(guid)),
    )

    app.get(
      '/_system/assets/:guid/content',
      {
        config: { permission: 'assets_view', entityTag: false },
        schema: {
          operationId: 'getAssetContent',
          summary: 'Download an asset',
          description: 'Supports the headers `range` and `if-none-match`.',
          tags,
          params: guidParams,
          querystring: imageQuerySchema,
          response: { 200: fileResponse },
        },
      },
      async (request, reply) => sendAsset(request, reply, assets, await assets.get(request.params.guid)),
    )

    files.remove(
      {
        operationId: 'removeAsset',
        summary: 'Delete an asset',
        description: 'Permanently, with its file.',
      },
      (guid, request) => assets.remove(guid, actorOf(request)),
    )
  }
}

/** In a scope of its own: no other route reads forms with files. */
async function uploadRoute(scope: App, assets: Assets): Promise<void> {
  scope.removeAllContentTypeParsers()
  await scope.register(multipart)
  // Any other body is the file itself; it is read by the handler.
  scope.addContentTypeParser('*', (_request, _body, done) => done(null))
  scope.post(
    '/_system/assets/stream',
    {
      config: { permission: 'assets_create', bodyOptional: true, errors: ['CONFLICT', 'STORAGE_FULL'] },
      onRequest: allowSlowBody(),
      // The body is a stream: what is in its form is checked while it is read.
      validatorCompiler: (route) => (route.httpPart === 'body' ? () => true : checkSchema(route)),
      schema: {
        operationId: 'uploadAsset',
        summary: 'Upload an asset',
        description:
          'A form with one file, or the file as the body with `filename` in the query; at most 500 MB. `filename` and `directory` may also be fields of the form.',
        tags,
        consumes: ['multipart/form-data', 'application/octet-stream'],
        querystring: uploadQuerySchema,
        body: uploadBody,
        response: { 200: assetSchema },
      },
    },
    async (request, reply) => {
      const { file, input } = await receiveUpload(request, reply, assets, request.query)
      return shown(await assets.create(file, input, actorOf(request)))
    },
  )
}

function shown(record: JsonObject): JsonObject {
  return { ...record, assets_guid: guidOf(record) }
}
