/** The second step of a sign-in, and the confirmation of a session. Loaded where a code or a password is asked for again. */
import type { Info } from '../../shared/api/operate/nodes.ts'
import type { SecondFactor } from '../../shared/api/people/second-factors.ts'
import type { ProviderButton } from '../../shared/api/people/sign-in-providers.ts'
import type { User } from '../../shared/api/people/users.ts'
import { address, call } from '../api/request.ts'
import { isStoredInBrowser, onSignInBeside, signedIn } from '../api/session.ts'
import { signInTexts } from '../texts/sign-in.ts'
import { hasPasskeys } from './device.ts'
import { element, openCover, passwordField, showRefusal } from './form-elements.ts'
import type { FinishedSignIn } from './passkey-sign-in.ts'
import { qrPicture } from './qr-picture.ts'

/**
 * Shows the form for the code in place of that for the password. `details`: of the refused sign-in. `enter` gets the access
 * token, behind the recovery codes where the sign-in has set up a factor.
 */
export async function showCodeForm(
  main: HTMLElement,
  brand: HTMLElement,
  details: Readonly<Record<string, unknown>>,
  enter: (token: string) => void,
): Promise<void> {
  const notice = element('div', { class: 'sign-in-notice' })
  const code = codeInput()
  const button = element('button', { type: 'submit', class: 'sign-in-submit' }, signInTexts.goOn)
  const form = element('form', { class: 'sign-in-card' }, brand, notice)
  const finish = ({ access_token, recovery_codes }: FinishedSignIn) => {
    if (!recovery_codes) return enter(access_token)
    showRecoveryCodes(form, recovery_codes, () => enter(access_token))
  }
  form.append(...(await setupNodes(details.setup)))
  if (details.passkey === true) {
    const { passkeyStep } = await import('./passkey-sign-in.ts')
    form.append(passkeyStep(details.challenge, { notice, enter }))
  }
  // There is no app whose code could be typed where only a passkey can be set up.
  if (!hasMissing(details.setup)) form.append(element('label', {}, signInTexts.code, code), button)
  if (await canSetUpPasskey(details.setup)) {
    const { passkeySetup } = await import('./passkey-sign-in.ts')
    form.append(...passkeySetup(details.challenge, { notice, finish }))
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    try {
      const body = { challenge: details.challenge, code: code.value }
      finish(await call<FinishedSignIn>('POST', '/auth/second-factor', { body, atOnce: true }))
    } catch (error) {
      showRefusal(notice, error)
      button.disabled = false
      code.select()
    }
  })
  main.replaceChildren(form)
  code.focus()
}

async function canSetUpPasskey(setup: unknown): Promise<boolean> {
  if (typeof setup !== 'object' || setup === null || !('passkey' in setup) || setup.passkey !== true)
    return false
  return hasPasskeys(await call<Info>('GET', '/info', { atOnce: true }))
}

function codeInput(): HTMLInputElement {
  return element('input', { name: 'code', autocomplete: 'one-time-code', required: '', maxlength: '64' })
}

function hasMissing(setup: unknown): setup is { readonly missing: unknown } {
  return typeof setup === 'object' && setup !== null && 'missing' in setup
}

async function setupNodes(setup: unknown): Promise<readonly HTMLElement[]> {
  if (hasMissing(setup)) return [element('p', {}, String(setup.missing))]
  if (typeof setup !== 'object' || setup === null || !('secret' in setup) || !('uri' in setup))
    return [element('p', {}, signInTexts.codeHelp)]
  const picture = { src: await qrPicture(String(setup.uri)), alt: signInTexts.qrCode }
  return [
    element('p', {}, signInTexts.setupHelp),
    element('img', { ...picture, width: '200', height: '200' }),
    element('p', { class: 'sign-in-dimmed' }, `${signInTexts.key}: ${String(setup.secret)}`),
  ]
}

function showRecoveryCodes(form: HTMLFormElement, codes: readonly string[], go: () => void): void {
  const button = element('button', { type: 'button', class: 'sign-in-submit' }, signInTexts.storedThem)
  button.addEventListener('click', go)
  form.replaceChildren(
    element('h1', {}, signInTexts.recoveryCodes),
    element('p', {}, signInTexts.recoveryHelp),
    element('div', { class: 'sign-in-codes' }, ...codes.map((code) => element('code', {}, code))),
    button,
  )
  button.focus()
}

/**
 * Asks for the password, and for a code where the user has a factor; a user without a password signs in with the provider again, in
 * another tab. Gives false when the user cancels.
 */
export async function confirmSession(): Promise<boolean> {
  const { password: hasPassword, totp, passkeys } = await call<SecondFactor>('GET', '/users/me/second-factor')
  const hasFactor = totp || passkeys > 0
  const answer = Promise.withResolvers<boolean>()
  const again = hasPassword ? undefined : await signInBeside(() => answer.resolve(true))
  const { cover, uncover } = openCover()
  const notice = element('div', { class: 'sign-in-notice' })
  const password = element('input', {
    ...{ name: 'password', type: 'password', autocomplete: 'current-password', required: '' },
  })
  const code = codeInput()
  const submit = element('button', { type: 'submit', class: 'sign-in-submit' }, signInTexts.confirm)
  const cancel = element('button', { type: 'button', class: 'sign-in-cancel' }, signInTexts.cancel)
  const form = element(
    'form',
    { class: 'sign-in-card' },
    element('h1', {}, signInTexts.confirmTitle),
    element('p', {}, signInTexts.confirmHelp),
    notice,
    ...(passkeys > 0
      ? [(await import('./passkey-sign-in.ts')).passkeyConfirmation(notice, () => answer.resolve(true))]
      : []),
    ...(again
      ? again.nodes
      : [
          passwordField(password),
          ...(hasFactor ? [element('label', {}, signInTexts.code, code)] : []),
          submit,
        ]),
    cancel,
  )
  cancel.addEventListener('click', () => answer.resolve(false))
  cover.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') answer.resolve(false)
  })
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    submit.disabled = true
    try {
      const body = { password: password.value, ...(hasFactor && { code: code.value }) }
      await call('POST', '/auth/confirm', { body })
      answer.resolve(true)
    } catch (error) {
      showRefusal(notice, error, signInTexts.notConfirmed)
      submit.disabled = false
    }
  })
  cover.append(element('main', { class: 'sign-in' }, form))
  const first = again ? form.querySelector<HTMLElement>('a, button') : password
  first?.focus()
  return answer.promise.finally(() => {
    again?.close()
    uncover()
  })
}

interface SignInBeside {
  readonly nodes: readonly HTMLElement[]
  close(): void
}

/** Links that open a tab in which the provider asks again. What is typed here stays, and the session of that tab counts here too. */
async function signInBeside(confirmed: () => void): Promise<SignInBeside> {
  const { guid } = (await call<User>('GET', '/users/me'))._meta
  const providers = await call<readonly ProviderButton[]>('GET', '/auth/providers')
  const next = encodeURIComponent(location.pathname + location.search)
  const links = providers.map(({ title, start }) =>
    element(
      'a',
      {
        ...{ class: 'sign-in-provider', href: `${start}?again=1&next=${next}` },
        ...{ target: '_blank', rel: 'noopener' },
      },
      signInTexts.signInWith(title),
    ),
  )
  const close = onSignInBeside(async (token) => {
    const headers = { authorization: `Bearer ${token}` }
    const reply = await fetch(address('/users/me'), { headers })
    const found: Partial<User> = reply.ok ? await reply.json() : {}
    if (found._meta?.guid !== guid) return
    signedIn(token, isStoredInBrowser())
    confirmed()
  })
  return { nodes: links.length === 0 ? [] : [element('p', {}, signInTexts.confirmBeside), ...links], close }
}
