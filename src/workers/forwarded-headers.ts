/** What a request keeps, and what it gets, on its way from a reader to the writer, and its reply on the way back. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

/** The client's address. Trusted only at the entrance for readers; elsewhere the header is ignored. */
export const SENDER_HEADER = 'x-quoin-sender'

/** About one connection, and so not passed on to the next one (RFC 9110, 7.6.1), or set again there. */
const OF_CONNECTION = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  SENDER_HEADER,
])

/** Names and values in turns, in their order, as undici takes them. */
export function headersToWriter({ rawHeaders, socket }: IncomingMessage): string[] {
  const kept: string[] = [SENDER_HEADER, socket.remoteAddress ?? '']
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (!OF_CONNECTION.has(name.toLowerCase())) kept.push(name, rawHeaders[at + 1] ?? '')
  }
  return kept
}

export function headersToClient(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const kept: IncomingHttpHeaders = {}
  for (const [name, value] of Object.entries(headers)) if (!OF_CONNECTION.has(name)) kept[name] = value
  return kept
}

/** Whether bytes come behind the head. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}
