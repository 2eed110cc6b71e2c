/**
 * The sign-in form, in place of whatever was asked for. Without React and the library of the other screens: it is there
 * after 6 KB instead of 245, and the studio is loaded while the user types.
 */
import './sign-in-form.css'
import type { Info } from '../../shared/api/info.ts'
import type { SignedIn } from '../../shared/api/people/auth.ts'
import { ApiError, messageOf } from '../api/api-error.ts'
import { shareWithPages } from '../api/page-session.ts'
import { call } from '../api/request.ts'
import { session, signedIn } from '../api/session.ts'
import mark from '../quoin.svg'
import { signInTexts } from '../texts/sign-in.ts'

/** Shows it in `root`, and gives what takes it away again. */
export function showSignInForm(root: HTMLElement): () => void {
  document.title = signInTexts.title
  const notice = element('div', { class: 'sign-in-notice' })
  const username = element('input', { name: 'username', autocomplete: 'username', required: '' })
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
  if (session.getState().expired) showExpired(notice)
  else form.append(element('p', { class: 'sign-in-dimmed' }, signInTexts.firstStart))
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    try {
      const body = { username: username.value, password: password.value }
      const { access_token } = await call<SignedIn>('POST', '/auth/signin', { body, atOnce: true })
      signedIn(access_token, stay.checked)
      void shareWithPages(true)
    } catch (error) {
      showRefusal(notice, error)
      button.disabled = false
    }
  })
  const main = element('main', { class: 'sign-in' }, form)
  root.replaceChildren(main)
  username.focus()
  return () => main.remove()
}

/**
 * Shows it over the studio of a user, which keeps what was typed. Gives what takes it away, and puts the cursor back where
 * it was. Only the password is asked for, unless another user signs in.
 */
export function showSignInAgain(user: Promise<string>): () => void {
  const { title, activeElement: focused } = document
  const covered = [...document.body.children].filter((one) => one instanceof HTMLElement)
  const cover = element('div', { class: 'sign-in-cover' })
  for (const one of covered) one.inert = true
  document.body.append(cover)
  const close = showSignInForm(cover)
  user.then((username) => fillUser(cover, username)).catch(() => undefined)
  // Keys are for the form, and Escape closes no dialog below it.
  for (const input of cover.querySelectorAll('input, button'))
    input.setAttribute('data-mantine-stop-propagation', 'true')
  cover.addEventListener('keydown', (event) => event.stopPropagation())
  return () => {
    close()
    cover.remove()
    document.title = title
    for (const one of covered) one.inert = false
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  }
}

function fillUser(cover: HTMLElement, username: string): void {
  const [name, password] = cover.querySelectorAll('input')
  if (!name || !password || name.value !== '' || username === '') return
  name.value = username
  if (document.activeElement === name) password.focus()
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

/** What was typed can be looked at: on a phone passwords are typed wrong more often than not. */
function passwordField(input: HTMLInputElement): HTMLElement {
  input.id = 'sign-in-password'
  const show = element('button', { type: 'button', 'aria-controls': input.id }, signInTexts.show)
  show.addEventListener('click', () => {
    const isHidden = input.type === 'password'
    input.type = isHidden ? 'text' : 'password'
    show.replaceChildren(isHidden ? signInTexts.hide : signInTexts.show)
    input.focus()
  })
  return element(
    'div',
    { class: 'sign-in-password' },
    element('label', { for: input.id }, signInTexts.password),
    input,
    show,
  )
}

function showExpired(notice: HTMLElement): void {
  notice.classList.add('sign-in-expired')
  notice.replaceChildren(signInTexts.sessionExpired)
}

function showRefusal(notice: HTMLElement, error: unknown): void {
  const found = error instanceof ApiError ? [error.code, error.request].filter((word) => word !== '') : []
  notice.classList.remove('sign-in-expired')
  notice.classList.add('sign-in-refused')
  notice.setAttribute('role', 'alert')
  notice.replaceChildren(
    element('strong', {}, signInTexts.notSignedIn),
    element('span', {}, messageOf(error)),
    element('code', {}, found.join(' · ')),
  )
}

function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>>,
  ...content: readonly (string | Node)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...content)
  return made
}
