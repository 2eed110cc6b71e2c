/**
 * A file as a reply: whole, a range of it, or 304. By hand and not with @fastify/static: our files have no names on disk,
 * their type is in a record, and their tag is the hash of their content, while that plugin makes all three of the path.
 */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

export interface FileToSend {
  readonly name: string
  readonly type: string
  readonly size: number
  /** Hexadecimal; the tag of the content. */
  readonly sha256: string
  /** From byte `start` to byte `end`, both included. */
  readonly read: (range: { readonly start: number; readonly end: number }) => Readable
}

type Range = { readonly start: number; readonly end: number } | 'whole' | 'unsatisfiable'

/** Types that a browser shows and cannot run; everything else is offered for saving. PDF is not among them: it has scripts. */
const SHOWN =
  /^(?:image\/(?!svg)[a-z0-9.+-]+|audio\/[a-z0-9.+-]+|video\/[a-z0-9.+-]+|font\/[a-z0-9.+-]+|text\/(?:plain|css|csv)|application\/json)$/

export function sendFile(request: FastifyRequest, reply: FastifyReply, file: FileToSend): FastifyReply {
  const { size, sha256 } = file
  const tag = `"${sha256}"`
  reply
    .header('etag', tag)
    .header('accept-ranges', 'bytes')
    .header('x-content-type-options', 'nosniff')
    // Whatever the type: a page that gets out of this cage is a page on our own origin.
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    .header('content-disposition', disposition(file))
    .type(SHOWN.test(file.type) && file.type.startsWith('text/') ? `${file.type}; charset=utf-8` : file.type)
  // The tag's hook makes a 304 of it, and must find nothing open then.
  if (mayBeKnown(request, tag)) return reply.send('')
  const range = rangeOf(request, tag, size)
  if (range === 'unsatisfiable') {
    return reply
      .code(416)
      .header('content-range', `bytes */${size}`)
      .removeHeader('content-disposition')
      .send('')
  }
  const { start, end } = range === 'whole' ? { start: 0, end: size - 1 } : range
  if (range !== 'whole') reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`)
  reply.header('content-length', String(end - start + 1))
  // A stream, and an empty one: for text the framework would set the length to that of the text.
  if (request.method === 'HEAD') return reply.send(Readable.from([]))
  if (size === 0) return reply.send('')
  return reply.send(file.read({ start, end }))
}

function mayBeKnown({ headers }: FastifyRequest, tag: string): boolean {
  const known = headers['if-none-match']
  if (known === undefined) return false
  return known.trim() === '*' || known.split(',').some((one) => one.trim().replace(/^W\//, '') === tag)
}

/** One range of bytes. Several at once, which are rare and cost the server more than the client, get the whole file (RFC 9110). */
function rangeOf({ headers, method }: FastifyRequest, tag: string, size: number): Range {
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

function disposition({ name, type }: FileToSend): string {
  const kind = SHOWN.test(type) ? 'inline' : 'attachment'
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`)
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`
}
