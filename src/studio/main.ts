/** What the page begins with: the sign-in form, or the studio, which is loaded meanwhile. */

import { shareWithPages, takeSignIn } from './api/page-session.ts'
import { place } from './api/saved-places.ts'
import { confirmWith, continueWaiting, session } from './api/session.ts'
import { shareSession } from './api/session-tabs.ts'
import { showSignInAgain, showSignInForm } from './sign-in/sign-in-form.ts'
import { signInTexts } from './texts/sign-in.ts'

const root = document.getElementById('studio')
if (root === null) throw new Error('index.html has no #studio')

const loadStudio = () => import('./app.tsx')
/** Takes away what is shown. */
let close = () => {}
let isOpen: 'form' | 'studio' | undefined
/** Takes away the form that is over the studio. */
let uncover: (() => void) | undefined

/** Who is not signed in gets the sign-in form at whatever address was opened, and that address behind it. */
async function show(ground: HTMLElement): Promise<void> {
  const { token, expired } = session.getState()
  const opened = token === '' ? 'form' : 'studio'
  if (isOpen === 'studio' && opened === 'form' && expired) {
    uncover ??= showSignInAgain(loadStudio().then(({ openedUser }) => openedUser()))
    return
  }
  if (uncover) return signedInAgain(ground, opened)
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

/** Another user gets a studio of their own, and so does the same one who has signed out in another tab. */
async function signedInAgain(ground: HTMLElement, opened: 'form' | 'studio'): Promise<void> {
  const end = uncover
  uncover = undefined
  const studio = await loadStudio()
  const isSame = opened === 'studio' && (await studio.isSameUser())
  end?.()
  if (isSame) {
    continueWaiting(true)
    return
  }
  continueWaiting(false)
  isOpen = undefined
  await show(ground)
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
  session.subscribe(() => void show(ground))
  await show(ground)
}

void start(root)
