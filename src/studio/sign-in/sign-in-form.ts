/**
 * The sign-in form, in place of whatever was asked for. Without React and the library of the other screens: it is there
 * after 6 KB instead of 245, and the studio is loaded while the user types.
 */
import './sign-in-form.css'
import type { Info } from '../../shared/api/operate/nodes.ts'
import type { SignedIn } from '../../shared/api/people/auth.ts'
import type { ProviderButton } from '../../shared/api/people/sign-in-providers.ts'
import { ApiError } from '../api/api-error.ts'
import { shareWithPages } from '../api/page-session.ts'
import { call } from '../api/request.ts'
import { session, signedIn } from '../api/session.ts'
import mark from '../quoin.svg'
import { signInTexts } from '../texts/sign-in.ts'
import { hasPasskeys } from './device.ts'
import { element, openCover, passwordField, showRefusal, type Typing } from './form-elements.ts'

/** Shows it in `root`, and gives what takes it away again. */
export function showSignInForm(root: HTMLElement): () => void {
  document.title = signInTexts.title
  const notice = element('div', { class: 'sign-in-notice' })
  const username = element('input', {
    name: 'username',
    autocomplete: ['username', 'webauthn'].join(' '),
    required: '',
  })
  const password = element('input', {
    ...{ name: 'password', type: 'password', autocomplete: 'current-password', required: '' },
  })
  const stay = element('input', { type: 'checkbox' })
  const button = element('button', { type: 'submit', class: 'sign-in-submit' }, signInTexts.signIn)
  const form = element(
    'form',
    { class: 'sign-in-card' },
    brand(),
    notice,
    element('label', {}, signInTexts.usernameOrEmail, username),
    passwordField(password),
    element('label', { class: 'sign-in-stay' }, stay, signInTexts.staySignedIn),
    button,
  )
  showHint(form, notice)
  const main = element('main', { class: 'sign-in' }, form)
  const enter = (token: string) => {
    if (isFirstStart()) history.replaceState(history.state, '', location.pathname + location.search)
    signedIn(token, stay.checked)
    void shareWithPages(true)
  }
  let takeBack = () => {}
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    try {
      const body = { username: username.value, password: password.value }
      const { access_token } = await call<SignedIn>('POST', '/auth/signin', { body, atOnce: true })
      enter(access_token)
    } catch (error) {
      button.disabled = false
      const isHalf = error instanceof ApiError && error.code === 'SECOND_FACTOR_REQUIRED'
      if (!isHalf) return showRefusal(notice, error)
      takeBack()
      const { showCodeForm } = await import('./code-form.ts')
      await showCodeForm(main, brand(), error.details, enter)
    }
  })
  const links = element('div', { class: 'sign-in-providers' })
  button.after(links)
  void showProviders(links)
  void offerPasskeys(links, { notice, enter }).then((end) => {
    takeBack = end
  })
  root.replaceChildren(main)
  focusFirst(username, password)
  return () => {
    takeBack()
    main.remove()
  }
}

/** The first start makes one user, whose name is filled in. */
function focusFirst(username: HTMLInputElement, password: HTMLInputElement): void {
  if (isFirstStart()) username.value = 'admin'
  const first = isFirstStart() ? password : username
  first.focus()
}

/** Behind the address that the first start prints beside the password: strangers hear nothing of whether it has ever been signed in to. */
function isFirstStart(): boolean {
  return location.hash === '#first-start'
}

export interface SignInCover {
  /** Puts the cursor back where it was, too. */
  close(): void
  /** It is not known yet who has signed in. */
  failed(error: unknown): void
}

/**
 * Shows it over the studio of a user, which keeps what was typed. Only the password is asked for, unless another user signs in.
 * Who is typing is asked first, and goes on: what is typed is not for a password.
 */
export function showSignInAgain(user: Promise<string>, typing: Typing): SignInCover {
  let shown: SignInCover | undefined
  let removeBar = () => {}
  const open = () => {
    removeBar()
    shown ??= showCover(user)
  }
  if (typing.isTyping()) removeBar = typing.showEnded(open)
  else open()
  return {
    close() {
      removeBar()
      shown?.close()
    },
    failed: (error) => shown?.failed(error),
  }
}

function showCover(user: Promise<string>): SignInCover {
  const { title } = document
  const { cover, uncover } = openCover()
  const close = showSignInForm(cover)
  user.then((username) => fillUser(cover, username)).catch(() => undefined)
  return {
    close() {
      close()
      document.title = title
      uncover()
    },
    failed(error) {
      const notice = cover.querySelector<HTMLElement>('.sign-in-notice')
      if (notice) showRefusal(notice, error, signInTexts.tryingAgain)
    },
  }
}

function fillUser(cover: HTMLElement, username: string): void {
  const [name, password] = cover.querySelectorAll('input')
  if (!name || !password || name.value !== '' || username === '') return
  name.value = username
  if (document.activeElement === name) password.focus()
}

/** A link for each provider. It leads away: what was typed in the studio is lost, as by loading the page again. */
async function showProviders(links: HTMLElement): Promise<void> {
  const none: readonly ProviderButton[] = []
  const providers = await call<readonly ProviderButton[]>('GET', '/auth/providers', { atOnce: true }).catch(
    () => none,
  )
  const next = encodeURIComponent(location.pathname + location.search)
  for (const { title, start } of providers)
    links.append(
      element(
        'a',
        { class: 'sign-in-provider', href: `${start}?next=${next}` },
        signInTexts.signInWith(title),
      ),
    )
}

/** Where this address has passkeys. Gives what takes the offer back. */
async function offerPasskeys(
  links: HTMLElement,
  offer: { readonly notice: HTMLElement; readonly enter: (token: string) => void },
): Promise<() => void> {
  const info = await call<Info>('GET', '/info', { atOnce: true }).catch(() => undefined)
  if (!info || !hasPasskeys(info) || !links.isConnected) return () => undefined
  const { offerPasskey } = await import('./passkey-sign-in.ts')
  return offerPasskey(links, offer)
}

function brand(): HTMLElement {
  const node = element('p', { class: 'sign-in-dimmed' })
  // The name of the node is a help, not a need.
  const named = ({ node: name, environment }: Info) => node.replaceChildren(`${name} · ${environment}`)
  void call<Info>('GET', '/info', { atOnce: true }).then(named, () => undefined)
  return element(
    'div',
    { class: 'sign-in-brand' },
    element('img', { src: mark, alt: '', width: '36', height: '36' }),
    element('div', {}, element('h1', {}, signInTexts.signInToQuoin), node),
  )
}

function showHint(form: HTMLElement, notice: HTMLElement): void {
  if (isFirstStart()) form.append(element('p', { class: 'sign-in-dimmed' }, signInTexts.firstStart))
  if (!session.getState().expired) return
  notice.classList.add('sign-in-expired')
  notice.replaceChildren(signInTexts.sessionExpired)
}
