import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Assets } from '../../records/assets/assets.ts'
import { type ImageRequest, steppedImage } from '../../shared/files/image-request.ts'
import type { JsonObject } from '../../shared/json.ts'
import { textIn } from '../../storage/document-fields.ts'
import { type FileToSend, sendFile } from './file-reply.ts'

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

/** Sends an asset, or the image of it that the query asks for. */
export async function sendAsset(
  request: FastifyRequest & { readonly query: ImageRequest },
  reply: FastifyReply,
  assets: Assets,
  record: JsonObject,
  more: Pick<FileToSend, 'saved'> = {},
): Promise<FastifyReply> {
  const requested = steppedImage(request.query)
  const shown = requested ? await assets.image(record, requested) : record
  return sendFile(request, reply, { ...assetFile(assets, shown), ...more })
}
