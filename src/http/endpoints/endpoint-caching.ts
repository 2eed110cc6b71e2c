/**
 * What a reply to GET says to caches, besides what its flow says itself.
 *
 * `public` is said only where it is certain that all callers get the same reply: a shared cache may keep it then even for a
 * request that carried a token. Where a token may change the reply, the caches are told which headers carry one.
 */
import type { CompiledEndpoint } from '../../flows/compile/frame.ts'

type Headers = Readonly<Record<string, string>>

/** The headers that may carry an access token. */
const VARY = 'authorization, cookie, x-token, x-authtoken'

/** `unruled`: whether no storage has rules that show it to one user and not to another one. `tokenInAddress`: then the address would be the key to the reply in every cache and history. */
export function cachingHeaders(
  { listening: { cacheSeconds }, scopes, callerBlind, flow }: CompiledEndpoint,
  status: number,
  tokenInAddress: boolean,
  unruled: () => boolean,
): Headers | undefined {
  const keeps = cacheSeconds > 0 && status === 200
  if (callerBlind && isPublic(scopes) && (!flow.asUser || unruled()))
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
