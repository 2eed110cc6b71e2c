/** Requests that the server sends to itself as a caller that is known already: see `RouteTools`. */
import { randomBytes } from 'node:crypto'
import type { Identity } from '../../access/identity-cache.ts'
import type { App, ReplyStart, SentAs, SentReply } from './route-family.ts'

type Lent = Map<string, Identity>

/** `work` gets the headers of the request; its token ends when the work does. */
async function lendToken<T>(
  lent: Lent,
  identity: Identity,
  { body, headers }: SentAs,
  work: (headers: Record<string, string>) => Promise<T>,
): Promise<T> {
  const token = randomBytes(32).toString('base64url')
  lent.set(token, identity)
  try {
    return await work({
      ...headers,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      authorization: `Bearer ${token}`,
    })
  } finally {
    lent.delete(token)
  }
}

function injected({ method, path, body, ip }: SentAs, headers: Record<string, string>) {
  const payload = body === undefined ? {} : { payload: JSON.stringify(body) }
  return { method, url: `/api/v1${path}`, remoteAddress: ip, headers, ...payload }
}

export function sendAs(app: App, lent: Lent, identity: Identity, sent: SentAs): Promise<SentReply> {
  return lendToken(lent, identity, sent, async (headers) => {
    const reply = await app.inject(injected(sent, headers))
    const isJson = String(reply.headers['content-type']).includes('json')
    return { status: reply.statusCode, body: isJson ? JSON.parse(reply.body) : reply.body }
  })
}

export function sendBounded(
  app: App,
  lent: Lent,
  identity: Identity,
  sent: SentAs,
  mostBytes: number,
): Promise<ReplyStart> {
  return lendToken(lent, identity, sent, async (headers) => {
    const reply = await app.inject({ ...injected(sent, headers), payloadAsStream: true })
    const [type = ''] = String(reply.headers['content-type'] ?? '').split(';', 1)
    const chunks: Buffer[] = []
    let size = 0
    try {
      for await (const chunk of reply.stream()) {
        chunks.push(Buffer.from(chunk))
        size += chunk.length
        if (size > mostBytes) break
      }
    } finally {
      // What is read here is a copy: without this the reply waits for its client for ever, with its file open.
      reply.raw.res.destroy()
    }
    const bytes = Buffer.concat(chunks).subarray(0, mostBytes)
    return { status: reply.statusCode, type, bytes, whole: size <= mostBytes }
  })
}
