import { createStore } from 'zustand/vanilla'
import { type Place, place } from './saved-places.ts'

const KEY = 'quoin.token'

interface Session {
  /** Empty: not signed in. */
  readonly token: string
  /** Whether a token was refused, which is not the same as never having had one. */
  readonly expired: boolean
}

/**
 * The access token. It is kept for the tab and given to tabs beside it (`studio/main.ts`), or in the browser if its user asked to stay signed in; pages of other sites can
 * read neither, and our policy runs no script but our own.
 */
export const session = createStore<Session>(() => ({ token: storedToken(), expired: false }))

/** Requests that wait until their user is signed in again. */
let waiting: PromiseWithResolvers<void> | undefined

export function signedIn(token: string, stay: boolean): void {
  forget()
  keep(stay ? 'localStorage' : 'sessionStorage', token)
  session.setState({ token, expired: false })
}

/** In another tab, which may have stored the token for all of them. */
export function signedInBeside(token: string): void {
  if (place('localStorage')?.getItem(KEY) !== token) keep('sessionStorage', token)
  session.setState({ token, expired: false })
}

/** After signing out, or when the server refuses the token. */
export function signedOut(expired: boolean): void {
  forget()
  if (expired) {
    waiting ??= Promise.withResolvers<void>()
    // There may be none that waits.
    waiting.promise.catch(() => undefined)
  }
  session.setState({ token: '', expired })
}

/** At once, but after the session has expired: then when its user has signed in again. Rejected for another user. */
export async function untilSignedIn(): Promise<void> {
  await waiting?.promise
}

/** What waited is sent, or given up: a write of one user is not sent as another. */
export function continueWaiting(isSameUser: boolean): void {
  const ended = waiting
  waiting = undefined
  if (isSameUser) ended?.resolve()
  else ended?.reject(new DOMException('', 'AbortError'))
}

let askToConfirm = async () => false
let asked: Promise<boolean> | undefined

/** What asks for the password again; gives whether the session is confirmed. */
export function confirmWith(ask: () => Promise<boolean>): void {
  askToConfirm = ask
}

/** Asks once for all requests that need it at the time. */
export function confirmed(): Promise<boolean> {
  asked ??= askToConfirm().finally(() => {
    asked = undefined
  })
  return asked
}

/** What tabs of one browser tell each other. Only pages of this origin hear it, and those could read `localStorage` too. */
export type SessionMessage =
  | { readonly kind: 'ask' }
  | { readonly kind: 'token' | 'signed_out' | 'expired'; readonly token: string }

export const SESSION_CHANNEL = 'quoin.session'

export function readSessionMessage(data: unknown): SessionMessage | undefined {
  if (typeof data !== 'object' || data === null || !('kind' in data)) return undefined
  const { kind } = data
  if (kind === 'ask') return { kind }
  if ((kind !== 'token' && kind !== 'signed_out' && kind !== 'expired') || !('token' in data))
    return undefined
  return typeof data.token === 'string' && data.token !== '' ? { kind, token: data.token } : undefined
}

/** Tells of tokens with which another tab has signed in. Gives what ends it. */
export function onSignInBeside(signedIn: (token: string) => Promise<void>): () => void {
  const channel = new BroadcastChannel(SESSION_CHANNEL)
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    const reported = readSessionMessage(data)
    if (reported?.kind === 'token') void signedIn(reported.token).catch(() => undefined)
  }
  return () => channel.close()
}

/** Whether its user asked to stay signed in. */
export function isStoredInBrowser(): boolean {
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
