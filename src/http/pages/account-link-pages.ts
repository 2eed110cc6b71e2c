/**
 * Pages that ask for a mail with a link, and the one where such links lead. A GET changes nothing: mail programs and virus
 * scanners open links. Only the form sets the password.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../../access/access.ts'
import type { OpenedLink } from '../../access/links/follow-link.ts'
import type { PageMessages } from '../../pages/messages.ts'
import { type AccountPath, accountPaths } from '../../shared/account-paths.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { PageNode, ShownPage } from '../../shared/pages/page-content.ts'
import {
  type AccountRefusal,
  accountForms,
  accountNode,
  accountShown,
  newPasswordNodes,
  refusedField,
  refusedPassword,
  refusedWhole,
  sentOn,
  typed,
} from './account-form.ts'
import { keepNotice } from './notice-cookie.ts'
import { pageAddress } from './page-origin.ts'
import { sentNames } from './posted.ts'
import { localeOf } from './show-page.ts'

const linkPaths = [accountPaths.forgot, accountPaths.choose, accountPaths.signUp] as const

export type LinkPath = (typeof linkPaths)[number]

export function isLinkPath(uri: AccountPath): uri is LinkPath {
  return linkPaths.some((path) => path === uri)
}

/** Below the form of the sign-in page. */
export function linksToMails({ links }: Access, say: PageMessages): readonly PageNode[] {
  const link = (key: 'forgot.link' | 'signup.link', path: string): PageNode => ({
    kind: 'link',
    label: say(key),
    href: `/${path}`,
  })
  return [
    ...(links.sent ? [link('forgot.link', accountPaths.forgot)] : []),
    ...(links.signUp ? [link('signup.link', accountPaths.signUp)] : []),
  ]
}

/** undefined where nothing is set up. `link`: of the address. */
export async function linkPage(
  { links }: Access,
  uri: LinkPath,
  say: PageMessages,
  link: string,
): Promise<ShownPage | undefined> {
  if (!links.sent || (uri === accountPaths.signUp && !links.signUp)) return undefined
  if (uri === accountPaths.choose) return choosePage(await links.open(link), say)
  const asks = uri === accountPaths.forgot ? 'forgot' : 'signup'
  const email: PageNode = {
    kind: 'input',
    type: 'email',
    name: 'email',
    label: say('email.label'),
    autocomplete: 'email',
    required: true,
  }
  return accountShown(say(`${asks}.title`), [
    { kind: 'text', text: say(`${asks}.text`) },
    accountNode(uri, say(`${asks}.submit`), [email]),
    signInLink(say),
  ])
}

function choosePage(opened: OpenedLink | undefined, say: PageMessages): ShownPage {
  if (!opened)
    return accountShown(
      say('choose.gone'),
      [
        { kind: 'text', text: say('choose.gone.text') },
        { kind: 'link', label: say('forgot.title'), href: `/${accountPaths.forgot}` },
        signInLink(say),
      ],
      404,
    )
  const submit = say(opened.kind === 'signup' ? 'choose.create' : 'choose.submit')
  return accountShown(say(`choose.${opened.kind}`), [
    { kind: 'text', text: say('choose.account', { username: opened.username }) },
    accountNode(accountPaths.choose, submit, newPasswordNodes(say)),
  ])
}

function signInLink(say: PageMessages): PageNode {
  return { kind: 'link', label: say('signin.link'), href: `/${accountPaths.signIn}` }
}

/** Does what the form is for and sends the browser to the sign-in page; or says what is wrong. */
export async function submitLinkForm(
  access: Access,
  request: FastifyRequest,
  reply: FastifyReply,
  sent: SentLinkForm,
): Promise<AccountRefusal | undefined> {
  const { form, say } = sent
  try {
    const done =
      form === accountForms[accountPaths.choose]
        ? await choose(access, request, sent)
        : await ask(access, request, sent)
    if ('messages' in done) return done
    keepNotice(request, reply, { tone: 'success', text: done.text }, done.username)
    return sentOn(reply, `/${accountPaths.signIn}`)
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    if (error.code === 'RATE_LIMITED')
      return refusedWhole(say(error.details?.proof === true ? 'proof.needed' : 'signin.locked'))
    if (error.code === 'INVALID_BODY')
      return error.fields?.includes('email')
        ? refusedField('email', say('email.wrong'))
        : refusedPassword(error, say)
    throw error
  }
}

interface SentLinkForm {
  readonly form: string
  readonly values: JsonObject
  readonly say: PageMessages
}

/** The words are the same whether or not a user has the address. */
async function ask({ links }: Access, request: FastifyRequest, { form, values, say }: SentLinkForm) {
  const asked = {
    email: typed(values.email),
    language: localeOf(request),
    ip: request.ip,
    agent: request.headers['user-agent'],
    proof: typed(values[sentNames.proof]),
  }
  if (form === accountForms[accountPaths.forgot]) {
    await links.askReset(asked)
    return { text: say('forgot.done'), username: undefined }
  }
  await links.askSignUp(asked)
  return { text: say('signup.done'), username: undefined }
}

async function choose({ links }: Access, request: FastifyRequest, { values, say }: SentLinkForm) {
  if (values.new !== values.repeat) return refusedField('repeat', say('password.differ'))
  const link = pageAddress(request.url).get('link') ?? ''
  const sender = { ip: request.ip, agent: request.headers['user-agent'] }
  const { username } = await links.follow(link, typed(values.new), sender)
  return { text: say('choose.done'), username }
}
