import type { RunFiles } from '../../blocks/block-services.ts'
import type { Clock } from '../../shared/clock.ts'
import { QuoinError } from '../../shared/errors.ts'
import { contentDisposition } from '../../shared/files/file-types.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import type { SigningSecret } from '../secrets/signing-secret.ts'
import { type Assets, checkAssetPlace } from './assets.ts'
import { linkPath } from './file-links.ts'

/** Assets as blocks see them. */
export function runFiles(assets: Assets, secret: SigningSecret, clock: Clock): RunFiles {
  return {
    async save({ name, directory, type, content }, by) {
      checkAssetPlace({ name, directory })
      const file = await assets.files.receive(bounded(content, assets.limit))
      return assets.create(file, { name, directory, type }, by)
    },
    read: (record, range) => assets.read(record, range),
    async link(record, { seconds, saved, direct }) {
      const [name, type] = [textIn(record.name), textIn(record.type)]
      const disposition = contentDisposition({ name, type }, saved)
      const address = direct ? await assets.presigned(record, { seconds, type, disposition }) : undefined
      const expires = Math.floor(clock() / 1000) + seconds
      return address ?? linkPath(secret, { guid: guidOf(record), expires, saved })
    },
    image: (record, requested) => assets.convert(record, requested),
    remove: (guid, by) => assets.remove(guid, by),
  }
}

async function* bounded(content: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of content) {
    bytes += chunk.length
    if (bytes > most) throw new QuoinError('FILE_TOO_BIG', `The file has more than ${most} bytes.`)
    yield chunk
  }
}
