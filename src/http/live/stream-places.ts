import type { Identity } from '../../access/identity-cache.ts'
import { mayEnter } from '../../access/scopes.ts'
import { subjectOf } from '../../records/permissions/judge.ts'
import { countedAddress } from '../../shared/counted-address.ts'
import { QuoinError } from '../../shared/errors.ts'
import { andThen, isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { EndpointExchange } from '../endpoints/endpoint-exchange.ts'
import { isRefused } from '../server/authenticate.ts'
import { queryParameters } from '../server/query-parameters.ts'
import type { RouteTools } from '../server/route-family.ts'

/** How many event streams may be open; 0: no limit. */
export interface StreamLimits {
  /** On this node. */
  readonly all: number
  readonly ofAddress: number
  readonly ofUser: number
}

export interface StreamPlaces {
  /** Takes a place; the function gives it back. UNAVAILABLE when the node has none left, else RATE_LIMITED. */
  take(ip: string, user: string | undefined): () => void
}

const RETRY_SECONDS = 30

export function streamPlaces(limits: StreamLimits): StreamPlaces {
  let open = 0
  const addresses = new Map<string, number>()
  const users = new Map<string, number>()

  return {
    take(ip, user) {
      const address = countedAddress(ip)
      if (isFull(open, limits.all))
        throw new QuoinError('UNAVAILABLE', 'Too many event streams are open on this node.', {
          retryAfter: RETRY_SECONDS,
        })
      if (isFull(addresses.get(address) ?? 0, limits.ofAddress)) throw tooMany('at one address')
      if (user !== undefined && isFull(users.get(user) ?? 0, limits.ofUser)) throw tooMany('by one user')
      open += 1
      add(addresses, address, 1)
      if (user !== undefined) add(users, user, 1)
      return () => {
        open -= 1
        add(addresses, address, -1)
        if (user !== undefined) add(users, user, -1)
      }
    },
  }
}

function isFull(open: number, most: number): boolean {
  return most > 0 && open >= most
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}

function tooMany(where: string): QuoinError {
  return new QuoinError('RATE_LIMITED', `Too many event streams are open ${where}.`, {
    retryAfter: RETRY_SECONDS,
  })
}

// Who a stream is for, asked again before each event: a token ends, scopes are taken away, users are locked.

export type Identify = RouteTools['identify']

/** Whether a caller may still follow, and if not, what it is told. `changed`: the caller's rights are others now. */
export type Standing = 'allowed' | 'changed' | { readonly status: number; readonly message: string }

const SIGNED_OUT = { status: 401, message: 'The access token or API key has ended. Sign in again.' }
const NOT_FOUND = { status: 404, message: 'not found' }

/**
 * What rules of storages can see of a caller, as text: callers with the same text read the same documents. Those who are not
 * bound by rules are all the same.
 */
export function subjectText(identity: Identity | undefined): string {
  const { bound, user } = subjectOf(identity?.user, identity?.scopes)
  if (!bound) return 'unbound'
  if (user === undefined) return 'anonymous'
  const scopes = identity ? [...identity.scopes].sort() : []
  return JSON.stringify([user.guid, user.username, user.groups, scopes])
}

/** Looks the caller of a stream up again. */
export function standingOf(exchange: EndpointExchange, identify: Identify): MaybePromise<Standing> {
  const { identity: before, endpoint } = exchange
  if (before === undefined || !endpoint) return 'allowed'
  return andThen(identified(exchange, identify), (identity): Standing => {
    if (identity === undefined) return SIGNED_OUT
    if (!mayEnter(endpoint.scopes, identity)) return NOT_FOUND
    return identity === before || subjectText(identity) === subjectText(before) ? 'allowed' : 'changed'
  })
}

function identified(
  { method, url, headers, host, ip }: EndpointExchange,
  identify: Identify,
): MaybePromise<Identity | undefined> {
  const at = url.indexOf('?')
  const query = at < 0 ? {} : queryParameters(url.slice(at + 1))
  const asking = { method, url, headers, query, host, ip, identity: undefined, accessToken: undefined }
  const refused = (error: unknown): undefined => {
    if (isRefused(error)) return undefined
    throw error
  }
  try {
    const identity = identify(asking)
    return isPromise(identity) ? identity.catch(refused) : identity
  } catch (error) {
    return refused(error)
  }
}
