/** Leads a browser from a form to another site. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { messagesFor } from '../../pages/messages.ts'
import { headerAddress } from '../../shared/header-address.ts'
import { accountShown } from './account-form.ts'
import type { PageServices } from './open-page-services.ts'
import { localeOf, showPage } from './show-page.ts'

/** The address of another site to which a form was sent on, as the flow wrote it; undefined where a redirect does. */
export function elsewhereOf(
  { method, host }: Pick<FastifyRequest, 'method' | 'host'>,
  target: string | undefined,
): URL | undefined {
  if (method !== 'POST' || target === undefined || !URL.canParse(target)) return undefined
  const url = new URL(target)
  return url.host === host ? undefined : url
}

/**
 * A form may not lead to another site, by a redirect neither: the policy of pages stops browsers there (`form-action`, and
 * `connect-src` where a script sends it). So it gives a page that goes on by itself, with a link for those that do not.
 */
export function showElsewhere(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  { href, host }: URL,
): Promise<FastifyReply> {
  const say = messagesFor(localeOf(request))
  const title = say('elsewhere.title')
  reply.header('refresh', `0; url=${headerAddress(href)}`)
  const shown = accountShown(title, [{ kind: 'link', label: say('elsewhere.link', { host }), href }])
  return showPage(services, request, reply, { shown, title, builtIn: true })
}
