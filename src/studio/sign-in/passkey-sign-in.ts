/** Passkeys in the forms in front of the studio. */
import type { SignedIn } from '../../shared/api/people/auth.ts'
import type { CreationOptions, RequestOptions } from '../../shared/api/people/passkeys.ts'
import { call } from '../api/request.ts'
import { signInTexts } from '../texts/sign-in.ts'
import { makePasskey, signWithPasskey } from './device.ts'
import { element, showRefusal } from './form-elements.ts'

/** What the second step gives: recovery codes where it has set up a factor. */
export interface FinishedSignIn {
  readonly access_token: string
  readonly recovery_codes?: readonly string[]
}

interface Offer {
  readonly notice: HTMLElement
  readonly enter: (token: string) => void
}

/**
 * A button, and the passkeys in the list of names that the browser fills in. Gives what takes the offer back, when another way to sign in is
 * taken. A device is asked for one thing at a time.
 */
export function offerPasskey(links: HTMLElement, { notice, enter }: Offer): () => void {
  const button = element('button', { type: 'button', class: 'sign-in-cancel' }, signInTexts.signInWithPasskey)
  const waiting = new AbortController()
  const signIn = async (how: Parameters<typeof signWithPasskey>[1]) => {
    const options = await call<RequestOptions>('POST', '/auth/passkey/options', { body: {}, atOnce: true })
    const passkey = await signWithPasskey(options, how)
    const body = { passkey }
    const { access_token } = await call<SignedIn>('POST', '/auth/passkey', { body, atOnce: true })
    enter(access_token)
  }
  const offered = offerWithNames()
  async function offerWithNames() {
    if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return
    await signIn({ mediation: 'conditional', signal: waiting.signal })
  }
  offered.catch((error: unknown) => {
    if (!waiting.signal.aborted) showRefusal(notice, error)
  })
  button.addEventListener('click', async () => {
    button.disabled = true
    waiting.abort()
    await offered.catch(() => undefined)
    await signIn({}).catch((error: unknown) => showRefusal(notice, error))
    button.disabled = false
  })
  links.prepend(button)
  return () => waiting.abort()
}

/** The second step. `challenge`: of the password. */
export function passkeyStep(challenge: unknown, { notice, enter }: Offer): HTMLElement {
  return passkeyButton(notice, signInTexts.usePasskey, async () => {
    const body = { challenge }
    const options = await call<RequestOptions>('POST', '/auth/passkey/options', { body, atOnce: true })
    const passkey = await signWithPasskey(options)
    const { access_token } = await call<SignedIn>('POST', '/auth/passkey', {
      body: { ...body, passkey },
      atOnce: true,
    })
    enter(access_token)
  })
}

/** In place of an app, where the sign-in has to set up a factor. `challenge`: of the password. */
export function passkeySetup(
  challenge: unknown,
  { notice, finish }: { readonly notice: HTMLElement; readonly finish: (done: FinishedSignIn) => void },
): readonly HTMLElement[] {
  const name = element('input', { name: 'passkey-name', maxlength: '64', value: signInTexts.passkey })
  const add = passkeyButton(notice, signInTexts.addPasskey, async () => {
    const options = await call<CreationOptions>('POST', '/auth/passkey/setup/options', {
      body: { challenge },
      atOnce: true,
    })
    const body = { challenge, name: name.value, passkey: await makePasskey(options) }
    finish(await call<FinishedSignIn>('POST', '/auth/passkey/setup', { body, atOnce: true }))
  })
  return [
    element('p', { class: 'sign-in-dimmed' }, signInTexts.setupPasskey),
    element('label', {}, signInTexts.passkeyName, name),
    add,
  ]
}

/** Confirms the session. */
export function passkeyConfirmation(notice: HTMLElement, confirmed: () => void): HTMLElement {
  return passkeyButton(notice, signInTexts.usePasskey, async () => {
    const options = await call<RequestOptions>('POST', '/auth/confirm/passkey/options')
    await call('POST', '/auth/confirm/passkey', { body: { passkey: await signWithPasskey(options) } })
    confirmed()
  })
}

function passkeyButton(notice: HTMLElement, label: string, work: () => Promise<void>): HTMLElement {
  const button = element('button', { type: 'button', class: 'sign-in-cancel' }, label)
  button.addEventListener('click', async () => {
    button.disabled = true
    await work().catch((error: unknown) => showRefusal(notice, error, signInTexts.notConfirmed))
    button.disabled = false
  })
  return button
}
