import { createStore } from 'zustand/vanilla'
import { type Place, place } from './kept-places.ts'

const KEY = 'quoin.token'

interface Session {
  /** Empty: not signed in. */
  readonly token: string
  /** Whether a token was refused, which is not the same as never having had one. */
  readonly expired: boolean
}

/**
 * The access token. It is kept for the tab and given to tabs beside it (`session-tabs.ts`), or in the browser if its user asked to stay signed in; pages of other sites can
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

/** Whether its user asked to stay signed in. */
export function isKeptInBrowser(): boolean {
  return place('localStorage')?.getItem(KEY) === session.getState().token
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
