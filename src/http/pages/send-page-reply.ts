import type { FastifyReply, FastifyRequest } from 'fastify'
import { FileBody, HTML_TYPE, PlainText, type Reply } from '../../blocks/reply.ts'
import { headerAddress } from '../../shared/header-address.ts'
import type { PageAnswer } from '../../shared/pages/page-content.ts'
import type { StoredReply } from '../endpoints/endpoint-idempotency.ts'
import { replyText } from '../endpoints/request-and-reply.ts'
import { assetFile, sendFile } from '../replies/file-reply.ts'
import { keepNotice } from './notice-cookie.ts'
import type { PageServices } from './open-page-services.ts'
import { elsewhereOf, type PageToShow, pageHeaders, showElsewhere, showPage } from './show-page.ts'

/** Marks a stored reply whose text is a page and no JSON for the client. */
const PAGE = 'x-quoin-page'

/** Sends what the flow of a page replied. `title`: for a page that has none of its own. */
export async function sendPageReply(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  made: Reply,
  { title, language }: Pick<PageToShow, 'title' | 'language'>,
): Promise<FastifyReply> {
  const { page } = made
  if (page?.kind === 'show') return showPage(services, request, reply, { shown: page, title, language })
  const elsewhere = elsewhereOf(request, page?.kind === 'redirect' ? page.to : made.headers.location)
  if (elsewhere) return showElsewhere(services, request, reply, elsewhere)
  if (page?.kind === 'redirect') {
    if (page.notice) keepNotice(request, reply, page.notice)
    return reply
      .code(303)
      .header('location', headerAddress(page.to))
      .header('cache-control', 'no-store')
      .send()
  }
  if (made.value instanceof FileBody)
    return sendFile(request, reply.headers(made.headers), assetFile(services.assets, made.value.asset))
  const text = replyText(made)
  if (made.headers['content-type'] === HTML_TYPE)
    return pageHeaders(reply.code(made.code)).headers(made.headers).send(text)
  reply.code(made.code).header('cache-control', 'no-store')
  if (text !== undefined) reply.type('application/json; charset=utf-8')
  return reply.headers(made.headers).header('content-security-policy', 'sandbox').send(text)
}

/** The reply in a form that can be kept for a form that is sent twice. */
export function storableReply(made: Reply): Reply {
  if (!made.page) return made
  return { code: made.code, value: JSON.stringify(made.page), headers: { [PAGE]: '1' } }
}

export function readStoredReply({ code, text, file, headers }: StoredReply): Reply {
  if (file) return { code, value: new FileBody(file), headers }
  if (text === undefined) return { code, value: undefined, headers }
  if (!isJson(headers)) return { code, value: new PlainText(text), headers }
  const value = JSON.parse(text)
  if (headers[PAGE] === undefined) return { code, value, headers }
  // Text in the stored text: only storableReply puts it there.
  const page: PageAnswer = JSON.parse(value)
  return { code, value: undefined, headers: {}, page }
}

function isJson(headers: StoredReply['headers']): boolean {
  return headers[PAGE] !== undefined || (headers['content-type'] ?? 'application/json').includes('json')
}
