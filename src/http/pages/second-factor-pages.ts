/**
 * Pages for codes. `login/code` takes the code of a sign-in, or of an app that is set up; `password/app` is the second factor of a
 * signed-in user. The challenge is in a cookie that no script reads, so that only the browser of the password can go on.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../../access/access.ts'
import type { Identity } from '../../access/identity-cache.ts'
import type { SignedIn } from '../../access/sign-in.ts'
import { CHALLENGE_SECONDS } from '../../identity/challenge.ts'
import type { PageMessages } from '../../pages/messages.ts'
import { type AccountPath, accountPaths } from '../../shared/account-paths.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { PageNode, ShownPage } from '../../shared/pages/page-content.ts'
import { cookieOf, setCookie } from '../server/origin.ts'
import {
  type AccountRefusal,
  accountForms,
  accountNode,
  accountShown,
  afterSignIn,
  CHALLENGE_COOKIE,
  enterPages,
  passwordNode,
  refusedField,
  refusedWhole,
  sentOn,
  startPageSession,
  typed,
  withHandover,
} from './account-form.ts'
import { keepNotice } from './notice-cookie.ts'
import type { PageServices } from './open-page-services.ts'
import { pageAddress } from './page-origin.ts'

const factorPaths = [accountPaths.code, accountPaths.factor] as const

export type FactorPath = (typeof factorPaths)[number]

/** What a form leads to that is shown once, and has no address. */
export interface AccountResult {
  readonly shown: ShownPage
}

interface SentForm {
  readonly form: string
  readonly values: JsonObject
  readonly say: PageMessages
}

export function isFactorPath(uri: AccountPath): uri is FactorPath {
  return factorPaths.some((path) => path === uri)
}

/** Sends a visitor with the right password to where the code is typed. */
export function askForCode(request: FastifyRequest, reply: FastifyReply, error: QuoinError): undefined {
  return toCode(request, reply, String(error.details?.challenge))
}

/** `next`: where to go behind the code; what the address says if not given. */
export function toCode(
  request: FastifyRequest,
  reply: FastifyReply,
  challenge: string,
  next = pageAddress(request.url).get('next'),
): undefined {
  setCookie(request, reply, CHALLENGE_COOKIE, challenge, { maxAge: CHALLENGE_SECONDS })
  const query = next === undefined ? '' : `?next=${encodeURIComponent(next)}`
  return sentOn(reply, `/${accountPaths.code}${query}`)
}

export async function factorPage(
  access: Access,
  uri: FactorPath,
  request: FastifyRequest,
  say: PageMessages,
): Promise<ShownPage> {
  if (uri === accountPaths.factor) return ownFactorPage(access, request.identity, say)
  const open = await openChallenge(access, request)
  if (!open)
    return accountShown(say('code.gone'), [
      { kind: 'text', text: say('code.gone.text') },
      { kind: 'link', label: say('signin.link'), href: `/${accountPaths.signIn}` },
    ])
  const form = accountNode(uri, say('code.submit'), [
    {
      kind: 'input',
      type: 'text',
      name: 'code',
      label: say('code.label'),
      autocomplete: 'one-time-code',
      required: true,
    },
  ])
  // The passkey stands behind it.
  if (open.kind === 'setup' && !open.setup)
    return accountShown(say('setup.title'), [{ kind: 'text', text: say('setup.missing') }])
  if (!open.setup) return accountShown(say('code.title'), [{ kind: 'text', text: say('code.text') }, form])
  const { secret, uri: address } = open.setup
  return accountShown(say('setup.title'), [
    { kind: 'text', text: say('setup.text') },
    { kind: 'image', src: '', alt: say('setup.qr'), modules: await qrModules(address) },
    { kind: 'text', variant: 'code', text: say('setup.key', { secret }) },
    form,
  ])
}

/** The challenge of the browser's cookie, if it can still be used. */
function openChallenge({ factors }: Access, request: FastifyRequest) {
  const challenge = cookieOf(request, CHALLENGE_COOKIE) ?? ''
  return factors.openChallenge(challenge, { agent: request.headers['user-agent'], by: request.identity })
}

async function qrModules(text: string): Promise<{ readonly size: number; readonly path: string }> {
  const { encode } = await import('uqr')
  const { size, data } = encode(text, { border: 2 })
  const dark = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
  return { size, path: dark.join('') }
}

async function ownFactorPage(
  access: Access,
  identity: Identity | undefined,
  say: PageMessages,
): Promise<ShownPage> {
  const { factors } = access
  if (!identity) throw new QuoinError('INSUFFICIENT_PERMISSIONS', 'No user is signed in.')
  const state = await factors.stateOf(identity.guid)
  if (!state.password && !isConfirmed({ access }, identity)) return signInAgain(say)
  const passkeys: PageNode = { kind: 'link', label: say('passkeys.link'), href: `/${accountPaths.passkeys}` }
  const code: PageNode = {
    ...{ kind: 'input', type: 'text', name: 'code', label: say('code.label'), required: true },
    autocomplete: 'one-time-code',
  }
  const proof = state.password
    ? [passwordNode('password', say('signin.password'), 'current-password'), code]
    : []
  const text = (key: 'factor.passkeys' | 'factor.none'): PageNode => ({ kind: 'text', text: say(key) })
  if (!state.totp)
    return accountShown(say('factor.title'), [
      ...(state.passkeys > 0 ? [text('factor.passkeys')] : state.password ? [text('factor.none')] : []),
      accountNode(accountPaths.factor, say('factor.setup'), state.passkeys > 0 ? proof : proof.slice(0, 1)),
      passkeys,
    ])
  const options = (['renew', 'replace', 'remove'] as const).map((value) => ({
    ...{ value, label: say(`factor.${value}`) },
  }))
  const action: PageNode = {
    ...{ kind: 'input', type: 'choice', name: 'action', label: say('factor.action'), required: true },
    options,
  }
  return accountShown(say('factor.title'), [
    { kind: 'text', text: say('factor.since', { count: state.recovery_codes }) },
    accountNode(accountPaths.factor, say('code.submit'), [action, ...proof]),
    passkeys,
  ])
}

/** Whether the session's last sign-in is new enough to change how its user signs in. */
export function isConfirmed({ access }: Pick<PageServices, 'access'>, identity: Identity): boolean {
  try {
    access.factors.requireConfirmed(identity)
    return true
  } catch (error) {
    if (error instanceof QuoinError && error.code === 'CONFIRMATION_REQUIRED') return false
    throw error
  }
}

/** For a user without a password, whose sign-in is too old. */
function signInAgain(say: PageMessages): ShownPage {
  const next = encodeURIComponent(`/${accountPaths.factor}`)
  return accountShown(say('factor.title'), [
    { kind: 'text', text: say('passkeys.confirm') },
    { kind: 'link', label: say('signin.link'), href: `/${accountPaths.signIn}?next=${next}` },
  ])
}

/** Does what the form is for: sends the browser on, shows recovery codes, or says what is wrong. */
export async function submitFactorForm(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  sent: SentForm,
): Promise<AccountRefusal | AccountResult | undefined> {
  const { form, say } = sent
  try {
    return form === accountForms[accountPaths.code]
      ? await takeCode(services, request, reply, sent)
      : await changeFactor(services, request, reply, sent)
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    if (error.code === 'TOO_MANY_LOGIN_ATTEMPTS') return refusedWhole(say('signin.locked'))
    if (error.code === 'INVALID_CREDENTIALS') return refusedField('code', say('code.failed'))
    if (error.code === 'CONFLICT') return refusedWhole(say('factor.unavailable'))
    if (error.code === 'CONFIRMATION_REQUIRED') return refusedWhole(say('passkeys.confirm'))
    if (error.code !== 'INVALID_BODY') throw error
    if (error.fields?.includes('password')) return refusedField('password', say('password.wrong'))
    return refusedField('code', say(form === accountForms[accountPaths.code] ? 'setup.time' : 'code.failed'))
  }
}

async function takeCode(
  { access, clock }: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  { values, say }: SentForm,
): Promise<AccountResult | undefined> {
  const challenge = cookieOf(request, CHALLENGE_COOKIE) ?? ''
  const code = typed(values.code)
  const open = await openChallenge(access, request)
  if (open?.kind === 'add' && request.identity) {
    const codes = await access.factors.add(request.identity, { challenge, code })
    setCookie(request, reply, CHALLENGE_COOKIE, '', { maxAge: 0 })
    return recoveryPage(codes, `/${accountPaths.factor}`, say)
  }
  const sender = { ip: request.ip, agent: request.headers['user-agent'] }
  const signedIn = await access.factors.finishSignIn({ challenge, code, ...sender })
  return enterWithCodes({ access, clock }, request, reply, signedIn, say)
}

/** Behind the second step of a sign-in: shows recovery codes where it has set up a factor. */
export async function enterWithCodes(
  { access, clock }: Pick<PageServices, 'access' | 'clock'>,
  request: FastifyRequest,
  reply: FastifyReply,
  signedIn: SignedIn & { readonly recovery_codes?: readonly string[] },
  say: PageMessages,
): Promise<AccountResult | undefined> {
  setCookie(request, reply, CHALLENGE_COOKIE, '', { maxAge: 0 })
  const next = afterSignIn(request)
  if (!signedIn.recovery_codes) return enterPages({ access, clock }, request, reply, signedIn, next)
  await startPageSession({ access, clock }, request, reply, signedIn)
  return recoveryPage(signedIn.recovery_codes, await withHandover(access, signedIn, next), say)
}

export function recoveryPage(codes: readonly string[], next: string, say: PageMessages): AccountResult {
  const lines: readonly PageNode[] = codes.map((text) => ({ kind: 'text', variant: 'code', text }))
  return {
    shown: accountShown(say('recovery.title'), [
      { kind: 'text', text: say('recovery.text') },
      ...lines,
      { kind: 'link', label: say('recovery.go'), href: next },
    ]),
  }
}

async function changeFactor(
  { access: { factors } }: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  { values, say }: SentForm,
): Promise<AccountResult | undefined> {
  const { identity } = request
  if (!identity) throw new QuoinError('INSUFFICIENT_PERMISSIONS', 'No user is signed in.')
  const sender = { ip: request.ip, agent: request.headers['user-agent'] }
  if ((await factors.stateOf(identity.guid)).password)
    await factors.confirm(identity, { password: typed(values.password), code: typed(values.code), ...sender })
  else factors.requireConfirmed(identity)
  const action = typed(values.action)
  if (action === 'renew')
    return recoveryPage(await factors.renewRecoveryCodes(identity), `/${accountPaths.factor}`, say)
  if (action === 'remove') {
    await factors.remove(identity.guid, identity)
    keepNotice(request, reply, { tone: 'success', text: say('factor.removed') })
    return sentOn(reply, `/${accountPaths.factor}`)
  }
  return toCode(request, reply, (await factors.begin(identity)).challenge)
}
