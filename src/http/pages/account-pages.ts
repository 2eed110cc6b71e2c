/**
 * Signing in, signing out and changing the password: what the pages `login`, `logout` and `password` look like unless a
 * blueprint has pages at these addresses, and what their forms do in either case. The forms are known by their ids.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PageMessages } from '../../pages/messages.ts'
import { messagesFor } from '../../pages/messages.ts'
import { type AccountPath, accountPaths, isAccountPath } from '../../shared/account-paths.ts'
import { QuoinError } from '../../shared/errors.ts'
import { headerAddress } from '../../shared/header-address.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { PageNode, ShownPage } from '../../shared/pages/page-content.ts'
import { changeKnowingPassword } from '../routes/people/change-password.ts'
import { setCookie } from './cookies.ts'
import { localPath } from './local-path.ts'
import { keepNotice } from './notice-cookie.ts'
import { pageAddress } from './page-address.ts'
import type { PageRoom } from './page-room.ts'
import { localeOf } from './show-page.ts'

const forms = {
  [accountPaths.signIn]: 'signin',
  [accountPaths.signOut]: 'signout',
  [accountPaths.password]: 'password',
} as const

/** The id of the form that works at this address. */
export function accountForm(uri: string): ReadonlySet<string> {
  return new Set(isAccountPath(uri) ? [forms[uri]] : [])
}

/** What the door shows where no blueprint has a page. */
export function accountPage(uri: AccountPath, request: FastifyRequest): ShownPage {
  const say = messagesFor(localeOf(request))
  const [title, content] = contentOf(uri, say)
  return {
    title,
    content: [{ kind: 'heading', level: 1, text: title }, ...content],
    template: undefined,
    status: 200,
  }
}

function contentOf(uri: AccountPath, say: PageMessages): [string, PageNode[]] {
  const form = (label: string, content: readonly PageNode[]): PageNode => ({
    kind: 'form',
    id: forms[uri],
    block: '',
    content: [...content, { kind: 'button', action: 'submit', label, tone: 'primary' }],
  })
  const password = (name: string, label: string, autocomplete: string, help?: string): PageNode => ({
    kind: 'input',
    type: 'password',
    name,
    label,
    autocomplete,
    required: true,
    ...(help !== undefined && { help }),
  })
  switch (uri) {
    case 'login':
      return [
        say('signin.title'),
        [
          form(say('signin.submit'), [
            {
              kind: 'input',
              type: 'text',
              name: 'username',
              label: say('signin.username'),
              autocomplete: 'username',
              required: true,
            },
            password('password', say('signin.password'), 'current-password'),
          ]),
        ],
      ]
    case 'logout':
      return [
        say('signout.title'),
        [{ kind: 'text', text: say('signout.question') }, form(say('signout.submit'), [])],
      ]
    case 'password':
      return [
        say('password.title'),
        [
          form(say('password.submit'), [
            password('current', say('password.current'), 'current-password'),
            password('new', say('password.new'), 'new-password', say('password.hint')),
            password('repeat', say('password.repeat'), 'new-password'),
          ]),
        ],
      ]
  }
}

/** What one of the forms did not take: by field, and as a whole. */
export interface AccountRefusal {
  readonly errors: ReadonlyMap<string, string>
  readonly messages: readonly string[]
}

/**
 * Does what the form is for, and sends the browser on; or says what is wrong. Does not give the reply: waiting for one
 * gives nothing, once it is sent.
 */
export async function submitAccountForm(
  room: PageRoom,
  request: FastifyRequest,
  reply: FastifyReply,
  form: string,
  values: JsonObject,
): Promise<AccountRefusal | undefined> {
  const say = messagesFor(localeOf(request))
  if (form === forms.logout) return signOut(room, request, reply)
  return form === forms.login
    ? signIn(room, request, reply, values, say)
    : changePassword(room, request, reply, values, say)
}

async function signIn(
  { access, clock }: PageRoom,
  request: FastifyRequest,
  reply: FastifyReply,
  values: JsonObject,
  say: PageMessages,
): Promise<AccountRefusal | undefined> {
  try {
    const { access_token, expiry } = await access.signIn({
      username: text(values.username),
      password: text(values.password),
      ip: request.ip,
      agent: request.headers['user-agent'],
    })
    // A user who was signed in here before is signed out.
    if (request.accessToken !== undefined && request.identity)
      await access.signOut(request.accessToken).catch(() => undefined)
    setCookie(request, reply, 'access_token', access_token, {
      maxAge: Math.max(60, expiry - Math.floor(clock() / 1000)),
    })
    const address = pageAddress(request.url)
    return redirect(reply, localPath(address.get('next')) ?? '/')
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    if (error.code === 'INVALID_CREDENTIALS' || error.code === 'INVALID_BODY')
      return whole(say('signin.failed'))
    if (error.code === 'TOO_MANY_LOGIN_ATTEMPTS') return whole(say('signin.locked'))
    throw error
  }
}

async function signOut(
  { access }: PageRoom,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<undefined> {
  if (request.accessToken !== undefined && request.identity)
    await access.signOut(request.accessToken, { ip: request.ip, agent: request.headers['user-agent'] })
  setCookie(request, reply, 'access_token', '', { maxAge: 0 })
  keepNotice(request, reply, { tone: 'info', text: messagesFor(localeOf(request))('signout.done') })
  return redirect(reply, `/${accountPaths.signIn}`)
}

async function changePassword(
  { access }: PageRoom,
  request: FastifyRequest,
  reply: FastifyReply,
  values: JsonObject,
  say: PageMessages,
): Promise<AccountRefusal | undefined> {
  const { identity } = request
  if (!identity) throw new QuoinError('INSUFFICIENT_PERMISSIONS', 'No user is signed in.')
  if (values.new !== values.repeat) return field('repeat', say('password.differ'))
  try {
    await changeKnowingPassword(
      access,
      identity,
      { password: text(values.new) },
      text(values.current),
      request.ip,
    )
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    if (error.code === 'TOO_MANY_LOGIN_ATTEMPTS') return whole(say('signin.locked'))
    if (error.code !== 'INVALID_BODY') throw error
    if (error.fields?.includes('current_password')) return field('current', say('password.wrong'))
    return field('new', error.message)
  }
  // A new password ends all sessions, this one too.
  setCookie(request, reply, 'access_token', '', { maxAge: 0 })
  keepNotice(request, reply, { tone: 'success', text: say('password.done') })
  return redirect(reply, `/${accountPaths.signIn}`)
}

function redirect(reply: FastifyReply, to: string): undefined {
  reply.code(303).header('location', headerAddress(to)).header('cache-control', 'no-store').send()
}

function whole(message: string): AccountRefusal {
  return { errors: new Map(), messages: [message] }
}

function field(name: string, message: string): AccountRefusal {
  return { errors: new Map([[name, message]]), messages: [] }
}

function text(value: JsonObject[string] | undefined): string {
  return typeof value === 'string' ? value : ''
}
