import { QuoinError } from '../../shared/errors.ts'
import { sendCompressible } from '../replies/accepted-encoding.ts'
import type { App } from '../server/route-family.ts'
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
      reply.header('cache-control', FOREVER).type(asset.type)
      return reply.send(await sendCompressible(request.headers, reply, asset))
    },
  )
}

function missing(): QuoinError {
  return new QuoinError('NOT_FOUND', 'There is no such file.')
}
