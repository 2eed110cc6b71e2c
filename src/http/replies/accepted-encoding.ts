import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Compressible } from '../../pages/compressible.ts'

/** Content encodings that Quoin sends, the smallest result first. */
const encodings = ['br', 'gzip'] as const

export type Encoding = (typeof encodings)[number]

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
