import { readFile } from 'node:fs/promises'
import type { FastifyRequest } from 'fastify'
import { type Compressible, compressible } from '../../../pages/compressible.ts'
import { docsPage } from '../../docs/docs-page.ts'
import { type DescribeEndpoints, withDescribedDefaults } from '../../docs/endpoint-descriptions.ts'
import { managementDocument } from '../../docs/open-api.ts'
import {
  type ApiDocument,
  type ExtraPaths,
  operationIdsOf,
  withExtraPaths,
} from '../../docs/open-api-document.ts'
import { typedClient } from '../../docs/typed-client.ts'
import { sendCompressible } from '../../replies/reply-compression.ts'
import type { App, RouteFamily, RouteTools } from '../../server/route-family.ts'

/**
 * `/api/v1/openapi.json`, and `/api/v1/client.ts` made from it. Public; for a signed-in user they also have the endpoints that the user
 * can call.
 */
export function openApiRoutes(describeEndpoints: DescribeEndpoints): RouteFamily {
  return (app, tools) => {
    const text = textFor(app, tools, describeEndpoints, (document) =>
      JSON.stringify(withDescribedDefaults(document)),
    )
    app.get('/openapi.json', documentRoute, async (request, reply) => {
      reply.type('application/json; charset=utf-8')
      return sendCompressible(request.headers, reply, await text(request))
    })
    const client = textFor(app, tools, describeEndpoints, typedClient)
    app.get('/client.ts', documentRoute, async (request, reply) => {
      reply.type('text/plain; charset=utf-8')
      return sendCompressible(request.headers, reply, await client(request))
    })
  }
}

/** `/docs`: the same document as a page to read. No script; the one style sheet is ours. */
export function docsRoutes(describeEndpoints: DescribeEndpoints): RouteFamily {
  return async (app, tools) => {
    const text = textFor(app, tools, describeEndpoints, docsPage)
    const style = await readFile(new URL('../../docs/docs-page.css', import.meta.url), 'utf8')
    app.get('/docs', documentRoute, async (request, reply) => {
      reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', PAGE_POLICY)
        .header('referrer-policy', 'no-referrer')
        .header('x-frame-options', 'DENY')
      return sendCompressible(request.headers, reply, await text(request))
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

const documentRoute = { config: { permission: 'public' }, schema: { hide: true } } as const

/**
 * The document for a caller, as text. Making it takes 20 ms of the event loop in a small cluster, so it is made once for all
 * callers who may enter the same endpoints, and again when a blueprint is deployed or a field changes.
 */
function textFor(
  app: App,
  tools: RouteTools,
  describeEndpoints: DescribeEndpoints,
  write: (document: ApiDocument) => string,
): (request: FastifyRequest) => Promise<Compressible> {
  const management = managementDocument(app)
  const cache = new WeakMap<ExtraPaths, Compressible>()
  return async (request) => {
    const identity = await tools.identify(request)
    const extra = await describeEndpoints(identity, operationIdsOf(management()))
    const known = cache.get(extra)
    if (known) return known
    const text = compressible(write(withExtraPaths(management(), extra)), 5)
    cache.set(extra, text)
    return text
  }
}
