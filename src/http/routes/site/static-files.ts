import type { Assets } from '../../../records/assets/assets.ts'
import { fileResponse, type ImageQuery, imageQuerySchema } from '../../../shared/api/data/assets.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { sendAsset } from '../../replies/asset-file.ts'
import type { RouteFamily } from '../../server/route-family.ts'

/** Assets of the directory `public`, without a token. Looked up by their path as a whole: there is no folder to leave. */
export function staticFileRoutes(assets: Assets): RouteFamily {
  return (app) => {
    app.get<{ Params: { '*': string }; Querystring: ImageQuery }>(
      '/static/*',
      {
        config: { permission: 'public', entityTag: false, errors: ['NOT_FOUND'] },
        schema: {
          operationId: 'getStaticFile',
          summary: 'A public asset',
          description: 'Content that a browser could execute is sent as a download.',
          tags: ['Assets'],
          querystring: imageQuerySchema,
          response: { 200: fileResponse },
        },
      },
      async (request, reply) => {
        const record = await assets.findPublic(request.params['*'])
        if (!record) throw new QuoinError('NOT_FOUND', 'There is no such file.')
        // Asked again each time, and answered with 304 while it is the same: names stay, contents change.
        reply.header('cache-control', 'public, no-cache')
        return sendAsset(request, reply, assets, record)
      },
    )
  }
}
