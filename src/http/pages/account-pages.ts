/**
 * Signing in, signing out and changing the password: what the pages `login`, `logout` and `password` look like unless a
 * blueprint has pages at these addresses, and what their forms do in either case. The forms are known by their ids.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PageMessages } from '../../pages/messages.ts'
import { type AccountPath, accountPaths, isAccountPath, PROVIDER_PATH } from '../../shared/account-paths.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { PageNode, ShownPage } from '../../shared/pages/page-content.ts'
import { changeKnowingPassword } from '../routes/people/me.ts'
import { forgetLeaving, leavingProvider, SESSION_COOKIE, setCookie } from '../server/origin.ts'
import {
  type AccountRefusal,
  accountForms,
  accountNode,
  accountShown,
  afterSignIn,
  enterPages,
  localPath,
  newPasswordNodes,
  PASSKEY_CHANGE,
  PASSKEY_FORM,
  passwordNode,
  refusedField,
  refusedPassword,
  refusedWhole,
  sentOn,
  typed,
} from './account-form.ts'
import { isLinkPath, type LinkPath, linkPage, linksToMails, submitLinkForm } from './account-link-pages.ts'
import { keepNotice, noticeUsername } from './notice-cookie.ts'
import type { PageServices } from './open-page-services.ts'
import { pageAddress } from './page-origin.ts'
import { ownPasskeysPage, passkeySecondStep, passkeySignIn, submitPasskeyForm } from './passkey-pages.ts'
import {
  type AccountResult,
  askForCode,
  type FactorPath,
  factorPage,
  isFactorPath,
  submitFactorForm,
} from './second-factor-pages.ts'
import { accountMessages, elsewhereShown } from './show-page.ts'
import { takeHint } from './sign-out-hint.ts'

/** The id of the form that works at this address. */
export function accountForm(uri: string): ReadonlySet<string> {
  if (!isAccountPath(uri)) return new Set()
  const withPasskey =
    uri === accountPaths.signIn || uri === accountPaths.code || uri === accountPaths.passkeys
  return new Set([
    accountForms[uri],
    ...(withPasskey ? [PASSKEY_FORM] : []),
    ...(uri === accountPaths.passkeys ? [PASSKEY_CHANGE] : []),
  ])
}

/** What the door shows where no blueprint has a page; undefined where there is none, as without a mail server. */
export async function accountPage(
  services: PageServices,
  uri: AccountPath,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ShownPage | undefined> {
  const say = await accountMessages(services, request)
  const { access } = services
  if (uri === accountPaths.passkeys) return ownPasskeysPage(services, { request, say })
  if (isFactorPath(uri)) {
    const shown = await factorPage(access, uri, request, say)
    const more = uri === accountPaths.code ? await passkeySecondStep(services, { request, say }) : []
    return { ...shown, content: [...shown.content, ...more] }
  }
  const left = uri === accountPaths.signOut ? leavingProvider(request) : undefined
  if (left !== undefined) {
    forgetLeaving(request, reply)
    return (await leave(services, request, reply, left)) ?? signedOutShown(reply, say)
  }
  if (isLinkPath(uri)) return linkPage(access, uri, say, pageAddress(request.url).get('link') ?? '')
  const [title, content] = contentOf(uri, say, noticeUsername(request))
  const passkey = uri === accountPaths.signIn ? passkeySignIn(services, reply, { request, say }) : []
  const links = [...passkey, ...linksBelow(services, uri, request, say)]
  return accountShown(title, [...content, ...links])
}

function linksBelow(
  services: PageServices,
  uri: AccountPath,
  request: FastifyRequest,
  say: PageMessages,
): readonly PageNode[] {
  const { access } = services
  if (uri === accountPaths.signIn)
    return [...providerLinks(services, request, say), ...linksToMails(access, say)]
  if (uri !== accountPaths.password) return []
  return [
    { kind: 'link', label: say('factor.link'), href: `/${accountPaths.factor}` },
    { kind: 'link', label: say('passkeys.link'), href: `/${accountPaths.passkeys}` },
  ]
}

/** Providers to sign in with, where one could send users back. */
function providerLinks(
  { access, flows }: PageServices,
  request: FastifyRequest,
  say: PageMessages,
): readonly PageNode[] {
  if (flows.environment.publicUrl === '') return []
  const next = localPath(pageAddress(request.url).get('next'))
  const words = new URLSearchParams(next === undefined ? {} : { next })
  // Who is signed in already is here to confirm it.
  if (request.identity) words.set('again', '1')
  const query = words.size === 0 ? '' : `?${words}`
  return access.providers.active().map(({ name, title }) => ({
    ...{ kind: 'button', action: 'link', label: say('provider.signin', { title }) },
    href: `/${PROVIDER_PATH}/${name}${query}`,
  }))
}

function contentOf(
  uri: Exclude<AccountPath, LinkPath | FactorPath | typeof accountPaths.passkeys>,
  say: PageMessages,
  username: string,
): [string, PageNode[]] {
  switch (uri) {
    case 'login':
      return [
        say('signin.title'),
        [
          accountNode(uri, say('signin.submit'), [
            {
              kind: 'input',
              type: 'text',
              name: 'username',
              label: say('signin.username'),
              autocomplete: 'username webauthn',
              required: true,
              ...(username !== '' && { value: username }),
            },
            passwordNode('password', say('signin.password'), 'current-password'),
          ]),
        ],
      ]
    case 'logout':
      return [
        say('signout.title'),
        [{ kind: 'text', text: say('signout.question') }, accountNode(uri, say('signout.submit'), [])],
      ]
    case 'password':
      return [
        say('password.title'),
        [
          accountNode(uri, say('password.submit'), [
            passwordNode('current', say('password.current'), 'current-password'),
            ...newPasswordNodes(say),
          ]),
        ],
      ]
  }
}

/**
 * Does what the form is for, and sends the browser on; or says what is wrong. Does not give the reply: waiting for one
 * gives nothing, once it is sent.
 */
export async function submitAccountForm(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  form: string,
  values: JsonObject,
): Promise<AccountRefusal | AccountResult | undefined> {
  const say = await accountMessages(services, request)
  switch (form) {
    case accountForms['login/code']:
    case accountForms['password/app']:
      return submitFactorForm(services, request, reply, { form, values, say })
    case PASSKEY_FORM:
    case PASSKEY_CHANGE:
    case accountForms['password/passkeys']:
      return submitPasskeyForm(services, request, reply, { form, values, say })
    case accountForms.logout:
      return signOut(services, request, reply)
    case accountForms.login:
      return signIn(services, request, reply, values, say)
    case accountForms.password:
      return changePassword(services, request, reply, values, say)
    default:
      return submitLinkForm(services.access, request, reply, { form, values, say })
  }
}

async function signIn(
  { access, clock }: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  values: JsonObject,
  say: PageMessages,
): Promise<AccountRefusal | undefined> {
  try {
    const signedIn = await access.signIn({
      username: typed(values.username),
      password: typed(values.password),
      ip: request.ip,
      agent: request.headers['user-agent'],
    })
    return await enterPages({ access, clock }, request, reply, signedIn, afterSignIn(request))
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    if (error.code === 'SECOND_FACTOR_REQUIRED') return askForCode(request, reply, error)
    if (error.code === 'INVALID_CREDENTIALS' || error.code === 'INVALID_BODY')
      return refusedWhole(say('signin.failed'))
    if (error.code === 'TOO_MANY_LOGIN_ATTEMPTS') return refusedWhole(say('signin.locked'))
    if (error.code === 'INSUFFICIENT_PERMISSIONS')
      return refusedWhole(say('provider.required', { title: String(error.details?.title) }))
    throw error
  }
}

async function signOut(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<AccountResult | undefined> {
  const say = await accountMessages(services, request)
  const { access } = services
  const sender = { ip: request.ip, agent: request.headers['user-agent'] }
  const ended =
    request.accessToken !== undefined && request.identity
      ? await access.signOut(request.accessToken, sender)
      : undefined
  setCookie(request, reply, SESSION_COOKIE, '', { maxAge: 0 })
  keepNotice(request, reply, { tone: 'info', text: say('signout.done') })
  const shown = await leave(services, request, reply, ended?.provider ?? '')
  return shown ? { shown } : sentOn(reply, `/${accountPaths.signIn}`)
}

/** Leads on to the provider from which a session came that has ended; undefined where one does not sign out there. */
async function leave(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  guid: string,
): Promise<ShownPage | undefined> {
  const { access, provider, flows, secret } = services
  const from = access.providers.withGuid(guid)
  const idToken = takeHint(secret, request, reply, guid)
  const back = `${flows.environment.publicUrl}/${accountPaths.signIn}`
  // Here the user is signed out already, also where the provider does not answer.
  const there = from?.sign_out
    ? await provider.signOutUrl(from, { back, idToken }).catch(() => undefined)
    : undefined
  if (!from || !there) return undefined
  const say = await accountMessages(services, request)
  const label = say('signout.provider', { title: from.title })
  return elsewhereShown(reply, { title: say('signout.title'), label, href: there.href })
}

/** Behind a sign-out of the studio, where the provider does not answer: the session has ended all the same. */
function signedOutShown(reply: FastifyReply, say: PageMessages): ShownPage {
  const href = `/${accountPaths.signIn}`
  return elsewhereShown(reply, { title: say('signout.done'), label: say('signin.title'), href })
}

async function changePassword(
  { access }: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  values: JsonObject,
  say: PageMessages,
): Promise<AccountRefusal | undefined> {
  const { identity } = request
  if (!identity) throw new QuoinError('INSUFFICIENT_PERMISSIONS', 'No user is signed in.')
  if (values.new !== values.repeat) return refusedField('repeat', say('password.differ'))
  try {
    await changeKnowingPassword(
      access,
      identity,
      { password: typed(values.new) },
      typed(values.current),
      request.ip,
    )
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    if (error.code === 'TOO_MANY_LOGIN_ATTEMPTS') return refusedWhole(say('signin.locked'))
    if (error.code !== 'INVALID_BODY') throw error
    if (error.fields?.includes('current_password')) return refusedField('current', say('password.wrong'))
    return refusedPassword(error, say)
  }
  // A new password ends all sessions, this one too.
  setCookie(request, reply, SESSION_COOKIE, '', { maxAge: 0 })
  keepNotice(request, reply, { tone: 'success', text: say('password.done') })
  return sentOn(reply, `/${accountPaths.signIn}`)
}
