import type { RunFiles } from '../../blocks/run-files.ts'
import { QuoinError } from '../../shared/errors.ts'
import { type Assets, checkAssetPlace } from './assets.ts'

/** Assets as blocks see them. */
export function runFiles(assets: Assets): RunFiles {
  return {
    async save({ name, directory, type, content }, by) {
      checkAssetPlace({ name, directory })
      const file = await assets.files.receive(bounded(content, assets.limit))
      return assets.create(file, { name, directory, type }, by)
    },
    read: (record, range) => assets.read(record, range),
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
