import multipart from '@fastify/multipart'
import type { Assets } from '../../../records/assets/assets.ts'
import { readLink } from '../../../records/assets/file-links.ts'
import type { SigningSecret } from '../../../records/secrets/signing-secret.ts'
import {
  assetSchema,
  fileResponse,
  imageQuerySchema,
  linkQuerySchema,
  uploadBody,
  uploadQuerySchema,
} from '../../../shared/api/data/assets.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import type { Clock } from '../../../shared/clock.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { guidOf } from '../../../storage/document-fields.ts'
import { allowSlowBody } from '../../limits/slow-body.ts'
import { sendAsset } from '../../replies/file-reply.ts'
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

/** Files by the signed addresses that the block `link_file` makes. */
export function linkedFileRoutes(assets: Assets, secret: SigningSecret, clock: Clock): RouteFamily {
  return (app) => {
    app.get(
      '/_system/assets/:guid/linked',
      {
        config: { permission: 'public', entityTag: false },
        schema: {
          operationId: 'getLinkedFile',
          summary: 'An asset by a signed link',
          description:
            'Links come from the block `link_file` and hold for a time. 404 for a link that has expired or was changed, and when the asset is deleted. Supports the headers `range` and `if-none-match`.',
          tags: ['Assets'],
          params: guidParams,
          querystring: linkQuerySchema,
          response: { 200: fileResponse },
        },
      },
      async (request, reply) => {
        const link = readLink(secret, request.params.guid, request.query, Math.floor(clock() / 1000))
        const record = link && (await assets.get(link.guid).catch(missing))
        // The same whatever is wrong: nothing tells whether the asset is there.
        if (!link || !record)
          throw new QuoinError('NOT_FOUND', 'The link is not valid, has expired, or its file was deleted.')
        // Asked for again each time: a copy would outlive the link.
        reply.header('cache-control', 'private, no-cache')
        return sendAsset(request, reply, assets, record, { saved: link.saved })
      },
    )
  }
}

function missing(error: unknown): undefined {
  if (error instanceof QuoinError && error.code === 'NOT_FOUND') return undefined
  throw error
}
