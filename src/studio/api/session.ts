import { createStore } from 'zustand/vanilla'

const KEY = 'quoin.token'

interface Session {
  /** Empty: not signed in. */
  readonly token: string
  /** Whether a token was refused, which is not the same as never having had one. */
  readonly expired: boolean
}

/**
 * The access token. It is kept for the tab, or in the browser if its user asked to stay signed in; pages of other sites can
 * read neither, and our policy runs no script but our own.
 */
export const session = createStore<Session>(() => ({ token: storedToken(), expired: false }))

export function signedIn(token: string, stay: boolean): void {
  forget()
  keep(stay ? 'localStorage' : 'sessionStorage', token)
  session.setState({ token, expired: false })
}

/** After signing out, or when the server refuses the token. */
export function signedOut(expired: boolean): void {
  forget()
  session.setState({ token: '', expired })
}

type Place = 'localStorage' | 'sessionStorage'

/** A browser that forbids storage throws at the mere mention of it. */
function place(name: Place): Storage | undefined {
  try {
    return globalThis[name]
  } catch {
    return undefined
  }
}

function storedToken(): string {
  return place('sessionStorage')?.getItem(KEY) ?? place('localStorage')?.getItem(KEY) ?? ''
}

function keep(name: Place, token: string): void {
  place(name)?.setItem(KEY, token)
}

function forget(): void {
  place('sessionStorage')?.removeItem(KEY)
  place('localStorage')?.removeItem(KEY)
}
