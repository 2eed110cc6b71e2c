/**
 * The pages of runs that wait for an approval. A request is admitted by the token of the link, or by a scope of the
 * signed-in user. Looking changes nothing; only a form that was sent from the page decides, so that a mail scanner which
 * opens each link of a mail decides nothing.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { mayEnter } from '../../access/scopes.ts'
import { detailsOf, type Waits } from '../../flows/background/waits.ts'
import { isWaitToken } from '../../flows/run/store-wait.ts'
import type { WaitRecord } from '../../flows/run/wait-record.ts'
import { messagesFor, type PageMessages } from '../../pages/messages.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import type { PageNode, ShownPage } from '../../shared/pages/page-content.ts'
import { showError } from '../pages/error-page.ts'
import type { PageServices } from '../pages/open-page-services.ts'
import { askToSignIn, identify } from '../pages/page-handler.ts'
import { isFromElsewhere, isFromHere, pageAddress } from '../pages/page-origin.ts'
import { type Posted, postedFields, sentNames } from '../pages/posted.ts'
import { localeOf, showPage } from '../pages/show-page.ts'
import type { RouteFamily } from '../server/route-family.ts'

export function approvalHandler(pages: PageServices, waits: Waits): RouteFamily {
  const services = { ...pages, waits }
  return (app, tools) => {
    app.setErrorHandler((error, request, reply) => showError(services, request, reply, error))
    app.route<{ Params: { guid: string } }>({
      method: ['GET', 'HEAD', 'POST'],
      url: '/_approvals/:guid',
      // A button and a comment.
      config: { permission: 'by-trigger', entityTag: false, bodyBytes: () => 64 * 1024 },
      schema: { hide: true },
      async onRequest(request) {
        if (request.method === 'POST' && isFromElsewhere(request)) throw fromElsewhere()
        await identify(request, tools)
        tools.limitRate(request, 'approvals')
      },
      async handler(request, reply) {
        const token = pageAddress(request.url).get('token')
        if (!request.identity && token === undefined) return askToSignIn(request, reply)
        const wait = await services.waits.waiting(request.params.guid)
        if (!wait || !mayDecide(wait, request, token)) return show(services, request, reply, gonePage)
        if (request.method === 'POST') return decide(services, request, reply, wait)
        return showPage(services, request, reply, { ...builtIn, shown: pageOf(wait, request) })
      },
    })
  }
}

const builtIn = { title: '', builtIn: true } as const

function mayDecide(wait: WaitRecord, { identity }: FastifyRequest, token: string | undefined): boolean {
  if (wait.kind !== 'approval') return false
  if (isWaitToken(token, wait.tokenHash)) return true
  return identity !== undefined && wait.scopes.length > 0 && mayEnter(wait.scopes, identity)
}

async function decide(
  services: PageServices & { readonly waits: Waits },
  request: FastifyRequest,
  reply: FastifyReply,
  wait: WaitRecord,
): Promise<FastifyReply> {
  const posted = postedFields(request.body)
  const isOwn = services.tokens.verify(request, posted.first(sentNames.token))
  if (!isOwn && !isFromHere(request)) throw fromElsewhere()
  const { identity } = request
  const read = readDecision(posted, request)
  if (!isOwn || 'problem' in read) {
    const messages = [!isOwn || !('problem' in read) ? expired(request) : read.problem]
    const refused = { form: approvalForm, posted, errors: new Map<string, string>(), messages }
    return showPage(services, request, reply, { ...builtIn, shown: pageOf(wait, request), refused })
  }
  const { decision, comment } = read
  const by = identity && { guid: identity.guid, username: identity.username }
  const ended = await services.waits.end(wait, {
    gives: { next: decision, at: new Date(services.clock()), comment, ...(by && { by }) },
    logged: { decision, comment, ...(!by && { by: 'the link' }) },
    by,
  })
  if (!ended) return show(services, request, reply, latePage)
  return show(services, request, reply, (say) => decidedPage(wait, decision, say))
}

type Read = { readonly decision: Decision; readonly comment: string } | { readonly problem: string }

function readDecision(posted: Posted, request: FastifyRequest): Read {
  const say = messagesFor(localeOf(request))
  const decision = decisions[posted.first(sentNames.button) ?? '']
  const comment = (posted.first('comment') ?? '').trim()
  if (decision === undefined) return { problem: say('approval.choose') }
  if (comment.length > LONGEST_COMMENT)
    return { problem: say('approval.comment.long', { most: LONGEST_COMMENT }) }
  return { decision, comment: comment.toWellFormed().replaceAll('\u0000', '') }
}

function expired(request: FastifyRequest): string {
  return messagesFor(localeOf(request))('form.expired')
}

function pageOf(wait: WaitRecord, request: FastifyRequest): ShownPage {
  return approvalPage(wait, messagesFor(localeOf(request)))
}

function show(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  make: (say: ReturnType<typeof messagesFor>) => ShownPage,
): Promise<FastifyReply> {
  return showPage(services, request, reply, { ...builtIn, shown: make(messagesFor(localeOf(request))) })
}

function fromElsewhere(): QuoinError {
  return new QuoinError('INSUFFICIENT_PERMISSIONS', 'The form was not sent from a page of this site.')
}

const approvalForm = 'decision'

const LONGEST_COMMENT = 2_000

type Decision = 'approved' | 'rejected'

/** What a button of the form sends, and what it decides. */
const decisions: Readonly<Record<string, Decision>> = {
  'approve ': 'approved',
  'reject ': 'rejected',
}

/** The page on which a person decides: what the block says, a comment and two buttons. */
function approvalPage(wait: WaitRecord, say: PageMessages): ShownPage {
  const { title, text, fields } = detailsOf(wait)
  const { until } = wait
  const items = [
    ...Object.entries(fields).map(([label, value]) => ({
      label,
      value: shown(value),
      format: 'auto' as const,
    })),
    ...(until === null
      ? []
      : [
          {
            label: say('approval.until'),
            value: new Date(until).toISOString(),
            format: 'date_time' as const,
          },
        ]),
  ]
  const more: PageNode[] = [
    ...(text === '' ? [] : [{ kind: 'text', text } as const]),
    ...(items.length === 0 ? [] : [{ kind: 'detail', items } as const]),
  ]
  return page(title, 200, [
    ...more,
    {
      kind: 'form',
      id: approvalForm,
      block: '',
      content: [
        {
          ...({ kind: 'input', type: 'area', name: 'comment' } as const),
          label: say('approval.comment'),
          maxLength: LONGEST_COMMENT,
        },
        button('approve', say('approval.approve'), 'primary'),
        button('reject', say('approval.reject'), 'danger'),
      ],
    },
  ])
}

/** Said to the person who has decided. */
function decidedPage(wait: WaitRecord, decision: Decision, say: PageMessages): ShownPage {
  const done: PageNode[] = [
    { kind: 'text', variant: 'lead', text: detailsOf(wait).title },
    { kind: 'text', text: say('approval.done') },
  ]
  return page(say(`approval.${decision}`), 200, done)
}

/** Said where there is nothing to decide: the same for all reasons, so that nothing can be probed. */
function gonePage(say: PageMessages): ShownPage {
  return page(say('approval.gone.title'), 404, [{ kind: 'text', text: say('approval.gone.text') }])
}

/** Said to the slower one of two. */
function latePage(say: PageMessages): ShownPage {
  return page(say('approval.late.title'), 409, [{ kind: 'text', text: say('approval.late.text') }])
}

/** An object as a line for each of its values, which JSON would be hard to read. */
function shown(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value
  const lines = Object.entries(value).map(
    ([name, part]) => `${name}: ${typeof part === 'string' ? part : JSON.stringify(part)}`,
  )
  return lines.join('\n')
}

function page(title: string, status: number, content: readonly PageNode[]): ShownPage {
  return {
    title,
    content: [{ kind: 'heading', level: 1, text: title }, ...content],
    template: undefined,
    status,
  }
}

function button(block: string, label: string, tone: 'primary' | 'danger'): PageNode {
  return { kind: 'button', action: 'submit', block, label, tone }
}
