import type { Caller } from './caller.ts'

/**
 * Whether one of our own pages sent the request. Browsers say so in `Sec-Fetch-Site`, which no page can forge; older ones
 * say at least from where in `Origin`. Only the host is compared, as a proxy in front may have taken off the TLS.
 */
export function isSameOrigin(request: Pick<Caller, 'headers' | 'host'>): boolean {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin } = request.headers
  if (origin === undefined || !URL.canParse(origin)) return false
  return new URL(origin).host === request.host
}
