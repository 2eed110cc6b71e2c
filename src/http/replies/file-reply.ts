/**
 * A file as a reply: whole, a range of it, or 304. By hand and not with @fastify/static: our files have no names on disk,
 * their type is in a record, and their tag is the hash of their content, while that plugin makes all three of the path.
 */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Assets } from '../../records/assets/assets.ts'
import { contentDisposition, isShown } from '../../shared/files/file-types.ts'
import { type ImageRequest, steppedImage } from '../../shared/files/image-request.ts'
import type { JsonObject } from '../../shared/json.ts'
import { textIn } from '../../storage/document-fields.ts'

export interface FileToSend {
  readonly name: string
  readonly type: string
  readonly size: number
  /** Hexadecimal; the tag of the content. */
  readonly sha256: string
  /** Browsers save it, also where they could show it. */
  readonly saved?: boolean
  /** From byte `start` to byte `end`, both included. */
  readonly read: (range: { readonly start: number; readonly end: number }) => Readable
}

type Range = { readonly start: number; readonly end: number } | 'whole' | 'unsatisfiable'

/** What of a file goes to a client, by the headers of its request. */
export interface FileAnswer {
  readonly status: 200 | 206 | 304 | 416
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: no body. */
  readonly body: { readonly start: number; readonly end: number } | undefined
}

type FileRequest = Pick<FastifyRequest, 'method' | 'headers'>

export function fileAnswer(request: FileRequest, file: FileToSend): FileAnswer {
  const { size, sha256, type } = file
  const tag = `"${sha256}"`
  const headers = {
    etag: tag,
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    // Whatever the type: a page that gets out of this cage is a page on our own origin.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'content-disposition': contentDisposition(file, file.saved),
    'content-type': isShown(type) && type.startsWith('text/') ? `${type}; charset=utf-8` : type,
  }
  if (mayBeKnown(request, tag)) return { status: 304, headers, body: undefined }
  const range = rangeOf(request, tag, size)
  if (range === 'unsatisfiable') {
    const { 'content-disposition': _, ...others } = headers
    return { status: 416, headers: { ...others, 'content-range': `bytes */${size}` }, body: undefined }
  }
  const body = range === 'whole' ? { start: 0, end: size - 1 } : range
  const part = range === 'whole' ? {} : { 'content-range': `bytes ${body.start}-${body.end}/${size}` }
  const length = { 'content-length': String(body.end - body.start + 1) }
  return { status: range === 'whole' ? 200 : 206, headers: { ...headers, ...part, ...length }, body }
}

export function sendFile(request: FastifyRequest, reply: FastifyReply, file: FileToSend): FastifyReply {
  const { status, headers, body } = fileAnswer(request, file)
  const { 'content-type': type = '', ...others } = headers
  reply.headers(others).type(type)
  // The tag's hook makes a 304 of it, and must find nothing open then.
  if (status === 304) return reply.send('')
  reply.code(status)
  if (!body) return reply.send('')
  // A stream, and an empty one: for text the framework would set the length to that of the text.
  if (request.method === 'HEAD') return reply.send(Readable.from([]))
  if (file.size === 0) return reply.send('')
  return reply.send(file.read(body))
}

function mayBeKnown({ headers }: FileRequest, tag: string): boolean {
  const known = headers['if-none-match']
  if (known === undefined) return false
  return known.trim() === '*' || known.split(',').some((one) => one.trim().replace(/^W\//, '') === tag)
}

/** One range of bytes. Several at once, which are rare and cost the server more than the client, get the whole file (RFC 9110). */
function rangeOf({ headers, method }: FileRequest, tag: string, size: number): Range {
  const { range } = headers
  const condition = headers['if-range']
  if (range === undefined || method === 'HEAD' || (condition !== undefined && condition !== tag))
    return 'whole'
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range.trim()) ?? []
  if (first === '' && last === '') return 'whole'
  if (first === '') {
    const length = Number(last)
    return length === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - length), end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return 'whole'
  return start >= size ? 'unsatisfiable' : { start, end }
}

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
  const shown = requested && (await assets.image(record, requested))
  const file = shown ? { ...assetFile(assets, shown.record), read: shown.read } : assetFile(assets, record)
  return sendFile(request, reply, { ...file, ...more })
}
