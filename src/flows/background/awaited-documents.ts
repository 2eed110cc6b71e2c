/**
 * Runs that wait for a document (`wait_for_document`), or until there is none (`wait_for_no_document`).
 *
 * A write to a storage that flows with such a block use asks, in its own transaction, whether a run waits for a document of
 * it (one indexed read), and if so enqueues a look at this document. A write to any other storage costs nothing. The
 * wait itself enqueues two looks at all documents of the storage.
 *
 * So no document is missed. SQLite writes one transaction after the other: a write that comes before the wait is seen by the
 * first look, one that comes behind it sees the wait. On PostgreSQL the two can overlap, and neither sees the other: the
 * second look comes when the transactions of runs that were open when the wait was committed have ended, as none is open for longer
 * than a run may last.
 */
import type { JsonObject } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { asStored, type Change, type Database, documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { matches } from '../../storage/search/evaluate-query.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import type { LiveBlueprints } from '../live/live-blueprints.ts'
import { awaitingIn, awaitingNoneIn, lookJob, waitJob } from '../run/store-wait.ts'
import { givesText, type WaitRecord, waitRecordOf } from '../run/wait-record.ts'

/** Waits that are read at a time. */
const PAGE = 100

interface AwaitedOptions {
  readonly database: Pick<Database, 'observe' | 'session'>
  readonly live: Pick<LiveBlueprints, 'watch'>
}

/**
 * Begins to tell of writes. Storages stay observed when no deployed flow waits for them any more, and those of stored waits are
 * from the start: runs wait on former deployments.
 */
export async function openAwaitedDocuments({ database, live }: AwaitedOptions): Promise<() => void> {
  const observed = new Map<string, () => void>()
  const observe = (storage: string) => {
    if (!observed.has(storage)) observed.set(storage, database.observe(storage, tell))
  }
  for (const storage of await storedStorages(database.session())) observe(storage)
  const unwatch = live.watch(({ blueprints }) => {
    for (const { compiled } of blueprints.values()) compiled.awaited.forEach(observe)
  })
  return () => {
    unwatch()
    for (const end of observed.values()) end()
  }
}

/** Page by page: in all there are at most as many waits as storages times their limit. */
async function storedStorages(session: Session): Promise<ReadonlySet<string>> {
  const storages = new Set<string>()
  const query = { kind: 'exists', field: 'awaited' } as const
  let after: string | undefined
  do {
    const page = await session.find(
      systemStorages.waits,
      search({ query, limit: PAGE, ...(after && { after }) }),
    )
    for (const { awaited } of documentsOf(page)) storages.add(textIn(awaited))
    after = page.next()
  } while (after !== undefined)
  return storages
}

function tell(session: Session, { storage, kind, guid }: Change): MaybePromise<void> {
  const gone = kind === 'removed' || kind === 'deleted'
  const waiting = session.find(
    systemStorages.waits,
    search({ query: gone ? awaitingNoneIn(storage) : awaitingIn(storage), limit: 1 }),
  )
  return andThen(waiting, ({ length }) => {
    if (length === 0) return undefined
    return andThen(session.enqueue(lookJob({ storage, document: guid })), () => undefined)
  })
}

/** Does what {@link lookJob} asks for. An error of one wait does not keep the others from ending. */
export async function lookForDocuments(
  database: Pick<Database, 'session'>,
  { look, storage, document }: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  const session = database.session()
  if (typeof look === 'string') {
    const stored = await session.get(systemStorages.waits, look)
    if (stored) await lookAtAll(database, waitRecordOf(documentOf(stored)))
    return
  }
  const written = await session.get(textIn(storage), textIn(document))
  const seen = written && documentOf(written)
  let failed: unknown
  let after: string | undefined
  do {
    signal.throwIfAborted()
    const query = seen ? awaitingIn(textIn(storage)) : awaitingNoneIn(textIn(storage))
    const page = await session.find(
      systemStorages.waits,
      search({ query, limit: PAGE, ...(after && { after }) }),
    )
    for (const wait of documentsOf(page).map(waitRecordOf))
      try {
        if (!wait.awaits) continue
        const query = await asStored(session, textIn(storage), wait.awaits.query)
        const fits = seen !== undefined && matches(query, seen)
        if (wait.awaits.none && !fits) await lookAtAll(database, wait)
        if (!wait.awaits.none && fits) await end(database, wait, { next: 'found', guid: textIn(document) })
      } catch (error) {
        failed = error
      }
    after = page.next()
  } while (after !== undefined)
  if (failed !== undefined) throw failed
}

async function lookAtAll(database: Pick<Database, 'session'>, wait: WaitRecord): Promise<void> {
  if (wait.state !== 'waiting' || !wait.awaits) return
  const { storage, query, none } = wait.awaits
  const [found] = documentsOf(await database.session().find(storage, search({ query, limit: 1 })))
  if (none && !found) await end(database, wait, { next: 'gone' })
  if (!none && found) await end(database, wait, { next: 'found', guid: guidOf(found) })
}

/** One transaction for each wait. */
async function end(database: Pick<Database, 'session'>, wait: WaitRecord, gives: JsonObject): Promise<void> {
  const session = database.session()
  try {
    const ended = await endWait(session, wait, gives)
    await (ended ? session.transaction.commit() : session.transaction.rollback())
  } catch (error) {
    await session.transaction.rollback()
    throw error
  }
}

/** Has the run continue with what its block gives, in the session's transaction. False: the wait has changed since it was read. */
export function endWait(
  session: Session,
  wait: WaitRecord,
  gives: Readonly<Record<string, unknown>>,
): MaybePromise<boolean> {
  return andThen(session.enqueue(waitJob(wait)), (job = '') => {
    const fields = setFields({ state: 'resumed', job, gives: givesText(gives) })
    const { updateHash } = wait
    const written = session.update(systemStorages.waits, wait.guid, fields, { updateHash })
    return andThen(written, ({ outcome }) => outcome === 'written')
  })
}
