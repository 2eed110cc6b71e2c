import type { Access } from '../../access/access.ts'
import type { RequestListener } from './finished-request.ts'

/**
 * Notes each finished request of a signed-in user, of custom endpoints too, in the user log. For anonymous requests it
 * costs one look at a field.
 */
export function logRequests(access: Pick<Access, 'logRequest'>): RequestListener {
  return ({ identity, ip, agent, method, url, status, milliseconds }) => {
    if (identity === undefined) return
    const path = url.split('?', 1)[0] ?? ''
    access.logRequest({ user: identity, ip, agent, method, path, status, milliseconds })
  }
}
