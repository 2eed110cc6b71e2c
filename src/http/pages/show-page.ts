/** Makes a page of what a flow wants shown, and sends it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { messagesFor, messagesOf, type PageMessages, pickLocale } from '../../pages/messages.ts'
import { ACCOUNT_TEMPLATE, accountPaths } from '../../shared/account-paths.ts'
import { headerAddress } from '../../shared/header-address.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import type { PageNode, PageNotice, PageUser, ShownPage } from '../../shared/pages/page-content.ts'
import type { DataTable } from '../../shared/pages/page-table.ts'
import { askedLanguages } from '../../shared/texts/translations.ts'
import { htmlHeaders } from '../replies/html-headers.ts'
import { cookieOf } from '../server/origin.ts'
import { accountForms, accountShown } from './account-form.ts'
import { dataTablesOf, type PageMaking, type RefusedForm } from './complete-page.ts'
import { fillPage } from './fill-page.ts'
import { takeNotice } from './notice-cookie.ts'
import type { PageServices } from './open-page-services.ts'
import { pageAddress } from './page-origin.ts'
import { permittedPage, visitorOf } from './permitted-page.ts'
import { sentNames } from './posted.ts'
import { usablePage } from './usable-page.ts'

export interface PageToShow {
  readonly shown: ShownPage
  /** When the flow names none. */
  readonly title: string
  /** BCP 47: what the page is written in, where its block says so. */
  readonly language?: string | undefined
  /** A form that was not taken: shown again, with what was typed. */
  readonly refused?: RefusedForm | undefined
  /** Said above the page, once. */
  readonly notice?: PageNotice
  /** Ours, or an error: not for search engines, and nothing on it changes. */
  readonly builtIn?: boolean
}

/** The data tables of a page that change by themselves. */
export function liveTables({ content }: Pick<ShownPage, 'content'>): readonly DataTable[] {
  return dataTablesOf(content).filter((table) => table.live)
}

/** The language that a visitor reads, of those that Quoin itself speaks. */
export function localeOf(request: FastifyRequest): string {
  return pickLocale(askedBy(request))
}

/** What the pages of accounts say to a visitor: Quoin's words, or those of the template {@link ACCOUNT_TEMPLATE}. */
export async function accountMessages(
  { templates }: Pick<PageServices, 'templates'>,
  request: FastifyRequest,
): Promise<PageMessages> {
  const template = await templates.find(ACCOUNT_TEMPLATE)
  return messagesOf(template?.settings ?? {}, localeOf(request))
}

export function askedBy({ identity, headers }: FastifyRequest): string | undefined {
  return askedLanguages(identity?.user, headers['accept-language'])
}

/**
 * The time zone of the times that a visitor types and reads: their own, else that of the cluster. Users who have chosen none
 * have UTC.
 */
export function zoneOf({ identity }: FastifyRequest, { cells }: Pick<PageServices, 'cells'>): string {
  const own = identity?.user.timezone
  return typeof own === 'string' && own !== '' && own !== 'UTC' ? own : cells().timeZone
}

export async function showPage(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  { shown: made, title, language, refused, notice, builtIn = false }: PageToShow,
): Promise<FastifyReply> {
  const { permissions } = services.flows
  const permitted = await permittedPage(made, { permissions, rulesOf: services.rulesOf }, visitorOf(request))
  // A form that was refused says so, also where it is not offered any more.
  const shown = refused ? permitted : await usablePage(services, request, permitted)
  const locale = language ?? localeOf(request)
  const address = pageAddress(request.url)
  // Only a page with a form needs a token, and only then the visitor gets a cookie.
  let token: string | undefined
  const issue = () => {
    token ??= services.tokens.issue(request, reply)
    return token
  }
  const hidden = () => [
    { name: sentNames.token, value: issue() },
    { name: sentNames.once, value: services.flows.newGuid() },
  ]
  // Before anything is read: later changes are sent to the event stream of the page.
  const live = liveTables(shown)
  const mark = services.events.mark(live)
  const ticket = builtIn ? undefined : ticketsOf(services, request, address.href)
  const timeZone = zoneOf(request, services)
  const proof = (form: string) => proofOf(services, address.path, form)
  const filling = { shown, address, hidden, ticket, proof, refused, locale, timeZone, namesBlocks: false }
  const content = await fillPage(services, request, filling)
  const above: readonly PageNode[] =
    refused && refused.form === undefined
      ? refused.messages.map((text) => ({ kind: 'alert', tone: 'danger', text }))
      : []
  const template = builtIn ? await accountTemplate(services) : await templateOf(services, shown)
  const html = services.pages.render({
    title: shown.title ?? title,
    content: [...above, ...content],
    template,
    locale,
    // What comes with Quoin speaks the visitor's language, whatever its template says.
    language: builtIn ? locale : language,
    timeZone,
    user: userOf(request.identity?.user),
    url: address.href,
    hidden: request.identity ? { _csrf: issue() } : {},
    theme: themeOf(request),
    notice: takeNotice(request, reply) ?? notice,
    events: live.length > 0 && !builtIn ? address.with({ _events: mark }) : undefined,
    noIndex: builtIn,
  })
  return (
    pageHeaders(reply)
      // A page that is only looked at is shown as it was asked for, with what was typed before signing in.
      .code(refused && request.method === 'POST' && shown.status === 200 ? 422 : shown.status)
      .type('text/html; charset=utf-8')
      .send(html)
  )
}

/** For the forms of visitors without an account, on a page of a blueprint too. */
function proofOf({ access }: PageServices, path: string, form: string): string | undefined {
  const proven = [accountPaths.signUp, accountPaths.forgot].find((one) => path === `/${one}`)
  return proven && accountForms[proven] === form ? access.links.challenge(accountForms[proven]) : undefined
}

async function templateOf({ templates, flows }: PageServices, { template: name }: ShownPage) {
  if (name === undefined) return undefined
  const found = await templates.find(name)
  if (!found)
    flows.log.write({ level: 'warn', message: `There is no page template named ${JSON.stringify(name)}.` })
  return found
}

/** Without its JavaScript: passwords are typed there. */
async function accountTemplate({ templates }: PageServices) {
  const found = await templates.find(ACCOUNT_TEMPLATE)
  return found && { ...found, js: undefined }
}

export function pageHeaders(reply: FastifyReply): FastifyReply {
  return (
    reply
      .headers(htmlHeaders)
      // The forms of a page carry tokens of its visitor.
      .header('cache-control', 'no-store')
      .header('vary', 'cookie, accept-language')
  )
}

function themeOf(request: FastifyRequest): 'light' | 'dark' | 'auto' {
  const theme = cookieOf(request, 'quoin_theme')
  return theme === 'light' || theme === 'dark' ? theme : 'auto'
}

/** Forms of who is signed in can be kept for them, should the session end before the form is sent. */
function ticketsOf(
  { savedForms }: PageServices,
  { identity }: FastifyRequest,
  href: string,
): PageMaking['ticket'] {
  if (!identity) return undefined
  return (form, hidden, never) => {
    const once = hidden.find(({ name }) => name === sentNames.once)?.value ?? ''
    const value = savedForms.ticket({ form, href, once }, identity.guid, never)
    return [{ name: sentNames.ticket, value }]
  }
}

export function userOf(user: JsonObject | undefined): PageUser | undefined {
  if (!isJsonObject(user) || typeof user.username !== 'string') return undefined
  const names = [user.firstname, user.lastname].filter((one) => typeof one === 'string' && one !== '')
  return { username: user.username, name: names.length > 0 ? names.join(' ') : user.username }
}

/** The address of another site to which a form was sent on, as the flow wrote it; undefined where a redirect does. */
export function elsewhereOf(
  { method, host, protocol }: Pick<FastifyRequest, 'method' | 'host' | 'protocol'>,
  target: string | undefined,
): URL | undefined {
  if (method !== 'POST' || target === undefined) return undefined
  // Browsers read `//other.org/pay`, also with backslashes, as an address of another site.
  const here = `${protocol}://${host}`
  const url = URL.parse(target, URL.canParse(here) ? here : undefined)
  return url === null || url.host === host ? undefined : url
}

/**
 * A page that goes on to another site by itself, with a link for browsers that do not. The reply to a form may not lead there by a
 * redirect: the policy of the page on which the form stands stops it (`form-action`, and `connect-src` where a script sends it).
 */
export function elsewhereShown(
  reply: FastifyReply,
  { title, label, href }: { readonly title: string; readonly label: string; readonly href: string },
): ShownPage {
  reply.header('refresh', `0; url=${headerAddress(href)}`)
  return accountShown(title, [{ kind: 'link', label, href }])
}

/** Leads a browser from a form to another site. */
export function showElsewhere(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  { href, host }: URL,
): Promise<FastifyReply> {
  const say = messagesFor(localeOf(request))
  const title = say('elsewhere.title')
  const shown = elsewhereShown(reply, { title, label: say('elsewhere.link', { host }), href })
  return showPage(services, request, reply, { shown, title, builtIn: true })
}
