import type { Multipart, MultipartFile } from '@fastify/multipart'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type AssetInput, type Assets, checkAssetPlace } from '../../../records/assets/assets.ts'
import { invalidField, QuoinError } from '../../../shared/errors.ts'
import type { ReceivedFile } from '../../../storage/assets/asset-files.ts'

export interface Upload {
  readonly file: ReceivedFile
  readonly input: AssetInput
}

/** What a request may say beside the file in its query; the first two also as fields of the form. */
export interface UploadPlace {
  readonly filename?: string
  readonly directory?: string
  /** A folder in the directory. */
  readonly path?: string
  /** Guid of a block. */
  readonly action?: string
  readonly filetype?: string
}

/** Names of boundaries, headers of parts and small fields. */
const AROUND = 1024 * 1024
const STANDARD_DIRECTORY = 'system_assets'

/**
 * Reads a multipart body with one file, or a body that is the file, straight to disk. Throws FILE_TOO_BIG past the limit,
 * INVALID_BODY for a body that is cut or is no such form; then nothing of the file is left.
 */
export async function receiveUpload(
  request: FastifyRequest,
  reply: FastifyReply,
  assets: Assets,
  query: UploadPlace,
): Promise<Upload> {
  const length = request.headers['content-length']
  if (length !== undefined && Number(length) > assets.limit + AROUND) {
    // Nothing of it is read, so the connection cannot be used again.
    reply.header('connection', 'close')
    throw tooBig(assets.limit)
  }
  if (!request.isMultipart()) return receiveBody(request, reply, assets, query)
  const input: { filename?: string; directory?: string } = { ...query }
  let file: ReceivedFile | undefined
  let sent: MultipartFile | undefined
  try {
    for await (const part of request.parts(partLimits(assets.limit))) {
      if (part.type === 'field') {
        takeField(input, part)
        continue
      }
      sent = part
      checkAssetPlace(placeOf(input, part.filename))
      file = await assets.files.receive(part.file)
      if (part.file.truncated) throw tooBig(assets.limit)
    }
    if (file === undefined || sent === undefined)
      throw invalidField('file', 'The form contains no file. Send it as a part with a filename.')
    const place = placeOf(input, sent.filename)
    checkAssetPlace(place)
    return { file, input: { ...place, type: sent.mimetype } }
  } catch (error) {
    if (file) await assets.files.discard(file)
    letRestPass(request, reply, length !== undefined)
    throw uploadError(error, request)
  }
}

/** The body is the file. Its name has to be in the query. */
async function receiveBody(
  request: FastifyRequest,
  reply: FastifyReply,
  assets: Assets,
  query: UploadPlace,
): Promise<Upload> {
  const lengthKnown = request.headers['content-length'] !== undefined
  let file: ReceivedFile | undefined
  try {
    if (query.filename === undefined)
      throw invalidField(
        'filename',
        'Send the file as multipart/form-data, or as the body with its name in the query: ?filename=…',
      )
    const place = placeOf(query, query.filename)
    checkAssetPlace(place)
    file = await assets.files.receive(atMost(request.raw, assets.limit))
    return { file, input: { ...place, type: query.filetype ?? request.headers['content-type'] } }
  } catch (error) {
    if (file) await assets.files.discard(file)
    letRestPass(request, reply, lengthKnown)
    throw uploadError(error, request)
  }
}

async function* atMost(source: AsyncIterable<Buffer>, limit: number): AsyncGenerator<Buffer, void> {
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.length
    if (bytes > limit) throw tooBig(limit)
    yield chunk
  }
}

function partLimits(fileSize: number) {
  return {
    // Past the size the parser ends the file as if it were whole; `truncated` tells.
    throwFileSizeLimit: false,
    limits: {
      fileSize,
      files: 1,
      fields: 10,
      parts: 11,
      fieldNameSize: 100,
      fieldSize: 4096,
      headerPairs: 20,
    },
  }
}

function takeField(input: { filename?: string; directory?: string }, part: Multipart): void {
  const { fieldname } = part
  if (part.type !== 'field' || (fieldname !== 'filename' && fieldname !== 'directory')) return
  if (typeof part.value !== 'string' || part.valueTruncated)
    throw invalidField(fieldname, `${fieldname} must be text of at most 255 bytes.`)
  input[fieldname] = part.value
}

function placeOf(input: UploadPlace, sentName: string | undefined): Pick<AssetInput, 'name' | 'directory'> {
  const folders = [input.directory ?? STANDARD_DIRECTORY]
  if (input.action) folders.push('blueprints')
  if (input.path) folders.push(input.path)
  return { name: input.filename ?? sentName ?? '', directory: folders.join('/') }
}

/**
 * The sender reads the reply only when all is sent. If we know how much that is (not more than the limit), it is read and
 * thrown away; without a length it might never end, so the connection does.
 */
function letRestPass(request: FastifyRequest, reply: FastifyReply, lengthKnown: boolean): void {
  if (!lengthKnown) reply.header('connection', 'close')
  request.raw.unpipe()
  request.raw.resume()
}

function uploadError(error: unknown, request: FastifyRequest): unknown {
  if (error instanceof QuoinError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'FST_FILES_LIMIT') return invalidField('file', 'The form contains more than one file.')
  const cut = request.raw.destroyed || !request.raw.complete
  const fromForm = code.startsWith('FST_') || code === 'ERR_STREAM_PREMATURE_CLOSE' || isParserError(error)
  if (!cut && !fromForm) return error
  return new QuoinError('INVALID_BODY', 'The form is cut off or not valid multipart/form-data.', {
    cause: error,
  })
}

/** The parser's own errors carry no code. */
function isParserError(error: unknown): boolean {
  return (
    error instanceof Error &&
    !('code' in error) &&
    /multipart|part terminated|boundary|header/i.test(error.message)
  )
}

function tooBig(limit: number): QuoinError {
  return new QuoinError('FILE_TOO_BIG', `The file is larger than ${limit} bytes. Nothing was stored.`)
}
