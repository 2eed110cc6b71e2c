/**
 * Runs that wait, as those who end a wait see them. Ending one is one transaction: the document says what the block gives and
 * which job continues the run, the job is enqueued, and the audit log says who did it. The update hash that was read is the
 * condition of the write, so of two callers, or of a caller and the job of its time, one wins on both engines.
 */
import type { AuditLog } from '../../records/audit-log.ts'
import type { Actor } from '../../records/records.ts'
import { isGuid } from '../../shared/guid.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Search } from '../../shared/query.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { findPage } from '../../storage/find-page.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { type WaitRecord, waitRecordOf } from '../run/wait-record.ts'
import { endWait } from './end-wait.ts'

/** How a wait is ended. */
export interface WaitEnd {
  /** What the block gives: values of its out-pins, and `next`, the way that the run continues on. */
  readonly gives: Readonly<Record<string, unknown>>
  /** What the audit log says of it. */
  readonly told: JsonObject
  /** Undefined for the holder of a token who is not signed in. */
  readonly by: Actor | undefined
}

export interface Waits {
  /** A wait that has not ended yet. */
  waiting(guid: string): Promise<WaitRecord | undefined>
  /** Also one whose job continues the run at present. */
  find(guid: string): Promise<WaitRecord | undefined>
  search(wanted: Search): Promise<RecordPage<WaitRecord>>
  /** Has the run never continue. False when the wait has changed since it was read. */
  cancel(wait: WaitRecord, by: Actor): Promise<boolean>
  /** Has the run continue. False when the wait has ended since it was read: nothing is changed then. */
  end(wait: WaitRecord, end: WaitEnd): Promise<boolean>
}

export function openWaits(
  database: Pick<Database, 'session' | 'capabilities'>,
  audit: Pick<AuditLog, 'record'>,
): Waits {
  const { jobs } = database.capabilities

  const read = async (guid: string) => {
    const stored = isGuid(guid) ? await database.session().get(ownStorages.waits, guid) : undefined
    return stored && waitRecordOf(documentOf(stored))
  }

  /** As one transaction: committed if `work` gives true. */
  async function inOne(
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

  async function ended(session: Session, wait: WaitRecord, { gives, told }: WaitEnd): Promise<boolean> {
    if (!(await endWait(session, wait, gives))) return false
    const states = { before: { state: 'waiting' }, after: { state: 'resumed', ...told } }
    await audit.record(session, {
      ...{ category: 'waits', action: 'updated', guid: wait.guid, name: wait.title },
      ...states,
    })
    return true
  }

  async function cancelled(
    session: Session,
    { guid, title, state, updateHash }: WaitRecord,
  ): Promise<boolean> {
    const { outcome } = await session.delete(ownStorages.waits, guid, { updateHash })
    if (outcome !== 'written') return false
    await audit.record(session, {
      ...{ category: 'waits', action: 'deleted', guid, name: title },
      ...{ before: { state }, after: undefined },
    })
    return true
  }

  return {
    find: read,
    async waiting(guid) {
      const record = await read(guid)
      return record?.state === 'waiting' ? record : undefined
    },
    async search(wanted) {
      const page = await findPage(database.session(), ownStorages.waits, wanted)
      return { ...page, records: page.records.map(waitRecordOf) }
    },
    async end(wait, end) {
      if (!(await inOne(end.by, (session) => ended(session, wait, end)))) return false
      // Left over after a crash, it finds that the wait has ended.
      if (wait.timer !== '') await jobs.cancel(wait.timer)
      return true
    },
    async cancel(wait, by) {
      if (!(await inOne(by, (session) => cancelled(session, wait)))) return false
      for (const job of new Set([wait.timer, wait.job])) if (job !== '') await jobs.cancel(job)
      return true
    },
  }
}
