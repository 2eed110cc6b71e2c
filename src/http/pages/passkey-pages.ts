/**
 * Passkeys on pages: the buttons of `login` and `login/code`, and `password/passkeys`, where users add, rename and remove theirs. A form holds the
 * options in a hidden input; the script of pages has the device sign them, puts the credential in their place and sends the form.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Check } from 'typebox/value'
import type { Identity } from '../../access/identity-cache.ts'
import { MOST_PASSKEYS } from '../../identity/passkey-record.ts'
import type { PageMessages } from '../../pages/messages.ts'
import { accountPaths } from '../../shared/account-paths.ts'
import {
  type Assertion,
  assertionSchema,
  type Registration,
  registrationSchema,
} from '../../shared/api/people/passkeys.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { PageNode, ShownPage } from '../../shared/pages/page-content.ts'
import { guidOf, numberIn, textIn } from '../../storage/document-fields.ts'
import { cookieOf, setCookie } from '../server/origin.ts'
import { markPasskeyBrowser, passkeyBrowser } from '../server/passkey-cookie.ts'
import {
  type AccountRefusal,
  accountForms,
  accountNode,
  accountShown,
  afterSignIn,
  CHALLENGE_COOKIE,
  enterPages,
  PASSKEY_CHANGE,
  passwordNode,
  refusedField,
  refusedWhole,
  sentOn,
  typed,
} from './account-form.ts'
import { keepNotice } from './notice-cookie.ts'
import type { PageServices } from './open-page-services.ts'
import { pageAddress } from './page-origin.ts'
import { isAtHost, MOST_PASSKEY_NAME, newPasskeyForm, passkeyForm } from './passkey-form.ts'
import { type AccountResult, enterWithCodes, isConfirmed, recoveryPage } from './second-factor-pages.ts'
import { localeOf, zoneOf } from './show-page.ts'

interface Asked {
  readonly request: FastifyRequest
  readonly say: PageMessages
}

function senderOf(request: FastifyRequest) {
  return { ip: request.ip, agent: request.headers['user-agent'] }
}

/** For the page where users sign in. */
export function passkeySignIn(
  services: PageServices,
  reply: FastifyReply,
  { request, say }: Asked,
): readonly PageNode[] {
  if (!isAtHost(services, request)) return []
  const browser = markPasskeyBrowser(request, reply, services.flows.newGuid)
  return [passkeyForm(services.access.passkeys.toSignIn(browser), say('passkey.signin'))]
}

/** For the page that asks for a code, where its user has a passkey, or has to set up a factor. */
export async function passkeySecondStep(
  services: PageServices,
  { request, say }: Asked,
): Promise<readonly PageNode[]> {
  if (!isAtHost(services, request)) return []
  const challenge = cookieOf(request, CHALLENGE_COOKIE) ?? ''
  const options = await services.access.passkeys.toFinish(challenge, senderOf(request))
  if (options) return [passkeyForm(options, say('passkey.use'))]
  const creation = await services.access.passkeys.toSetUp(challenge, senderOf(request))
  return creation ? [newPasskeyForm(creation, say, [{ kind: 'text', text: say('setup.passkey') }])] : []
}

/** `password/passkeys` of the signed-in user. What changes something is there for a confirmed session only. */
export async function ownPasskeysPage(services: PageServices, { request, say }: Asked): Promise<ShownPage> {
  const { passkeys, factors } = services.access
  const identity = ownerOf(request)
  const list = await passkeys.list(identity.guid)
  const about: readonly PageNode[] = [
    { kind: 'text', text: say('passkeys.about') },
    { kind: 'list', items: list.map((one) => [passkeyLine(services, one, { request, say })]), empty: '' },
  ]
  const back: PageNode = { kind: 'link', label: say('factor.link'), href: `/${accountPaths.factor}` }
  const site = passkeys.site()
  const shown = (...more: readonly PageNode[]) =>
    accountShown(say('passkeys.title'), [...(list.length > 0 ? about : about.slice(0, 1)), ...more, back])
  const alert = (text: string): PageNode => ({ kind: 'alert', tone: 'info', text })
  if (typeof site === 'string') return shown(alert(say(`passkeys.${site}`)))
  if (!isAtHost(services, request)) return shown(alert(say('passkeys.elsewhere', { host: site.host })))
  if (!isConfirmed(services, identity)) {
    const { totp } = await factors.stateOf(identity.guid)
    const own = list.some(({ host }) => host === site.host)
    const options = own ? await passkeys.toConfirm(identity) : undefined
    return shown(
      { kind: 'text', text: say('passkeys.confirm') },
      ...(options ? [passkeyForm(options, say('passkey.use'))] : []),
      confirmForm(say, totp || list.length > 0),
    )
  }
  const added =
    list.length < MOST_PASSKEYS
      ? [newPasskeyForm(await passkeys.toAdd(identity), say)]
      : [alert(say('passkeys.full'))]
  return shown(...added, ...(list.length > 0 ? [changeForm(list, say)] : []))
}

function ownerOf({ identity }: FastifyRequest): Identity {
  if (identity) return identity
  throw new QuoinError('INSUFFICIENT_PERMISSIONS', 'No user is signed in.')
}

function passkeyLine(services: PageServices, passkey: JsonObject, { request, say }: Asked): PageNode {
  const format = { dateStyle: 'medium', timeZone: zoneOf(request, services) } as const
  const day = (seconds: number) =>
    new Intl.DateTimeFormat(localeOf(request), format).format(new Date(seconds * 1000))
  const used = numberIn(passkey.last_used)
  const values = { name: textIn(passkey.name), added: day(numberIn(passkey.created)), used: day(used) }
  return { kind: 'text', text: say(used === 0 ? 'passkeys.unused' : 'passkeys.used', values) }
}

function confirmForm(say: PageMessages, withCode: boolean): PageNode {
  const password = passwordNode('password', say('signin.password'), 'current-password')
  const code: PageNode = {
    ...{ kind: 'input', type: 'text', name: 'code', label: say('code.label'), required: true },
    autocomplete: 'one-time-code',
  }
  return accountNode(accountPaths.passkeys, say('code.submit'), withCode ? [password, code] : [password])
}

function changeForm(list: readonly JsonObject[], say: PageMessages): PageNode {
  const options = list.map((one) => ({ value: guidOf(one), label: textIn(one.name) }))
  const choice = { kind: 'input', type: 'choice', required: true } as const
  const actions = (['rename', 'remove'] as const).map((value) => ({ value, label: say(`passkeys.${value}`) }))
  return {
    ...{ kind: 'form', id: PASSKEY_CHANGE, block: '', label: say('passkeys.change') },
    content: [
      { kind: 'heading', level: 2, text: say('passkeys.change') },
      { ...choice, name: 'key', label: say('passkeys.key'), options },
      { ...choice, name: 'action', label: say('factor.action'), options: actions },
      {
        kind: 'input',
        type: 'line',
        name: 'name',
        label: say('passkeys.newname'),
        maxLength: MOST_PASSKEY_NAME,
      },
      { kind: 'button', action: 'submit', label: say('code.submit'), tone: 'plain' },
    ],
  }
}

interface SentForm {
  readonly form: string
  readonly values: JsonObject
  readonly say: PageMessages
}

/** What a form leads to. A passkey that is refused leads back to its page, which has new options then. */
export async function submitPasskeyForm(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  sent: SentForm,
): Promise<AccountRefusal | AccountResult | undefined> {
  const { form, say } = sent
  try {
    if (form === accountForms[accountPaths.passkeys])
      return await confirmByPassword(services, request, reply, sent)
    if (form === PASSKEY_CHANGE) return await changePasskey(services, request, reply, sent)
    return await takePasskey(services, request, reply, sent)
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    if (error.code === 'INVALID_BODY' && error.fields?.includes('password'))
      return refusedField('password', say('password.wrong'))
    if (error.code === 'INVALID_BODY' && error.fields?.includes('code'))
      return refusedField('code', say('code.failed'))
    if (error.code === 'INVALID_BODY' && error.fields?.includes('name'))
      return refusedField('name', say('field.required'))
    if (error.code === 'TOO_MANY_LOGIN_ATTEMPTS') return refusedWhole(say('signin.locked'))
    const text = refusalText(error, say)
    if (text === undefined) throw error
    keepNotice(request, reply, { tone: 'danger', text })
    return sentOn(reply, pageAddress(request.url).href)
  }
}

function refusalText(error: QuoinError, say: PageMessages): string | undefined {
  switch (error.code) {
    case 'INVALID_CREDENTIALS':
    case 'INVALID_BODY':
      return say('passkey.failed')
    case 'CONFLICT':
      return say('passkeys.conflict')
    case 'NOT_FOUND':
      return say('passkeys.gone')
    case 'CONFIRMATION_REQUIRED':
      return say('passkeys.confirm')
    case 'INSUFFICIENT_PERMISSIONS':
      return say('provider.required', { title: String(error.details?.title) })
    default:
      return undefined
  }
}

/** As the address of the page has it: what a form of another page sends does nothing here. */
async function takePasskey(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  { values, say }: SentForm,
): Promise<AccountResult | undefined> {
  const { passkeys } = services.access
  const path = pageAddress(request.url).path.slice(1)
  const sender = senderOf(request)
  if (path === accountPaths.signIn) {
    const passkey = assertionIn(values.passkey)
    const signedIn = await passkeys.signIn({ passkey, browser: passkeyBrowser(request), ...sender })
    return enterPages(services, request, reply, signedIn, afterSignIn(request))
  }
  if (path === accountPaths.code) {
    const challenge = cookieOf(request, CHALLENGE_COOKIE) ?? ''
    const open = await services.access.factors.openChallenge(challenge, sender)
    if (open?.kind === 'setup') {
      const input = { name: typed(values.name), passkey: registrationIn(values.passkey), challenge }
      return enterWithCodes(services, request, reply, await passkeys.setUp({ ...input, ...sender }), say)
    }
    const signedIn = await passkeys.finish({ passkey: assertionIn(values.passkey), challenge, ...sender })
    setCookie(request, reply, CHALLENGE_COOKIE, '', { maxAge: 0 })
    return enterPages(services, request, reply, signedIn, afterSignIn(request))
  }
  const identity = ownerOf(request)
  if (isConfirmed(services, identity)) {
    const input = { name: typed(values.name), passkey: registrationIn(values.passkey) }
    const { recoveryCodes } = await passkeys.add(identity, input)
    keepNotice(request, reply, { tone: 'success', text: say('passkeys.added') })
    return recoveryCodes ? recoveryPage(recoveryCodes, `/${accountPaths.passkeys}`, say) : again(reply)
  }
  await passkeys.confirm(identity, { passkey: assertionIn(values.passkey), ...sender })
  return again(reply)
}

function again(reply: FastifyReply): undefined {
  return sentOn(reply, `/${accountPaths.passkeys}`)
}

async function confirmByPassword(
  { access: { factors } }: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  { values }: SentForm,
): Promise<undefined> {
  const input = { password: typed(values.password), code: typed(values.code), ...senderOf(request) }
  await factors.confirm(ownerOf(request), input)
  return again(reply)
}

async function changePasskey(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  { values, say }: SentForm,
): Promise<undefined> {
  const { passkeys, factors } = services.access
  const identity = ownerOf(request)
  const key = typed(values.key)
  if (values.action === 'rename') await passkeys.rename(identity, key, typed(values.name))
  else {
    factors.requireConfirmed(identity)
    await passkeys.remove(identity, key)
    keepNotice(request, reply, { tone: 'success', text: say('passkeys.removed') })
  }
  return again(reply)
}

function credentialIn(value: JsonObject[string] | undefined): unknown {
  try {
    return JSON.parse(typed(value))
  } catch {
    return undefined
  }
}

function assertionIn(value: JsonObject[string] | undefined): Assertion {
  const sent = credentialIn(value)
  if (Check(assertionSchema, sent)) return sent
  throw invalidField('passkey', 'passkey is not what a device gives.')
}

function registrationIn(value: JsonObject[string] | undefined): Registration {
  const sent = credentialIn(value)
  if (Check(registrationSchema, sent)) return sent
  throw invalidField('passkey', 'passkey is not what a device gives.')
}
