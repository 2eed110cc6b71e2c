/** What the built-in pages for accounts are made of, and how their forms answer. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../../access/access.ts'
import type { SignedIn } from '../../access/sign-in.ts'
import type { PageMessages } from '../../pages/messages.ts'
import { type AccountPath, accountPaths, HANDOVER, looksLikeAccountPath } from '../../shared/account-paths.ts'
import type { QuoinError } from '../../shared/errors.ts'
import { headerAddress } from '../../shared/header-address.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { PageNode, ShownPage } from '../../shared/pages/page-content.ts'
import { SESSION_COOKIE, setCookie } from '../server/origin.ts'
import type { PageServices } from './open-page-services.ts'
import { pageAddress } from './page-origin.ts'

/** The id of the form of each page. */
export const accountForms = {
  [accountPaths.signIn]: 'signin',
  [accountPaths.signOut]: 'signout',
  [accountPaths.password]: 'password',
  [accountPaths.forgot]: 'forgot',
  [accountPaths.choose]: 'choose',
  [accountPaths.signUp]: 'signup',
  [accountPaths.code]: 'code',
  [accountPaths.factor]: 'factor',
  [accountPaths.passkeys]: 'passkeys',
} as const satisfies Record<AccountPath, string>

/** Forms of a passkey, on the pages that have one, and of the change of one. */
export const PASSKEY_FORM = 'passkey'
export const PASSKEY_CHANGE = 'passkey-change'

/** Holds the challenge of a sign-in whose password was right. */
export const CHALLENGE_COOKIE = 'quoin_challenge'

/** What one of the forms did not take: by field, and as a whole. */
export interface AccountRefusal {
  readonly errors: ReadonlyMap<string, string>
  readonly messages: readonly string[]
}

export function accountShown(title: string, content: readonly PageNode[], status = 200): ShownPage {
  return {
    title,
    content: [{ kind: 'heading', level: 1, text: title }, ...content],
    template: undefined,
    status,
  }
}

/** The form of a page, with its one button. */
export function accountNode(uri: AccountPath, label: string, content: readonly PageNode[]): PageNode {
  return {
    kind: 'form',
    id: accountForms[uri],
    block: '',
    content: [...content, { kind: 'button', action: 'submit', label, tone: 'primary' }],
  }
}

export function passwordNode(name: string, label: string, autocomplete: string, help?: string): PageNode {
  return {
    kind: 'input',
    type: 'password',
    name,
    label,
    autocomplete,
    required: true,
    ...(help !== undefined && { help }),
  }
}

/** A new password, typed twice. */
export function newPasswordNodes(say: PageMessages): readonly PageNode[] {
  return [
    passwordNode('new', say('password.new'), 'new-password', say('password.hint')),
    passwordNode('repeat', say('password.repeat'), 'new-password'),
  ]
}

/** Sends the browser to a path of ours. */
export function sentOn(reply: FastifyReply, to: string): undefined {
  reply.code(303).header('location', headerAddress(to)).header('cache-control', 'no-store').send()
}

export function refusedWhole(message: string): AccountRefusal {
  return { errors: new Map(), messages: [message] }
}

export function refusedField(name: string, message: string): AccountRefusal {
  return { errors: new Map([[name, message]]), messages: [] }
}

const weakPasswords = ['repeated', 'digits', 'username', 'common'] as const

/** A refused new password, in the language of the page where the reason is known. */
export function refusedPassword(error: QuoinError, say: PageMessages): AccountRefusal {
  const weak = weakPasswords.find((reason) => reason === error.details?.weak)
  return refusedField('new', weak ? say(`password.weak.${weak}`) : error.message)
}

export function typed(value: JsonObject[string] | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** Signs the visitor in on pages. A user who was signed in here before is signed out. */
export async function startPageSession(
  { access, clock }: Pick<PageServices, 'access' | 'clock'>,
  request: FastifyRequest,
  reply: FastifyReply,
  { access_token, expiry }: { readonly access_token: string; readonly expiry: number },
): Promise<void> {
  if (request.accessToken !== undefined && request.identity)
    await access.signOut(request.accessToken).catch(() => undefined)
  setCookie(request, reply, SESSION_COOKIE, access_token, {
    maxAge: Math.max(60, expiry - Math.floor(clock() / 1000)),
  })
}

/** Signs the visitor in on pages and sends the browser on, into the studio also with what signs it in there. */
export async function enterPages(
  room: Pick<PageServices, 'access' | 'clock'>,
  request: FastifyRequest,
  reply: FastifyReply,
  signedIn: SignedIn,
  next: string,
): Promise<undefined> {
  await startPageSession(room, request, reply, signedIn)
  return sentOn(reply, await withHandover(room.access, signedIn, next))
}

/** The studio reads no cookie: it changes this code into the session of the cookie, once. No server sees a fragment. */
export async function withHandover(
  access: Access,
  { access_token }: SignedIn,
  next: string,
): Promise<string> {
  if (!/^\/studio(?:[/?]|$)/.test(next)) return next
  return `${next}#${HANDOVER}${await access.handovers.toStudio(access_token)}`
}

/**
 * Where `next` of the address leads. Not to where one signs in: its form would look as if the sign-in had failed. Only a
 * password or a factor is changed afterwards.
 */
export function afterSignIn(request: FastifyRequest): string {
  const next = localPath(pageAddress(request.url).get('next')) ?? '/'
  const [path = ''] = next.slice(1).split('?')
  const changes = [accountPaths.password, accountPaths.factor, accountPaths.passkeys].some(
    (one) => one === path,
  )
  return looksLikeAccountPath(path) && !changes ? '/' : next
}

/**
 * Where to go after signing in, as a request says it: a path of our own, or undefined. `//evil.example`, `/\evil.example`
 * and everything with a scheme or a control character lead elsewhere in some browser.
 */
export function localPath(written: string | undefined): string | undefined {
  if (written === undefined || written.length > 2048 || !/^\/(?![/\\])[\x21-\x7e]*$/.test(written))
    return undefined
  if (written.includes('\\')) return undefined
  const base = 'http://quoin.invalid'
  if (!URL.canParse(written, base)) return undefined
  const url = new URL(written, base)
  return url.origin === base && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : undefined
}
