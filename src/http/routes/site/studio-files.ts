/**
 * The studio under `/studio`: one page, and the files that it asks for. The page answers at every address below it, since
 * the studio's own router reads the rest. Files have the hash of their content in their names and are cached permanently.
 */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Assets } from '../../../records/assets/assets.ts'
import { fileResponse, type ImageQuery, imageQuerySchema } from '../../../shared/api/data/assets.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { sendAsset } from '../../replies/file-reply.ts'
import { acceptedEncodings } from '../../replies/reply-compression.ts'
import type { RouteFamily } from '../../server/route-family.ts'

/** What the built page has where each request gets a value of its own. */
const NONCE = 'studio-nonce'

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json',
  woff2: 'font/woff2',
}

/** The build writes both beside each file. */
const endings = { br: '.br', gzip: '.gz' } as const

const publicRoute = { config: { permission: 'public', entityTag: false }, schema: { hide: true } } as const

/** @param directory where `scripts/build-studio.mjs` put it. Read at each request, so a new build needs no restart. */
export function studioFileRoutes(directory: string): RouteFamily {
  return (app) => {
    const page = async (_request: FastifyRequest, reply: FastifyReply) => studioPage(directory, reply)
    app.get('/studio', publicRoute, page)
    app.get('/studio/*', publicRoute, page)
    app.get<{ Params: { name: string } }>('/studio/assets/:name', publicRoute, async (request, reply) =>
      studioFile(directory, request.params.name, request, reply),
    )
  }
}

async function studioPage(directory: string, reply: FastifyReply): Promise<FastifyReply> {
  const html = await readIfThere(join(directory, 'index.html'))
  if (!html) return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT)
  const nonce = randomBytes(16).toString('base64')
  return reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .headers(studioHeaders(nonce))
    .send(html.toString('utf8').replaceAll(NONCE, nonce))
}

const NOT_BUILT = 'The studio is not built. Run: node scripts/build-studio.mjs\n'

/** Of the page of the studio. `npm run dev` sends them too, so that the policy holds while the studio is worked on. */
export function studioHeaders(nonce: string): {
  readonly 'content-security-policy': string
  readonly 'referrer-policy': string
  readonly 'x-frame-options': string
} {
  return {
    'content-security-policy': policy(nonce),
    'referrer-policy': 'same-origin',
    'x-frame-options': 'DENY',
  }
}

/** The canvas and floating boxes are placed by style attributes; style tags need the nonce; no script but our files. */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

async function studioFile(
  directory: string,
  name: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const [, ending = ''] = /^[\w-][\w.-]*\.(\w+)$/.exec(name) ?? []
  const type = types[ending]
  if (type === undefined) throw notThere()
  const path = join(directory, 'assets', name)
  reply
    .type(type)
    .header('vary', 'accept-encoding')
    .header('cache-control', 'public, max-age=31536000, immutable')
  for (const encoding of acceptedEncodings(request.headers)) {
    const packed = await readIfThere(`${path}${endings[encoding]}`)
    if (packed) return reply.header('content-encoding', encoding).send(packed)
  }
  const plain = await readIfThere(path)
  if (!plain) {
    reply.removeHeader('vary').removeHeader('cache-control')
    throw notThere()
  }
  return reply.send(plain)
}

function notThere(): QuoinError {
  return new QuoinError(
    'NOT_FOUND',
    'The studio has no such file. It may belong to an older version: reload the page.',
  )
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

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
