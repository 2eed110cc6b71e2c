import type { Assets } from '../engine/assets.ts'
import { text } from '../engine/records.ts'
import type { JsonObject } from '../shared/json.ts'
import type { FileToSend } from './file-reply.ts'

/** The file behind an asset's record. */
export function assetFile(assets: Assets, record: JsonObject): FileToSend {
  return {
    name: text(record, 'name'),
    type: text(record, 'type'),
    size: Number(record.size),
    sha256: text(record, 'sha256'),
    read: (range) => assets.read(record, range),
  }
}
