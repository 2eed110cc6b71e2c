/**
 * The header `x-quoin-trace` has one request traced, for users who may change blueprints: `1` for the sender, or
 * `Bearer <token>` for the user of that token, while the request itself keeps its caller. From others it is ignored. No flow
 * sees it.
 */
import type { Identity } from '../../access/identity-cache.ts'
import { holds } from '../../access/scopes.ts'
import type { RunStart } from '../../flows/run/run-start.ts'
import { andThen, isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import { isRefused } from '../server/authenticate.ts'
import type { RouteTools } from '../server/route-family.ts'
import type { EndpointExchange } from './endpoint-exchange.ts'

export const TRACE_HEADER = 'x-quoin-trace'

/** Told the guid of a run that is traced, before it begins. */
export type Traced = NonNullable<RunStart['traced']>

/** For a request that has the header: what its run is started with to be traced; undefined where it may not be. */
export function tracedFor(
  exchange: EndpointExchange,
  tools: Pick<RouteTools, 'identify'>,
): MaybePromise<Traced | undefined> {
  const { headers } = exchange
  const asked = String(headers[TRACE_HEADER])
  delete headers[TRACE_HEADER]
  const asker = asked === '1' ? exchange.identity : userOf(asked, exchange, tools)
  return andThen(asker, (identity) => {
    if (!identity || !holds(identity.scopes, 'blueprints_update')) return undefined
    return (run) => exchange.alsoSend('x-quoin-run', run)
  })
}

/** Undefined for a token that is none. */
function userOf(
  authorization: string,
  { method, host, ip, url }: EndpointExchange,
  tools: Pick<RouteTools, 'identify'>,
): MaybePromise<Identity | undefined> {
  const nobody = (error: unknown): undefined => {
    if (isRefused(error)) return undefined
    throw error
  }
  const asking = { method, headers: { authorization }, query: {}, host, ip, url }
  try {
    const identity = tools.identify({ ...asking, identity: undefined, accessToken: undefined })
    return isPromise(identity) ? identity.catch(nobody) : identity
  } catch (error) {
    return nobody(error)
  }
}
