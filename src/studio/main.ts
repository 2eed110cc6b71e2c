/** What the page begins with: the sign-in form, or the studio, which is loaded meanwhile. */

import { place } from './api/kept-places.ts'
import { shareWithPages } from './api/page-session.ts'
import { session } from './api/session.ts'
import { shareSession } from './api/session-tabs.ts'
import { showSignInForm } from './sign-in/sign-in-form.ts'
import { signInTexts } from './texts/sign-in.ts'

const root = document.getElementById('studio')
if (root === null) throw new Error('index.html has no #studio')

const loadStudio = () => import('./app.tsx')
/** Takes away what is shown. */
let close = () => {}
let isOpen: 'form' | 'studio' | undefined

/** Who is not signed in gets the sign-in form at whatever address was opened, and that address behind it. */
async function show(ground: HTMLElement): Promise<void> {
  const opened = session.getState().token === '' ? 'form' : 'studio'
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

/** No `await` at the top of this file: what it loads imports a piece of it, and would wait for its end. */
async function start(ground: HTMLElement): Promise<void> {
  // The library of the studio keeps the choice there, and reads it when it is loaded.
  const chosen = place('localStorage')?.getItem('mantine-color-scheme-value')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.mantineColorScheme = chosen
  if (session.getState().token !== '') void loadStudio().catch(() => undefined)
  // Behind the answer of another tab, or 150 ms: without it a signed-in user would see the sign-in form flash.
  await shareSession().ready
  void shareWithPages(false)
  session.subscribe(() => void show(ground))
  await show(ground)
}

void start(root)
