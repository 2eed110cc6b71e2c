/** Leads a browser from a form to another site. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { messagesFor } from '../../pages/messages.ts'
import { headerAddress } from '../../shared/header-address.ts'
import type { ShownPage } from '../../shared/pages/page-content.ts'
import { accountShown } from './account-form.ts'
import type { PageServices } from './open-page-services.ts'
import { localeOf, showPage } from './show-page.ts'

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
