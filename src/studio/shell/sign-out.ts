import { queryClient } from '../api/query-client.ts'
import { call } from '../api/request.ts'
import { signedOut } from '../api/session.ts'

/** The token dies on every node. If the server cannot be asked it is forgotten here all the same. */
export async function signOut(): Promise<void> {
  try {
    await call('POST', '/auth/signout')
  } catch {
    // A token that the server no longer knows needs no signing out.
  }
  signedOut(false)
  queryClient.clear()
}
