import { readFile } from 'node:fs/promises'
import type { FastifyRequest } from 'fastify'
import type { Identity } from '../../access/identity.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { docsPage } from '../docs-page/docs-page.ts'
import { managementDocument } from '../open-api.ts'
import type { ApiDocument, ExtraPaths } from '../open-api-document.ts'
import { withExtraPaths } from '../open-api-document.ts'
import type { App, RouteFamily, RouteTools } from '../route-family.ts'

/**
 * The endpoints of active blueprints that this caller may enter. They come and go, and what somebody may not enter is not
 * shown to them, so the whole document is put together for each request.
 */
export type DescribeEndpoints = (identity: Identity | undefined) => MaybePromise<ExtraPaths>

/** `/api/v1/openapi.json`. Everybody may read it; signed in, it also holds what only signed-in users may enter. */
export function openApiRoutes(describeEndpoints: DescribeEndpoints): RouteFamily {
  return (app, tools) => {
    const wholeDocument = documentFor(app, tools, describeEndpoints)
    app.get('/openapi.json', { config: { permission: 'public' }, schema: { hide: true } }, async (request) =>
      wholeDocument(request),
    )
  }
}

/** `/docs`: the same document as a page to read. No script; the one style sheet is ours. */
export function docsRoutes(describeEndpoints: DescribeEndpoints): RouteFamily {
  return async (app, tools) => {
    const wholeDocument = documentFor(app, tools, describeEndpoints)
    const style = await readFile(new URL('../docs-page/docs-page.css', import.meta.url), 'utf8')
    app.get('/docs', { config: { permission: 'public' }, schema: { hide: true } }, async (request, reply) => {
      const document = await wholeDocument(request)
      reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', PAGE_POLICY)
        .header('referrer-policy', 'no-referrer')
        .header('x-frame-options', 'DENY')
      return docsPage(document, `${request.protocol}://${request.host}`)
    })
    app.get(
      '/docs/docs-page.css',
      { config: { permission: 'public' }, schema: { hide: true } },
      async (_request, reply) => {
        reply.type('text/css; charset=utf-8').header('cache-control', 'public, max-age=300')
        return style
      },
    )
  }
}

const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

function documentFor(app: App, tools: RouteTools, describeEndpoints: DescribeEndpoints) {
  const management = managementDocument(app)
  return async (request: FastifyRequest): Promise<ApiDocument> => {
    const identity = await tools.identify(request)
    return withExtraPaths(management(), await describeEndpoints(identity))
  }
}
