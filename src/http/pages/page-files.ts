import type { FastifyReply, FastifyRequest } from 'fastify'
import { QuoinError } from '../../shared/errors.ts'
import type { App } from '../route-family.ts'
import type { PageRoom } from './page-room.ts'
import { TEMPLATE_FILES } from './page-templates.ts'

/** A year: the name of each file says what is in it. */
const FOREVER = 'public, max-age=31536000, immutable'

/** Styles and scripts of pages, and those of page templates. */
export function pageFiles(app: App, { pages, templates }: PageRoom): void {
  const files = new Map(pages.assets.map((asset) => [asset.name, asset]))
  app.get<{ Params: { '*': string } }>(
    '/_pages/*',
    { config: { permission: 'public', entityTag: false }, schema: { hide: true } },
    async (request, reply) => {
      const name = request.params['*']
      if (name.startsWith(TEMPLATE_FILES)) {
        const file = await templates.file(name)
        if (!file) throw missing()
        return reply.header('cache-control', FOREVER).type(file.type).send(file.text)
      }
      const asset = files.get(name)
      if (!asset) throw missing()
      reply.header('cache-control', FOREVER).header('vary', 'accept-encoding').type(asset.type)
      return reply.send(await encoded(request, reply, asset))
    },
  )
}

async function encoded(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  asset: PageRoom['pages']['assets'][number],
): Promise<Buffer> {
  const accepted = String(headers['accept-encoding'] ?? '')
  for (const [name, bytes] of [
    ['br', asset.br],
    ['gzip', asset.gzip],
  ] as const) {
    if (!new RegExp(`\\b${name}\\b(?!\\s*;\\s*q=0(?:\\.0*)?(?:,|$))`, 'i').test(accepted)) continue
    const body = await bytes()
    reply.header('content-encoding', name)
    return body
  }
  return asset.body
}

function missing(): QuoinError {
  return new QuoinError('NOT_FOUND', 'There is no such file.')
}
