import type { Assets } from '../../records/assets/assets.ts'
import type { JsonObject } from '../../shared/json.ts'
import { textIn } from '../../storage/document-fields.ts'
import type { FileToSend } from './file-reply.ts'

/** The file behind an asset's record. */
export function assetFile(assets: Assets, record: JsonObject): FileToSend {
  return {
    name: textIn(record.name),
    type: textIn(record.type),
    size: Number(record.size),
    sha256: textIn(record.sha256),
    read: (range) => assets.read(record, range),
  }
}
