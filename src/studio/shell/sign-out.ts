import { queryClient } from '../api/query-client.ts'
import { call } from '../api/request.ts'
import { signedOut } from '../api/session.ts'

/**
 * The token dies on every node. If the server cannot be asked it is forgotten here all the same. Goes on to where the user signs out at the
 * provider, if the session came from one.
 */
export async function signOut(): Promise<void> {
  let next: string | undefined
  try {
    next = (await call<{ continue?: string }>('POST', '/auth/signout')).continue
  } catch {
    // A token that the server no longer knows needs no signing out.
  }
  signedOut(false)
  queryClient.clear()
  if (next !== undefined) location.assign(next)
}
