/** One request for a page of a blueprint, from the run to the reply. */
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Reply } from '../../blocks/reply.ts'
import type { RunEnd } from '../../flows/run/run-start.ts'
import { messagesFor } from '../../pages/messages.ts'
import { HeldUploads } from '../../records/assets/held-uploads.ts'
import { noteDocumentsOf } from '../../records/assets/page-uploads.ts'
import { removeFiles } from '../../records/assets/sent-files.ts'
import type { Actor } from '../../records/records.ts'
import { QuoinError } from '../../shared/errors.ts'
import { headerAddress } from '../../shared/header-address.ts'
import { andThen } from '../../shared/maybe-promise.ts'
import type { Session } from '../../storage/database.ts'
import { tableReferences } from '../../storage/reference/table-references.ts'
import type { IdempotencyKey, StoredReply } from '../endpoints/endpoint-idempotency.ts'
import { accountForm, submitAccountForm } from './account-pages.ts'
import type { RefusedForm } from './complete-page.ts'
import { showError } from './error-page.ts'
import { sendOtherView } from './other-views.ts'
import { pageAddress } from './page-address.ts'
import { pageRequest } from './page-request.ts'
import type { PageRoom } from './page-room.ts'
import type { FoundPage } from './page-routes.ts'
import { permittedPage, visitorOf } from './permitted-page.ts'
import { type Posted, sentNames } from './posted.ts'
import { readStoredReply, sendPageReply, storableReply } from './send-page-reply.ts'
import { localeOf, type PageToShow, showPage } from './show-page.ts'
import { storeFiles } from './store-files.ts'
import { rowsQuery } from './table-query.ts'
import { Visit } from './visit.ts'

/** What was sent, and whether it is the visitor's own doing. */
export interface Sent {
  readonly posted: Posted
  readonly expired: boolean
}

/** Runs the page's flow and sends what came of it. `sent` undefined: the page is only looked at. */
export async function visitPage(
  room: PageRoom,
  request: FastifyRequest,
  reply: FastifyReply,
  found: FoundPage,
  sent: Sent | undefined,
): Promise<FastifyReply> {
  const { page, blueprint } = found
  const stored: string[] = []
  const held = new HeldUploads(room.database)
  let endNotes = () => {}
  const by = actorOf(request)
  const { permissions } = room.flows
  const visitor = visitorOf(request)
  const address = pageAddress(request.url)
  const visit = new Visit(
    sent?.posted,
    {
      rulesOf: room.rulesOf,
      messages: messagesFor(localeOf(request)),
      async storeFiles(read) {
        const { values, assets } = await storeFiles(room.assets, read, by)
        stored.push(...assets)
        held.add(assets)
        endNotes = noteDocumentsOf(room.database, assets)
        return values
      },
      readFile: (guid) => (stored.includes(guid) ? bytesOf(room.assets, guid) : undefined),
      permitted: (page) => permittedPage(page, { permissions, rulesOf: room.rulesOf }, visitor),
      async areShown(table, guids) {
        const session = permissions.session(room.database.session(), visitor)
        const { all } = await tableReferences(table, room.rulesOf)
        return (await session.count(table.storage, rowsQuery(table, guids, all))) === guids.length
      },
      expired: sent?.expired ?? false,
      ownForms: accountForm(page.listening.uri),
    },
    address.href,
  )
  const given = pageRequest(request, found.parameters, visit)
  const key = sent && !sent.expired ? onceKey(room, found, given, sent.posted) : undefined

  const before = key && (await room.idempotency.take(key))
  if (before) return replay(before)
  try {
    return await run()
  } finally {
    if (key) room.idempotency.release(key)
  }

  async function run(): Promise<FastifyReply> {
    const { promise: replied, resolve } = Promise.withResolvers<Reply>()
    const end = room.runs.run({
      flow: page.flow,
      blueprint,
      given: page.start(given),
      request: given,
      ...(sent && { noting: held.around }),
      onReply: resolve,
      beforeReply: (session: Session, made: Reply) => {
        visit.replied = true
        return andThen(
          held.release(session),
          () => key && room.idempotency.keep(session, key, storableReply(made)),
        )
      },
    })
    const over = () => endNotes()
    void Promise.resolve(end).then(over, over)
    const first = await Promise.race([replied, end])
    if ('code' in first) return send(first)
    const failed = first.error !== undefined
    if (failed) await removeFiles(room.assets, stored, by)
    else await held.end()
    // Another node was faster: its writes and its reply stand, ours were undone.
    const other = key && first.error?.code === 'CONFLICT' ? await room.idempotency.find(key) : undefined
    return other ? replay(other) : ended(first)
  }

  async function send(made: Reply): Promise<FastifyReply> {
    if (made.page?.kind === 'show' && request.method === 'GET') {
      if (await sendOtherView(room, request, reply, found, made.page)) return reply
      const kept = await keptForm(room, request, address.href)
      if (kept)
        return showPage(room, request, reply, { ...kept, shown: made.page, title: page.listening.title })
    }
    return sendPageReply(room, request, reply, made, page.listening.title)
  }

  function replay(known: StoredReply): Promise<FastifyReply> {
    return send(readStoredReply(known))
  }

  /** The run gave no reply: the form was refused, is ours to answer, or something failed. */
  async function ended(end: RunEnd): Promise<FastifyReply> {
    const posted = sent?.posted
    if (end.error) {
      const again = posted && visit.page ? refusedBy(end.error, visit, posted) : undefined
      return again ? showAgain(again) : showError(room, request, reply, end.error, end.run)
    }
    if (visit.refused) return showAgain(visit.refused)
    if (posted && visit.own) {
      const { form, values } = visit.own
      const done = await submitAccountForm(room, request, reply, form, values)
      return done ? showAgain({ form, posted, ...done }) : reply
    }
    if (posted && visit.page) return reply.code(303).header('location', headerAddress(address.href)).send()
    const message = `The page /${page.listening.uri} ended without "Show page"; the visitor got 404.`
    room.flows.log.write({ level: 'warn', message, run: end.run, blueprint, block: page.block })
    throw new QuoinError('NOT_FOUND', 'The page has no content.')
  }

  function showAgain(refused: RefusedForm): Promise<FastifyReply> {
    if (!visit.page) throw new TypeError('A form was refused after the page was shown.')
    return showPage(room, request, reply, { shown: visit.page, title: page.listening.title, refused })
  }
}

/** What the visitor typed before signing in again, when the address asks for it. */
async function keptForm(
  { keptForms }: PageRoom,
  request: FastifyRequest,
  href: string,
): Promise<Pick<PageToShow, 'refused' | 'notice'> | undefined> {
  const name = new URLSearchParams(request.url.split('?')[1] ?? '').get('_kept')
  if (name === null || !request.identity) return undefined
  const kept = await keptForms.find(name, href, request.identity.guid)
  if (!kept) return undefined
  const text = messagesFor(localeOf(request))('form.kept')
  return { refused: { ...kept, errors: new Map(), messages: [] }, notice: { tone: 'info', text } }
}

/** What the flow did not take, said on the form that was sent: rules of fields that only the write could check. */
function refusedBy(error: QuoinError, visit: Visit, posted: Posted): RefusedForm | undefined {
  if (error.status >= 500 || error.code === 'INSUFFICIENT_PERMISSIONS') return undefined
  if (error.code === 'CONFLICT' && visit.submitted === undefined) return undefined
  const errors = new Map((error.fields ?? []).map((field) => [field, error.message]))
  return { form: visit.submitted?.form, posted, errors, messages: errors.size > 0 ? [] : [error.message] }
}

/**
 * The form's one-time name with what was sent: the same sent twice is done once, and something else sent from the same
 * page, as after going back, is something else.
 */
function onceKey(
  room: PageRoom,
  { blueprint, page }: FoundPage,
  given: ReturnType<typeof pageRequest>,
  posted: Posted,
): IdempotencyKey | undefined {
  const once = posted.first(sentNames.once)
  if (once === undefined || once.length > 100) return undefined
  const fields = posted.names().map((name) => [name, posted.all(name)])
  const files = posted.files.map(({ field, file }) => [field, file.sha256])
  const header = createHash('sha256')
    .update(JSON.stringify([once, fields, files]))
    .digest('base64url')
  return room.idempotency.keyOf(
    { blueprint, endpoint: { block: page.block } },
    { ...given, headers: { 'idempotency-key': header } },
  )
}

async function* bytesOf(assets: PageRoom['assets'], guid: string): AsyncGenerator<Uint8Array, void> {
  yield* assets.read(await assets.get(guid))
}

function actorOf({ identity }: FastifyRequest): Actor {
  return identity ? { guid: identity.guid, username: identity.username } : { guid: '', username: '' }
}
