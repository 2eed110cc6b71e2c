import { call } from './request.ts'
import { isStoredInBrowser, session, signedIn } from './session.ts'

/** As `shared/account-paths.ts` has it, which is loaded with the screens: this is there before them. */
const HANDOVER = '#session='

/** The session of a sign-in on a page that led here (`#session=…`), which is taken out of the address. */
export async function takeSignIn(): Promise<void> {
  if (!location.hash.startsWith(HANDOVER)) return
  const code = location.hash.slice(HANDOVER.length)
  history.replaceState(history.state, '', location.pathname + location.search)
  try {
    const taken = await call<{ access_token: string }>('POST', '/auth/exchange', {
      body: { code },
      atOnce: true,
    })
    signedIn(taken.access_token, false)
  } catch {
    // It was used before: the sign-in form is shown.
  }
}

/**
 * Signs the user of the studio in on pages too: the server sets the cookie that signing in there sets. `replace`: also where
 * another session is signed in on pages. It is of this session, so it waits for no other one. Gives whether pages have a session now.
 */
export async function shareWithPages(replace: boolean): Promise<boolean> {
  if (session.getState().token === '') return false
  try {
    await call('POST', '/auth/pages', { body: { stay: isStoredInBrowser(), replace }, atOnce: true })
    return true
  } catch {
    // Pages ask to sign in, as before.
    return false
  }
}
