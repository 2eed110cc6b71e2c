/** What the page begins with: the sign-in form, or the studio, which is loaded meanwhile. */

import { shareWithPages, takeSignIn } from './api/page-session.ts'
import { place } from './api/saved-places.ts'

import {
  confirmWith,
  continueWaiting,
  readSessionMessage,
  SESSION_CHANNEL,
  type SessionMessage,
  session,
  signedInBeside,
  signedOut,
} from './api/session.ts'

import { type Typing, watchTyping } from './sign-in/form-elements.ts'

import { type SignInCover, showSignInAgain, showSignInForm } from './sign-in/sign-in-form.ts'
import { signInTexts } from './texts/sign-in.ts'

const root = document.getElementById('studio')
if (root === null) throw new Error('index.html has no #studio')

const loadStudio = () => import('./app.tsx')
/** Takes away what is shown. */
let close = () => {}
let isOpen: 'form' | 'studio' | undefined
/** The form that is over the studio. */
let cover: SignInCover | undefined

/** Who is not signed in gets the sign-in form at whatever address was opened, and that address behind it. */
async function show(ground: HTMLElement, typing: Typing): Promise<void> {
  const { token, expired } = session.getState()
  const opened = token === '' ? 'form' : 'studio'
  if (isOpen === 'studio' && opened === 'form' && expired) {
    // The one that is there has signed in already.
    cover?.close()
    cover = showSignInAgain(
      loadStudio().then(({ openedUser }) => openedUser()),
      typing,
    )
    return
  }
  if (cover) return signedInAgain(ground, typing, cover)
  if (opened === isOpen) return
  isOpen = opened
  if (opened === 'form') {
    close()
    close = showSignInForm(ground)
    // What is typed takes longer than this. A failure is said when the studio is needed.
    await loadStudio().catch(() => undefined)
    return
  }
  try {
    const { openStudio } = await loadStudio()
    // Signed out again meanwhile: the form is there already.
    if (isOpen !== opened) return
    close()
    close = openStudio(ground)
  } catch {
    ground.textContent = signInTexts.notLoaded
  }
}

/**
 * Another user gets a studio of their own, and so does the same one who has signed out in another tab. Until it is known who it
 * is, the form stays over the studio, and requests wait.
 */
async function signedInAgain(ground: HTMLElement, typing: Typing, over: SignInCover): Promise<void> {
  const { token } = session.getState()
  const studio = await loadStudio()
  const isSame = token !== '' && (await studio.isSameUser(over.failed))
  // For a session that began since, it is asked on its own.
  if (isSame === undefined || session.getState().token !== token || cover !== over) return
  cover = undefined
  over.close()
  if (isSame) {
    continueWaiting(true)
    return
  }
  continueWaiting(false)
  isOpen = undefined
  await show(ground, typing)
}

/** No `await` at the top of this file: what it loads imports a piece of it, and would wait for its end. */
async function start(ground: HTMLElement): Promise<void> {
  // The library of the studio keeps the choice there, and reads it when it is loaded.
  const chosen = place('localStorage')?.getItem('mantine-color-scheme-value')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.mantineColorScheme = chosen
  if (session.getState().token !== '') void loadStudio().catch(() => undefined)
  // Behind the answer of another tab, or 150 ms: without it a signed-in user would see the sign-in form flash.
  await shareSession().ready
  await takeSignIn()
  void shareWithPages(false)
  confirmWith(async () => (await import('./sign-in/code-form.ts')).confirmSession())
  const typing = watchTyping()
  session.subscribe(() => void show(ground, typing))
  await show(ground, typing)
}

/** Milliseconds that a new tab waits for an answer before it shows the sign-in screen. Others answer in under 10. */
const PATIENCE = 150

/**
 * One session over all tabs: a new tab takes the token of another one, and signing in or out in one counts in all.
 * The promise is kept when an answer is there, or none came in time. Gives what ends it.
 */
function shareSession(): { readonly ready: Promise<void>; close(): void } {
  if (!('BroadcastChannel' in globalThis)) return { ready: Promise.resolve(), close: () => undefined }
  const channel = new BroadcastChannel(SESSION_CHANNEL)
  const tell = (reported: SessionMessage) => channel.postMessage(reported)
  /** What the others know already: it is not told back to them. */
  let known = session.getState().token
  const answered = Promise.withResolvers<void>()
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    const reported = readSessionMessage(data)
    const { token } = session.getState()
    if (reported?.kind === 'ask' && token !== '') tell({ kind: 'token', token })
    if (reported?.kind === 'token' && token === '') {
      known = reported.token
      signedInBeside(reported.token)
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

// Behind all constants: what it calls reads them at once.
void start(root)
