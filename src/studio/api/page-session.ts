import { call } from './request.ts'
import { isStoredInBrowser, session } from './session.ts'

/**
 * Signs the user of the studio in on pages too: the server sets the cookie that signing in there sets. `replace`: also where
 * another session is signed in on pages. It is of this session, so it waits for no other one.
 */
export async function shareWithPages(replace: boolean): Promise<void> {
  if (session.getState().token === '') return
  try {
    await call('POST', '/auth/pages', { body: { stay: isStoredInBrowser(), replace }, atOnce: true })
  } catch {
    // Pages ask to sign in, as before.
  }
}
