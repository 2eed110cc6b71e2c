import type { Assets } from '../../records/assets/assets.ts'
import { errorOfField, removeFiles, safeName } from '../../records/assets/file-links.ts'
import { PAGE_UPLOADS } from '../../records/assets/page-uploads.ts'
import type { Actor } from '../../records/records.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { guidOf, numberIn, textIn } from '../../storage/document-fields.ts'
import { sendCompressible } from '../replies/reply-compression.ts'
import type { App } from '../server/route-family.ts'
import { type PageServices, TEMPLATE_FILES } from './open-page-services.ts'
import type { ReadForm } from './read-form.ts'

export interface StoredFiles {
  readonly values: JsonObject
  /** Guids of the assets, to take them back when the flow fails. */
  readonly assets: readonly string[]
}

/** Makes assets of a form's files. A value is `{ guid, name, type, size }`, or a list where several may be chosen. */
export async function storeFiles(
  assets: Assets,
  { values, files }: ReadForm,
  by: Actor,
): Promise<StoredFiles> {
  const all: Record<string, JsonValue> = { ...values }
  const made: string[] = []
  try {
    for (const { file, multiple } of files) {
      const place = {
        name: safeName(file.name),
        directory: PAGE_UPLOADS,
        type: file.type,
        held: true,
      } as const
      const record = await assets.create(file.file, place, by)
      const guid = guidOf(record)
      made.push(guid)
      const value = {
        guid,
        name: textIn(record.name),
        type: textIn(record.type),
        size: numberIn(record.size),
      }
      const before = all[file.field]
      all[file.field] = multiple ? [...(Array.isArray(before) ? before : []), value] : value
    }
    return { values: all, assets: made }
  } catch (error) {
    await removeFiles(assets, made, by)
    const [first] = files
    throw first ? errorOfField(first.file.field, error) : error
  }
}

/** A year: the name of each file says what is in it. */
const FOREVER = 'public, max-age=31536000, immutable'

/** Styles and scripts of pages, and those of page templates. */
export function pageFiles(app: App, { pages, templates }: PageServices): void {
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
