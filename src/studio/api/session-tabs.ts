import { session, signedIn, signedOut } from './session.ts'

/** What tabs of one browser tell each other. Only pages of this origin hear it, and those could read `localStorage` too. */
type SessionMessage =
  | { readonly kind: 'ask' }
  | { readonly kind: 'token' | 'signed_out' | 'expired'; readonly token: string }

/** Milliseconds that a new tab waits for an answer before it shows the sign-in screen. Others answer in under 10. */
const PATIENCE = 150

/**
 * One session over all tabs: a new tab takes the token of another one, and signing in or out in one counts in all.
 * The promise is kept when an answer is there, or none came in time. Gives what ends it.
 */
export function shareSession(): { readonly ready: Promise<void>; close(): void } {
  if (!('BroadcastChannel' in globalThis)) return { ready: Promise.resolve(), close: () => undefined }
  const channel = new BroadcastChannel('quoin.session')
  const tell = (reported: SessionMessage) => channel.postMessage(reported)
  /** What the others know already: it is not told back to them. */
  let known = session.getState().token
  const answered = Promise.withResolvers<void>()
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    const reported = readMessage(data)
    const { token } = session.getState()
    if (reported?.kind === 'ask' && token !== '') tell({ kind: 'token', token })
    if (reported?.kind === 'token' && token === '') {
      known = reported.token
      signedIn(reported.token, false)
      answered.resolve()
    }
    // Another user's session in this tab goes on.
    if ((reported?.kind === 'signed_out' || reported?.kind === 'expired') && token === reported.token) {
      known = ''
      signedOut(reported.kind === 'expired')
    }
  }
  const stop = session.subscribe(({ token, expired }, before) => {
    if (token === known) return
    known = token
    const ended = expired ? 'expired' : 'signed_out'
    tell(token === '' ? { kind: ended, token: before.token } : { kind: 'token', token })
  })
  if (known === '') {
    tell({ kind: 'ask' })
    setTimeout(answered.resolve, PATIENCE)
  } else answered.resolve()
  return {
    ready: answered.promise,
    close() {
      stop()
      channel.close()
    },
  }
}

function readMessage(data: unknown): SessionMessage | undefined {
  if (typeof data !== 'object' || data === null || !('kind' in data)) return undefined
  const { kind } = data
  if (kind === 'ask') return { kind }
  if ((kind !== 'token' && kind !== 'signed_out' && kind !== 'expired') || !('token' in data))
    return undefined
  return typeof data.token === 'string' && data.token !== '' ? { kind, token: data.token } : undefined
}
