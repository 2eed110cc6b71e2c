/** Requests over a connection: where they may lead, and how they are signed in. */
import type { Agent } from 'undici'
import { PinError } from '../block.ts'
import type { OpenedConnection, SignIn } from '../http-connection.ts'
import { accessToken, forgetToken } from './access-token.ts'
import { replyMask } from './masked-reply.ts'
import { checkHeaders } from './reply-headers.ts'
import {
  type AnswerHead,
  type OutgoingRequest,
  outgoingUrl,
  sendForHead,
  type TimeLimits,
} from './send-request.ts'

/** The address below the connection's base. Throws PinError('url', …) for one that leads elsewhere. */
export function connectionUrl({ baseUrl }: OpenedConnection, text: string): URL {
  if (/^[a-z][a-z0-9+.-]*:/i.test(text) || /^[/\\]{2}/.test(text))
    throw new PinError('url', 'must be a path below the base address of the connection')
  const url = outgoingUrl(`./${text.replace(/^\//, '')}`, baseUrl)
  if (!isBelow(url, baseUrl))
    throw new PinError('url', 'must not lead out of the base address of the connection')
  return url
}

export function isBelow(url: URL, baseUrl: URL): boolean {
  return url.origin === baseUrl.origin && url.pathname.startsWith(baseUrl.pathname)
}

/** The client writes these itself. */
export const isRefusedHeader = (name: string): boolean => name === 'host' || name === 'accept-encoding'

/** A GET request with the headers and the sign-in of the connection, of which only the status counts. Throws as `sendRequest`. */
export function sendOver(
  connection: OpenedConnection,
  path: string,
  agent: Agent,
  limits: TimeLimits & { readonly now: () => number },
): Promise<AnswerHead> {
  const headers = {
    ...{ accept: '*/*', 'user-agent': 'quoin' },
    ...checkHeaders(connection.headers, isRefusedHeader),
    'accept-encoding': 'identity',
  }
  const request = { url: connectionUrl(connection, path), method: 'GET', headers, body: undefined }
  return sendSignedIn(connection, request, agent, limits, (one) => sendForHead(one, agent, limits))
}

/**
 * Sends a request with what signs it in. A 401 with an access token that was stored fetches one new token and sends the
 * request once more.
 */
export async function sendSignedIn<A extends AnswerHead>(
  connection: OpenedConnection,
  request: OutgoingRequest,
  agent: Agent,
  limits: { readonly signal: AbortSignal; readonly now: () => number },
  send: (request: OutgoingRequest) => Promise<A>,
): Promise<A> {
  const { signIn } = connection
  if (signIn.kind === 'none') return send(request)
  if (signIn.kind !== 'oauth2') {
    const secret = signIn.secret.revealTo(request.url)
    return send(signedIn(request, plainSignIn(signIn, secret), [secret]))
  }
  const once = async () => {
    const token = await accessToken(signIn, request.url, connection.identity, agent, limits)
    const secrets = [token, signIn.secret.hidden() ?? '']
    const answer = await send(signedIn(request, { authorization: `Bearer ${token}` }, secrets))
    return { token, answer }
  }
  const first = await once()
  if (first.answer.code !== 401) return first.answer
  await forgetToken(connection.identity, first.token)
  return (await once()).answer
}

/** `secrets`: what the reply does not show to a flow. */
function signedIn(
  request: OutgoingRequest,
  headers: Readonly<Record<string, string>>,
  secrets: readonly string[],
): OutgoingRequest {
  return { ...request, headers: { ...request.headers, ...headers }, mask: replyMask(secrets) }
}

type PlainSignIn = Exclude<SignIn, { readonly kind: 'none' | 'oauth2' }>

function plainSignIn(signIn: PlainSignIn, secret: string): Record<string, string> {
  switch (signIn.kind) {
    case 'bearer':
      return { authorization: `Bearer ${headerText(secret)}` }
    case 'basic': {
      const pair = Buffer.from(`${signIn.username}:${secret}`).toString('base64')
      return { authorization: `Basic ${pair}` }
    }
    case 'header':
      return { [signIn.header.toLowerCase()]: headerText(secret) }
  }
}

/** A file that holds a secret often ends with a line break. */
function headerText(secret: string): string {
  const text = secret.trim()
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text))
    throw new PinError('connection', 'has a secret that no header can hold: one line of Latin characters')
  return text
}
