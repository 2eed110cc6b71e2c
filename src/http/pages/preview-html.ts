/**
 * A page as HTML for the preview of the studio: as `show-page.ts` makes it, with the rows that the viewer may see, but
 * without forms that could be sent (no tokens), without cookies, notices and live changes.
 */
import type { FastifyRequest } from 'fastify'
import type { ShownPage } from '../../shared/pages/page-content.ts'
import { fillPage } from './fill-page.ts'
import type { PageServices } from './open-page-services.ts'
import { pageAddress } from './page-origin.ts'
import { permittedPage, visitorOf } from './permitted-page.ts'
import { localeOf, userOf, zoneOf } from './show-page.ts'

export interface PreviewedPage {
  readonly shown: ShownPage
  /** When the flow names none. */
  readonly title: string
  readonly language?: string | undefined
  /** Path and query. */
  readonly url: string
  readonly theme: 'light' | 'dark' | 'auto'
}

export async function previewHtml(
  services: PageServices,
  request: FastifyRequest,
  { shown: made, title, language, url, theme }: PreviewedPage,
): Promise<string> {
  const { permissions } = services.flows
  const shown = await permittedPage(made, { permissions, rulesOf: services.rulesOf }, visitorOf(request))
  const locale = language ?? localeOf(request)
  const address = pageAddress(url)
  const hidden = () => []
  const timeZone = zoneOf(request, services)
  const making = { hidden, ticket: undefined, refused: undefined }
  const filling = { ...making, shown, address, locale, timeZone, namesBlocks: true }
  const content = await fillPage(services, request, filling)
  return services.pages.render({
    title: shown.title ?? title,
    content,
    template: shown.template === undefined ? undefined : await services.templates.find(shown.template),
    locale,
    language,
    timeZone,
    user: userOf(request.identity?.user),
    url: address.href,
    hidden: {},
    theme,
    notice: undefined,
    events: undefined,
    noIndex: false,
    still: true,
  })
}
