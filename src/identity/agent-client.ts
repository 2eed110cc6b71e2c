/**
 * Clients of agents name themselves by the address of a document (OAuth Client ID Metadata Document): there is no registration. The
 * document is fetched under the rules for outgoing requests, and only for users who are signed in.
 */

import type { Clock } from '../shared/clock.ts'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { lruCache } from '../shared/lru-cache.ts'

const LONGEST_ADDRESS = 500
/** Bytes of a document, which `fetch` reads no further. */
export const MOST_DOCUMENT_BYTES = 16_384
const MOST_REDIRECTS = 50
const LONGEST_NAME = 80
const MOST_KNOWN = 1_000
const KNOWN_MS = 300_000

export interface AgentClient {
  readonly id: string
  readonly name: string
  readonly redirectUris: readonly string[]
}

type Fetch = (address: string) => Promise<Pick<Response, 'status' | 'text'>>

/** Gives what a client says of itself. INVALID_QUERY for one that is unknown or says nonsense. A good document counts for five minutes. */
export function agentClients(fetch: Fetch, clock: Clock): (id: string) => Promise<AgentClient> {
  const known = lruCache<string, { readonly client: AgentClient; readonly until: number }>(MOST_KNOWN)
  return async (id) => {
    const found = known.get(id)
    if (found && found.until > clock()) return found.client
    const client = readClient(id, await documentAt(clientAddress(id), fetch))
    known.set(id, { client, until: clock() + KNOWN_MS })
    return client
  }
}

/** An address of https, with a path; of http only on this machine, for development. */
function clientAddress(id: string): string {
  const url = id.length <= LONGEST_ADDRESS ? URL.parse(id) : null
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url))
  const isPlain = url !== null && url.username === '' && url.password === '' && url.hash === ''
  if (!url || !isSafe || !isPlain || url.pathname === '/' || url.href !== id)
    throw refused(
      'client_id must be the address of a document, such as https://agent.example.org/client.json',
    )
  return id
}

async function documentAt(address: string, fetch: Fetch): Promise<JsonObject> {
  try {
    const reply = await fetch(address)
    const read: unknown = JSON.parse(reply.status === 200 ? await reply.text() : '')
    if (isJsonObject(read)) return read
  } catch (error) {
    // Which hosts answer from here is not for the one who asks.
    throw refused('The document at client_id could not be read', error)
  }
  throw refused('The document at client_id could not be read')
}

/** Throws INVALID_QUERY. */
function readClient(id: string, document: JsonObject): AgentClient {
  const { client_id: own, client_name: name, redirect_uris: redirects } = document
  if (own !== id) throw refused('The document at client_id names another client_id')
  if (typeof name !== 'string' || name.trim() === '')
    throw refused('The document at client_id has no client_name')
  const method = document.token_endpoint_auth_method ?? 'none'
  if (method !== 'none')
    throw refused('The document at client_id asks for a secret of the client; none is supported')
  const list: readonly unknown[] = Array.isArray(redirects) ? redirects : []
  const uris = list.slice(0, MOST_REDIRECTS).filter((one) => typeof one === 'string')
  const good = uris.filter(isRedirect)
  if (good.length === 0)
    throw refused('The document at client_id has no redirect_uris of https or of this machine')
  const shown = name
    .trim()
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .slice(0, LONGEST_NAME)
    .toWellFormed()
  return { id, name: shown, redirectUris: good }
}

function isRedirect(text: string): boolean {
  const url = text.length <= LONGEST_ADDRESS ? URL.parse(text) : null
  if (url?.hash !== '' || url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === '127.0.0.1' || hostname === '[::1]' || hostname === 'localhost'
}

/** Exactly one of those of the client; on this machine at any port, which a program gets when it starts (RFC 8252). */
export function allowsRedirect({ redirectUris }: AgentClient, requested: string): boolean {
  if (redirectUris.includes(requested)) return true
  if (!isRedirect(requested)) return false
  const asked = new URL(requested)
  return redirectUris.some((one) => {
    const own = new URL(one)
    if (!isLoopback(own) || own.protocol !== 'http:') return false
    own.port = asked.port
    return own.href === asked.href && asked.href === requested
  })
}

function refused(message: string, cause?: unknown): QuoinError {
  return new QuoinError('INVALID_QUERY', `${message}.`, { fields: ['client_id'], cause })
}
