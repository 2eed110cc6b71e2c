/** Pages that say what went wrong. For browsers; clients that do not accept HTML get the usual JSON. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type MessageKey, messagesFor, type PageMessages } from '../../pages/messages.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { PageNode } from '../../shared/pages/page-content.ts'
import { replyWithError } from '../server/error-answer.ts'
import type { PageServices } from './open-page-services.ts'
import { localeOf, showPage } from './show-page.ts'

const texts: Readonly<Record<number, readonly [MessageKey, MessageKey]>> = {
  403: ['error.403.title', 'error.403.text'],
  404: ['error.404.title', 'error.404.text'],
  409: ['error.409.title', 'error.409.text'],
  413: ['error.413.title', 'error.413.text'],
  429: ['error.429.title', 'error.429.text'],
  500: ['error.500.title', 'error.500.text'],
  503: ['error.503.title', 'error.503.text'],
}

/** Whether a browser asks, to show what it gets to a person. */
function wantsPage({ headers }: FastifyRequest): boolean {
  return /\btext\/html\b/i.test(headers.accept ?? '')
}

/** `run`: guid of the run that failed, or what finds the failure in the log. */
export async function showError(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  thrown: unknown,
  run?: string,
): Promise<FastifyReply> {
  if (!wantsPage(request) || reply.sent) return replyWithError(thrown, request, reply)
  const error = thrown instanceof QuoinError ? thrown : foreign(thrown)
  if (error.status >= 500)
    request.log.error({ code: error.code, run, err: error.cause ?? error }, 'page failed')
  const status = error.status
  const messages = messagesFor(localeOf(request))
  const { title, text } = textsOf(error, messages)
  const content: PageNode[] = [
    { kind: 'heading', level: 1, text: title },
    ...(text === undefined ? [] : [{ kind: 'text', text } as const]),
    ...(status >= 500
      ? [
          {
            kind: 'text',
            variant: 'muted',
            text: messages('error.number', { id: run ?? request.id }),
          } as const,
        ]
      : []),
    { kind: 'link', label: messages('error.home'), href: '/' },
  ]
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter))
  const shown = { content, title, template: undefined, status }
  return showPage(services, request, reply, { shown, title: '', builtIn: true })
}

/** What a client did wrong is said in full, and what the block "Fail" says; of internal errors clients learn only a number. */
function textsOf(
  error: QuoinError,
  messages: PageMessages,
): { readonly title: string; readonly text?: string } {
  const { status, message } = error
  if (error.code === 'FLOW_FAILED') return { title: message }
  const known = texts[status] ?? (status >= 500 ? texts[500] : undefined)
  return known ? { title: messages(known[0]), text: messages(known[1]) } : { title: message }
}

/** What the framework throws, by its status. */
function foreign(thrown: unknown): QuoinError {
  const status =
    typeof thrown === 'object' && thrown !== null && 'statusCode' in thrown ? thrown.statusCode : 500
  if (status === 413) return new QuoinError('FILE_TOO_BIG', 'The request is too large.', { cause: thrown })
  if (status === 404) return new QuoinError('NOT_FOUND', 'Page not found.', { cause: thrown })
  if (typeof status === 'number' && status >= 400 && status < 500)
    return new QuoinError('INVALID_BODY', 'The request cannot be read.', { cause: thrown })
  return new QuoinError('INTERNAL', 'Internal error.', { cause: thrown })
}
