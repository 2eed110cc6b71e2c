/**
 * Smaller replies for clients that take them: of the API and of custom endpoints. Compressed in a thread; the event loop
 * only copies the text. What is sent many times (studio, docs) is kept compressed instead: see `pages/compressible.ts`.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, onSendHookHandler } from 'fastify'
import type { Compressible } from '../../pages/compressible.ts'

/** Bytes below which a reply is not worth it: it fits into one or two packets anyway. */
export const LEAST = 2 * 1024
/**
 * Bytes that are being compressed at once, in all requests. The threads are those of files and of password hashes: with
 * more the rest is sent as it is. 32 MiB take 0.5 s on two cores.
 */
const MOST_AT_ONCE = 32 * 1024 * 1024
/** 90 KB of documents: a third of their size in 2.4 ms. The highest takes 116 ms for little less. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 4 }
const level = 5

const packers: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params }),
  gzip: (bytes) => promisify(gzip)(bytes, { level }),
}

export interface ReplyCompression {
  /**
   * The text compressed; undefined when too much is being compressed already. `owner`: what is sent again as the same
   * text; then it is compressed once for as long as the owner is kept.
   */
  compress(text: string | Buffer, encoding: Encoding, owner?: object): Promise<Buffer> | undefined
}

interface Packed {
  readonly encoding: Encoding
  readonly bytes: Promise<Buffer>
}

export function replyCompression(mostAtOnce = MOST_AT_ONCE): ReplyCompression {
  const compressed = new WeakMap<object, Packed>()
  let underWay = 0
  return {
    compress(text, encoding, owner) {
      const known = owner && compressed.get(owner)
      if (known?.encoding === encoding) return known.bytes
      const plain = Buffer.from(text)
      if (underWay + plain.length > mostAtOnce) return undefined
      underWay += plain.length
      const bytes = packers[encoding](plain).finally(() => {
        underWay -= plain.length
      })
      if (owner) compressed.set(owner, { encoding, bytes })
      return bytes
    },
  }
}

const ASKED = 'accept-encoding'

/** How a reply of this length is to be compressed for this client; undefined: not at all. */
export function requestedEncoding(headers: IncomingHttpHeaders, length: number): Encoding | undefined {
  return length < LEAST ? undefined : acceptedEncodings(headers)[0]
}

/** RFC 9110, 8.8.1: a strong tag says that the bytes are the same, and compressed they are not. */
export function weakTag(tag: string): string {
  return tag.startsWith('W/') ? tag : `W/${tag}`
}

/**
 * Not pages: they show what their address says beside a token against forged requests, and the length of such a compressed
 * reply tells the token to who can read lengths on the wire (BREACH).
 */
const textual = /^(text\/(?!html|event-stream)|application\/([\w.+-]*\+)?(json|xml|javascript)\b|image\/svg)/

/** The same for replies of the framework. Streams (files, exports, events) stay as they are. */
export function compressReplies({ compress }: ReplyCompression): onSendHookHandler<unknown> {
  return async (request, reply, payload) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
    if (payload.length < LEAST || reply.hasHeader('content-encoding')) return payload
    if (!textual.test(String(reply.getHeader('content-type') ?? ''))) return payload
    const vary = String(reply.getHeader('vary') ?? '')
    if (!vary.includes(ASKED)) reply.header('vary', vary === '' ? ASKED : `${vary}, ${ASKED}`)
    const encoding = requestedEncoding(request.headers, payload.length)
    // A HEAD request gets the length of the uncompressed text.
    if (encoding === undefined || request.method === 'HEAD') return payload
    const bytes = await compress(payload, encoding)
    if (!bytes) return payload
    const tag = reply.getHeader('etag')
    if (tag !== undefined) reply.header('etag', weakTag(String(tag)))
    reply.header('content-encoding', encoding).removeHeader('content-length')
    return bytes
  }
}

/** Content encodings that Quoin sends, the smallest result first. */
const encodings = ['br', 'gzip'] as const

type Encoding = (typeof encodings)[number]

/** Those that the client takes, in our order: it names them, and not with the weight 0 (RFC 9110, 12.5.3). */
export function acceptedEncodings(headers: IncomingHttpHeaders): readonly Encoding[] {
  const accepted = headers['accept-encoding']
  if (accepted === undefined) return []
  const named = new Set<string>()
  for (const one of String(accepted).split(',')) {
    const [name = '', weight = ''] = one.split(';').map((part) => part.trim().toLowerCase())
    if (!/^q=0(\.0*)?$/.test(weight)) named.add(name)
  }
  return encodings.filter((encoding) => named.has(encoding))
}

/** Sends the smallest that the client takes. */
export async function sendCompressible(
  headers: IncomingHttpHeaders,
  reply: FastifyReply,
  text: Compressible,
): Promise<Buffer> {
  reply.header('vary', 'accept-encoding')
  const [encoding] = acceptedEncodings(headers)
  if (encoding === undefined) return text.body
  reply.header('content-encoding', encoding)
  return text[encoding]()
}
