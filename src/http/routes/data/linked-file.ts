import type { Assets } from '../../../records/assets/assets.ts'
import { readLink } from '../../../records/assets/file-links.ts'
import type { SigningSecret } from '../../../records/secrets/signing-secret.ts'
import { fileResponse, linkQuerySchema } from '../../../shared/api/data/assets.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import type { Clock } from '../../../shared/clock.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { sendAsset } from '../../replies/asset-file.ts'
import type { RouteFamily } from '../../server/route-family.ts'

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
