/** What the built-in pages for accounts are made of, and how their forms answer. */
import type { FastifyReply } from 'fastify'
import type { PageMessages } from '../../pages/messages.ts'
import { type AccountPath, accountPaths } from '../../shared/account-paths.ts'
import { headerAddress } from '../../shared/header-address.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { PageNode, ShownPage } from '../../shared/pages/page-content.ts'

/** The id of the form of each page. */
export const accountForms = {
  [accountPaths.signIn]: 'signin',
  [accountPaths.signOut]: 'signout',
  [accountPaths.password]: 'password',
  [accountPaths.forgot]: 'forgot',
  [accountPaths.choose]: 'choose',
  [accountPaths.signUp]: 'signup',
} as const satisfies Record<AccountPath, string>

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

export function typed(value: JsonObject[string] | undefined): string {
  return typeof value === 'string' ? value : ''
}
