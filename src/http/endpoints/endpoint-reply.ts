import { ChannelReply, FileBody, PlainText, type Reply } from '../../blocks/reply.ts'
import type { CompiledEndpoint } from '../../flows/compile/frame.ts'
import type { RunEnd } from '../../flows/run/run-start.ts'
import type { Permissions } from '../../records/permissions/permissions.ts'
import { isLargerThan, type JsonObject } from '../../shared/json.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { type FileToSend, fileAnswer } from '../replies/file-reply.ts'
import type { EndpointExchange } from './endpoint-exchange.ts'

// What a reply to GET says to caches, besides what its flow says itself.
// `public` is said only where it is certain that all callers get the same reply: a shared cache may keep it then even for a
// request that carried a token. Where a token may change the reply, the caches are told which headers carry one.

type Headers = Readonly<Record<string, string>>

/** The headers that may carry an access token. */
const VARY = 'authorization, cookie, x-token, x-authtoken'

/** `unruled`: whether no storage has rules that show it to one user and not to another one. `tokenInAddress`: then the address would be the key to the reply in every cache and history. */
function cachingHeaders(
  { listening: { cacheSeconds }, scopes, callerIndependent, flow }: CompiledEndpoint,
  status: number,
  tokenInAddress: boolean,
  unruled: () => boolean,
): Headers | undefined {
  const keeps = cacheSeconds > 0 && status === 200
  if (callerIndependent && isPublic(scopes) && (!flow.asUser || unruled()))
    return keeps ? { 'cache-control': `public, max-age=${cacheSeconds}` } : undefined
  if (tokenInAddress) return { 'cache-control': 'no-store' }
  return { 'cache-control': keeps ? `private, max-age=${cacheSeconds}` : 'private, no-cache', vary: VARY }
}

/** Both; what the flow says itself counts, and cannot take away what a reply varies with. */
export function withCaching(own: Headers, caching: Headers): Headers {
  const { vary } = caching
  if (own.vary === undefined || vary === undefined) return { ...caching, ...own }
  return { ...caching, ...own, vary: `${vary}, ${own.vary}` }
}

function isPublic(scopes: readonly string[]): boolean {
  return scopes.length === 0 || scopes.includes('*public')
}

/** The file of an asset, by its record. */
export type FileOf = (asset: JsonObject) => FileToSend

/** Values and characters in a reply that a flow put together. Stored documents are not counted: they are bounded as such. */
const MOST_VALUES = 1_000_000
const MOST_CHARACTERS = 64 * 1024 * 1024

/**
 * The text of a reply's body; undefined for a reply without one. Stored documents pass as the text they are. Throws for a
 * value that is too large to be written.
 */
export function replyText(reply: Reply): string | undefined {
  if (reply.code === 204 || reply.code === 304 || reply.value === undefined) return undefined
  if (isText(reply.value)) return reply.value.text
  if (reply.value instanceof FileBody || reply.value instanceof ChannelReply)
    throw new Error('Files and events are sent to the client that asked, and not kept.')
  if (isLargerThan(reply.value, MOST_VALUES, MOST_CHARACTERS))
    throw new Error(`The reply holds more than ${MOST_VALUES} values or ${MOST_CHARACTERS} characters.`)
  return JSON.stringify(reply.value)
}

/** Whether a body is there as text already. */
function isText(value: Reply['value']): value is StoredJson | PlainText {
  return value instanceof StoredJson || value instanceof PlainText
}

export interface SendingServices {
  readonly fileOf: FileOf
  readonly flows: { readonly permissions: Pick<Permissions, 'none'> }
}

/** Sends what a flow replied. */
export function sendReply(
  exchange: EndpointExchange,
  reply: Reply,
  { fileOf, flows }: SendingServices,
): void {
  let { headers } = reply
  if (exchange.method === 'GET' || exchange.method === 'HEAD') {
    const { endpoint, tokenInAddress } = exchange
    const caching = endpoint && cachingHeaders(endpoint, reply.code, tokenInAddress, flows.permissions.none)
    if (caching) headers = withCaching(headers, caching)
  }
  if (reply.value instanceof FileBody) {
    const file = fileOf(reply.value.asset)
    const { status, headers: own, body } = fileAnswer(exchange, file)
    const open = body && file.size > 0 ? () => file.read(body) : undefined
    exchange.stream({ status, headers: { ...headers, ...own }, open })
    return
  }
  const text = replyText(reply)
  const tagged = isText(reply.value) ? reply.value : undefined
  exchange.send({ status: reply.code, headers, text, tagged })
}

/** What a request gets whose flow ended without a reply: an error's reply, or 204. */
export function sendEnd(exchange: EndpointExchange, end: RunEnd): void {
  if (!end.error) {
    exchange.send({ status: 204, text: undefined })
  } else if (end.error.code === 'INTERNAL') {
    exchange.logFailure({ run: end.run, err: end.error.cause }, 'run failed')
    const text = JSON.stringify({ error: 'internal error', run: end.run })
    exchange.send({ status: 500, headers: { 'cache-control': 'no-store' }, text })
  } else {
    if (end.error.status >= 500) exchange.logFailure({ run: end.run, code: end.error.code }, 'run stopped')
    exchange.fail(end.error)
  }
}
