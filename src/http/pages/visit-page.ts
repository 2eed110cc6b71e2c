/** One request for a page of a blueprint, from the run to the reply. */
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Reply } from '../../blocks/reply.ts'
import type { RunEnd } from '../../flows/run/run-start.ts'
import { messagesFor } from '../../pages/messages.ts'
import { removeFiles } from '../../records/assets/file-links.ts'
import { TemporaryUploads } from '../../records/assets/temporary-uploads.ts'
import type { Actor } from '../../records/records.ts'
import { QuoinError } from '../../shared/errors.ts'
import { headerAddress } from '../../shared/header-address.ts'
import type { JsonObject } from '../../shared/json.ts'
import { andThen } from '../../shared/maybe-promise.ts'
import { chosenLanguage } from '../../shared/texts/translations.ts'
import type { Session } from '../../storage/database.ts'
import { tableReferences } from '../../storage/reference/table-references.ts'
import type { IdempotencyKey, StoredReply } from '../endpoints/endpoint-idempotency.ts'
import { accountForm, submitAccountForm } from './account-pages.ts'
import type { RefusedForm } from './complete-page.ts'
import { showError } from './error-page.ts'
import type { PageServices } from './open-page-services.ts'
import { sendOtherView } from './other-views.ts'
import { pageAddress } from './page-origin.ts'
import type { FoundPage } from './page-routes.ts'
import { permittedPage, visitorOf } from './permitted-page.ts'
import { type Posted, sentNames } from './posted.ts'
import { pageRequest } from './read-form.ts'
import { readStoredReply, sendPageReply, storableReply } from './send-page-reply.ts'
import { askedBy, localeOf, type PageToShow, showPage, zoneOf } from './show-page.ts'
import { storeFiles } from './store-files.ts'
import { rowsQuery } from './table-query.ts'
import { Visit, type VisitTools } from './visit.ts'

/** What was sent, and whether it is the visitor's own doing. */
export interface Sent {
  readonly posted: Posted
  readonly expired: boolean
}

/** Runs the page's flow and sends what came of it. `sent` undefined: the page is only looked at. */
export function visitPage(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  found: FoundPage,
  sent: Sent | undefined,
): Promise<FastifyReply> {
  return new AnsweredVisit(services, request, reply, found, sent).answer()
}

class AnsweredVisit {
  readonly #services: PageServices
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #found: FoundPage
  readonly #sent: Sent | undefined
  /** Where the page is, for the visitor. */
  readonly #href: string
  readonly #visit: Visit
  /** Assets of files that were sent, and what holds them until the run's writes are durable. */
  readonly #stored: string[] = []
  readonly #held: TemporaryUploads
  /** What became assets: the form's values and files as they were sent, and its values with the assets. */
  #files: { readonly sent: string; readonly values: JsonObject } | undefined

  constructor(
    services: PageServices,
    request: FastifyRequest,
    reply: FastifyReply,
    found: FoundPage,
    sent: Sent | undefined,
  ) {
    this.#services = services
    this.#request = request
    this.#reply = reply
    this.#found = found
    this.#sent = sent
    this.#href = pageAddress(request.url).href
    this.#held = new TemporaryUploads(services.database)
    this.#visit = new Visit(sent?.posted, this.#visitTools(), this.#href)
  }

  async answer(): Promise<FastifyReply> {
    const { idempotency } = this.#services
    const sent = this.#sent
    const input = pageRequest(this.#request, this.#found.parameters, this.#visit)
    const key = sent && !sent.expired ? onceKey(this.#services, this.#found, input, sent.posted) : undefined
    const before = key && (await idempotency.take(key))
    if (before) return this.#replay(before)
    try {
      return await this.#run(input, key)
    } finally {
      if (key) idempotency.release(key)
    }
  }

  #visitTools(): VisitTools {
    const { assets, database, flows, rulesOf } = this.#services
    const { permissions } = flows
    const visitor = visitorOf(this.#request)
    return {
      rulesOf,
      messages: messagesFor(this.#language() ?? localeOf(this.#request)),
      timeZone: zoneOf(this.#request, this.#services),
      storeFiles: async (read) => {
        const actor = actorOf(this.#request)
        const sent = JSON.stringify([
          read.values,
          read.files.map(({ file }) => [file.field, file.file.sha256]),
        ])
        // A try of the run that was undone has stored them: storing them again takes so long that others write meanwhile.
        if (this.#files?.sent === sent) return this.#files.values
        await removeFiles(assets, this.#stored.splice(0), actor)
        const files = await storeFiles(assets, read, actor)
        this.#files = { sent, values: files.values }
        this.#stored.push(...files.assets)
        this.#held.add(files.assets)
        return files.values
      },
      readFile: (guid) => (this.#stored.includes(guid) ? bytesOf(assets, guid) : undefined),
      permitted: (page) => permittedPage(page, { permissions, rulesOf }, visitor),
      async areShown(table, guids) {
        const session = permissions.session(database.session(), visitor)
        const { all } = await tableReferences(table, rulesOf)
        return (await session.count(table.storage, rowsQuery(table, guids, all))) === guids.length
      },
      expired: this.#sent?.expired ?? false,
      ownForms: accountForm(this.#found.page.listening.uri),
    }
  }

  async #run(input: ReturnType<typeof pageRequest>, key: IdempotencyKey | undefined): Promise<FastifyReply> {
    const { assets, idempotency, runs } = this.#services
    const { page, blueprint } = this.#found
    const held = this.#held
    const { promise: replied, resolve } = Promise.withResolvers<Reply>()
    const end = runs.run({
      flow: page.flow,
      blueprint,
      input: page.start(input),
      request: input,
      ...(this.#request.span && { origin: { trace: this.#request.span.place } }),
      ...(this.#sent && { tracking: held.around }),
      onReply: resolve,
      beforeReply: (session: Session, made: Reply) => {
        this.#visit.replied = true
        return andThen(
          held.release(session),
          () => key && idempotency.keep(session, key, storableReply(made)),
        )
      },
    })
    const first = await Promise.race([replied, end])
    if ('code' in first) return this.#send(first)
    const failed = first.error !== undefined
    if (failed) await removeFiles(assets, this.#stored, actorOf(this.#request))
    else await held.end()
    // Another node was faster: its writes and its reply stand, ours were undone.
    const other = key && first.error?.code === 'CONFLICT' ? await idempotency.find(key) : undefined
    return other ? this.#replay(other) : this.#ended(first)
  }

  async #send(made: Reply): Promise<FastifyReply> {
    const [services, request, reply] = [this.#services, this.#request, this.#reply] as const
    const { title } = this.#found.page.listening
    const language = this.#language()
    if (made.page?.kind === 'show' && request.method === 'GET') {
      if (await sendOtherView(services, request, reply, this.#found, made.page)) return reply
      const saved = await savedForm(services, request, this.#href)
      if (saved) return showPage(services, request, reply, { ...saved, shown: made.page, title, language })
    }
    return sendPageReply(services, request, reply, made, { title, language })
  }

  /** What the block says, else that of the texts of the application, which the visitor reads. */
  #language(): string | undefined {
    const { page, blueprint } = this.#found
    if (page.listening.language !== undefined) return page.listening.language
    const texts = this.#services.flows.environment.texts?.(blueprint)
    return texts && chosenLanguage(texts, askedBy(this.#request)).locale
  }

  #replay(known: StoredReply): Promise<FastifyReply> {
    return this.#send(readStoredReply(known))
  }

  /** The run gave no reply: the form was refused, is ours to answer, or something failed. */
  async #ended(end: RunEnd): Promise<FastifyReply> {
    const [services, request, reply] = [this.#services, this.#request, this.#reply] as const
    const { page, blueprint } = this.#found
    const visit = this.#visit
    const posted = this.#sent?.posted
    if (end.error) {
      const again = posted && visit.page ? refusedBy(end.error, visit, posted) : undefined
      return again ? this.#showAgain(again) : showError(services, request, reply, end.error, end.run)
    }
    if (visit.refused) return this.#showAgain(visit.refused)
    if (posted && visit.own) {
      const { form, values } = visit.own
      const done = await submitAccountForm(services, request, reply, form, values)
      if (done && 'shown' in done)
        return showPage(services, request, reply, { shown: done.shown, title: '', builtIn: true })
      return done ? this.#showAgain({ form, posted, ...done }) : reply
    }
    if (posted && visit.page) return reply.code(303).header('location', headerAddress(this.#href)).send()
    const message = `The page /${page.listening.uri} ended without "Show page"; the visitor got 404.`
    services.flows.log.write({ level: 'warn', message, run: end.run, blueprint, block: page.block })
    throw new QuoinError('NOT_FOUND', 'The page has no content.')
  }

  #showAgain(refused: RefusedForm): Promise<FastifyReply> {
    const { page: shown } = this.#visit
    if (!shown) throw new TypeError('A form was refused after the page was shown.')
    const { title, language } = this.#found.page.listening
    return showPage(this.#services, this.#request, this.#reply, { shown, title, language, refused })
  }
}

/** What the visitor typed before signing in again, when the address asks for it. */
async function savedForm(
  { savedForms }: PageServices,
  request: FastifyRequest,
  href: string,
): Promise<Pick<PageToShow, 'refused' | 'notice'> | undefined> {
  const name = new URLSearchParams(request.url.split('?')[1] ?? '').get('_kept')
  if (name === null || !request.identity) return undefined
  const saved = await savedForms.find(name, href, request.identity.guid)
  if (!saved) return undefined
  const text = messagesFor(localeOf(request))('form.kept')
  return { refused: { ...saved, errors: new Map(), messages: [] }, notice: { tone: 'info', text } }
}

/** What the flow did not take, said on the form that was sent: rules of fields that only the write could check. */
function refusedBy(error: QuoinError, visit: Visit, posted: Posted): RefusedForm | undefined {
  if (error.status >= 500 || error.code === 'INSUFFICIENT_PERMISSIONS') return undefined
  if (error.code === 'CONFLICT' && visit.submitted === undefined) return undefined
  const form = visit.submitted?.form
  // A button and a table have no inputs to say it at.
  const fields = form === undefined ? [] : (error.fields ?? [])
  const errors = new Map(fields.map((field) => [field, error.message]))
  return { form, posted, errors, messages: errors.size > 0 ? [] : [error.message] }
}

/**
 * The form's one-time name with what was sent: the same sent twice is done once, and something else sent from the same
 * page, as after going back, is something else.
 */
function onceKey(
  services: PageServices,
  { blueprint, page }: FoundPage,
  input: ReturnType<typeof pageRequest>,
  posted: Posted,
): IdempotencyKey | undefined {
  const once = posted.first(sentNames.once)
  if (once === undefined || once.length > 100) return undefined
  const fields = posted.names().map((name) => [name, posted.all(name)])
  const files = posted.files.map(({ field, file }) => [field, file.sha256])
  const header = createHash('sha256')
    .update(JSON.stringify([once, fields, files]))
    .digest('base64url')
  return services.idempotency.keyOf(
    { blueprint, endpoint: { block: page.block } },
    { ...input, headers: { 'idempotency-key': header } },
  )
}

async function* bytesOf(assets: PageServices['assets'], guid: string): AsyncGenerator<Uint8Array, void> {
  yield* assets.read(await assets.get(guid))
}

function actorOf({ identity }: FastifyRequest): Actor {
  return identity ? { guid: identity.guid, username: identity.username } : { guid: '', username: '' }
}
