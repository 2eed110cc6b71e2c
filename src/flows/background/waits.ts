/**
 * Runs that wait, as those who end a wait see them. Ending one is one transaction: the document says what the block gives and
 * which job continues the run, the job is enqueued, and the audit log says who did it. The update hash that was read is the
 * condition of the write, so of two callers, or of a caller and the job of its time, one wins on both engines.
 */
import type { AuditLog } from '../../records/audit-log.ts'
import type { Actor } from '../../records/records.ts'
import type { Task } from '../../shared/api/operate/waits.ts'
import { isGuid } from '../../shared/guid.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { type Query, type Search, search } from '../../shared/query.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { numberIn, textIn } from '../../storage/document-fields.ts'
import { findPage } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import type { LiveTable } from '../live/live-blueprints.ts'
import { type WaitRecord, waitRecordOf } from '../run/wait-record.ts'
import { endWait } from './awaited-documents.ts'
import {
  continueAgain,
  type KnownVersions,
  type MovedWaits,
  moveWaits,
  type WaitsToMove,
} from './move-waits.ts'

/** How a wait is ended. */
export interface WaitEnd {
  /** What the block gives: values of its out-pins, and `next`, the way that the run continues on. */
  readonly gives: Readonly<Record<string, unknown>>
  /** What the audit log says of it. */
  readonly logged: JsonObject
  /** Undefined for the holder of a token who is not signed in. */
  readonly by: Actor | undefined
}

export interface Waits {
  /** A wait that has not ended yet. */
  waiting(guid: string): Promise<WaitRecord | undefined>
  /** Also one whose job continues the run at present. */
  find(guid: string): Promise<WaitRecord | undefined>
  search(requested: Search): Promise<RecordPage<WaitRecord>>
  /** Approvals that a user with these scopes may decide, the newest first. */
  tasks(scopes: ReadonlySet<string>, requested: Partial<Search>): Promise<RecordPage<WaitRecord>>
  /** Why the jobs of waits have failed that continue their runs, by guid of the job. Not while they run. */
  failures(waits: readonly WaitRecord[]): Promise<ReadonlyMap<string, string>>
  /** Has the run never continue. False when the wait has changed since it was read. */
  cancel(wait: WaitRecord, by: Actor): Promise<boolean>
  /** Has the run continue. False when the wait has ended since it was read: nothing is changed then. */
  end(wait: WaitRecord, end: WaitEnd): Promise<boolean>
  /**
   * Has a run whose job has failed continue with what its wait was ended with, on the present version where `present` says so.
   * Throws CONFLICT where its job has not failed, or its blocks do not fit.
   */
  again(wait: WaitRecord, present: boolean, by: Actor): Promise<void>
  /** Moves runs of a blueprint to its present version. Throws CONFLICT while that is not active. */
  move(requested: WaitsToMove, by: Actor): Promise<MovedWaits>
}

export function openWaits(
  database: Pick<Database, 'session' | 'capabilities'>,
  audit: Pick<AuditLog, 'record'>,
  flows: KnownVersions,
): Waits {
  const { jobs } = database.capabilities

  const read = async (guid: string) => {
    const stored = isGuid(guid) ? await database.session().get(systemStorages.waits, guid) : undefined
    return stored && waitRecordOf(documentOf(stored))
  }

  return {
    find: read,
    async waiting(guid) {
      const record = await read(guid)
      return record?.state === 'waiting' ? record : undefined
    },
    async failures(waits) {
      const values = waits.filter(({ state }) => state === 'resumed').map(({ job }) => job)
      if (values.length === 0) return new Map()
      const query = { kind: 'terms', field: '_meta.guid', values } as const
      const page = await jobs.search(search({ query, limit: values.length }))
      const failed = page.records.filter((job) => job.lastError !== null && job.state !== 'running')
      return new Map(failed.map(({ guid, lastError }) => [guid, lastError ?? '']))
    },
    async search(requested) {
      const page = await findPage(database.session(), systemStorages.waits, requested)
      return { ...page, records: page.records.map(waitRecordOf) }
    },
    async tasks(scopes, requested) {
      const asked = search({ ...requested, query: openTo(scopes) })
      const page = await findPage(database.session(), systemStorages.waits, asked)
      return { ...page, records: page.records.map(waitRecordOf) }
    },
    again: (wait, present, by) => continueAgain({ database, audit, flows }, wait, present, by),
    move: (requested, by) => moveWaits({ database, audit, flows }, requested, by),
    async end(wait, end) {
      if (!(await inOne(database, end.by, (session) => ended(audit, session, wait, end)))) return false
      // Where it is left over, after a crash or when this fails, it finds that the wait has ended. The decision stands.
      if (wait.timer !== '') await jobs.cancel(wait.timer).catch(() => undefined)
      return true
    },
    async cancel(wait, by) {
      if (!(await inOne(database, by, (session) => cancelled(audit, session, wait)))) return false
      for (const job of new Set([wait.timer, wait.job])) if (job !== '') await jobs.cancel(job)
      return true
    },
  }
}

/** As the door of approvals admits a user: by one scope of the wait. A wait without scopes is open by its link only. */
function openTo(scopes: ReadonlySet<string>): Query {
  const isOpen: readonly Query[] = [
    { kind: 'term', field: 'kind', value: 'approval' },
    { kind: 'term', field: 'state', value: 'waiting' },
  ]
  const admits: Query = scopes.has('*')
    ? { kind: 'not', query: { kind: 'empty', field: 'scopes' } }
    : { kind: 'terms', field: 'scopes', values: [...scopes, '*loggedin', '*public'] }
  return { kind: 'and', queries: [...isOpen, admits] }
}

/** As one transaction: committed if `work` gives true. */
async function inOne(
  database: Pick<Database, 'session'>,
  by: Actor | undefined,
  work: (session: Session) => Promise<boolean>,
): Promise<boolean> {
  const session = database.session(by && { user: by })
  try {
    const done = await work(session)
    await (done ? session.transaction.commit() : session.transaction.rollback())
    return done
  } catch (error) {
    await session.transaction.rollback()
    throw error
  }
}

async function ended(
  audit: Pick<AuditLog, 'record'>,
  session: Session,
  wait: WaitRecord,
  { gives, logged: reported }: WaitEnd,
): Promise<boolean> {
  if (!(await endWait(session, wait, gives))) return false
  const states = { before: { state: 'waiting' }, after: { state: 'resumed', ...reported } }
  await audit.record(session, {
    ...{ category: 'waits', action: 'updated', guid: wait.guid, name: wait.title },
    ...states,
  })
  return true
}

async function cancelled(
  audit: Pick<AuditLog, 'record'>,
  session: Session,
  { guid, title, state, updateHash }: WaitRecord,
): Promise<boolean> {
  const { outcome } = await session.delete(systemStorages.waits, guid, { updateHash })
  if (outcome !== 'written') return false
  await audit.record(session, {
    ...{ category: 'waits', action: 'deleted', guid, name: title },
    ...{ before: { state }, after: undefined },
  })
  return true
}

/** What waits for a user beside runs: pushes that need a second person. */
export interface OtherTasks {
  tasks(user: { readonly guid: string; readonly scopes: ReadonlySet<string> }): Promise<readonly Task[]>
}

/** Approvals that wait for a user, as the start page and the API list them. */
export async function myTasks(
  waits: Pick<Waits, 'tasks'>,
  table: Pick<LiveTable, 'blueprints'>,
  { scopes }: { readonly scopes: ReadonlySet<string> },
  requested: Partial<Search>,
  /** What is listed before them. */
  ahead: readonly Task[] = [],
): Promise<RecordPage<Task>> {
  const { limit = ahead.length + 1, offset = 0, after } = requested
  // A page has at least one wait: the next page begins behind it.
  const shown = after === undefined ? ahead.slice(offset, offset + limit - 1) : []
  const page = await waits.tasks(scopes, {
    ...requested,
    ...{ limit: limit - shown.length, offset: Math.max(0, offset - ahead.length) },
  })
  const records = page.records.map((wait): Task => {
    const { guid, blueprint, until, meta } = wait
    const { title, text } = detailsOf(wait)
    return {
      ...{ guid, title, text, created: numberIn(meta.created), page: `/_approvals/${guid}` },
      blueprint: table.blueprints.get(blueprint)?.name ?? '',
      until: until === null ? null : Math.floor(until / 1000),
    }
  })
  const total = page.total === undefined ? {} : { total: page.total + ahead.length }
  return { ...page, ...total, records: [...shown, ...records] }
}

/** What the block says on the page of the approval. */
export function detailsOf({ details }: WaitRecord) {
  const { title, text, fields } = isJsonObject(details) ? details : {}
  return { title: textIn(title), text: textIn(text), fields: isJsonObject(fields) ? fields : {} }
}
