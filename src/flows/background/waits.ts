/**
 * Runs that wait, as those who end a wait see them. Ending one is one transaction: the document says what the block gives and
 * which job continues the run, the job is enqueued, and the audit log says who did it. The update hash that was read is the
 * condition of the write, so of two callers, or of a caller and the job of its time, one wins on both engines.
 */
import type { AuditLog } from '../../records/audit-log.ts'
import type { Actor } from '../../records/records.ts'
import { isGuid } from '../../shared/guid.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { waitJob } from '../run/store-wait.ts'
import { givesText, type WaitRecord, waitRecordOf } from '../run/wait-record.ts'

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
  /** Has the run continue. False when the wait has ended since it was read: nothing is changed then. */
  end(wait: WaitRecord, end: WaitEnd): Promise<boolean>
}

export function openWaits(
  database: Pick<Database, 'session' | 'capabilities'>,
  audit: Pick<AuditLog, 'record'>,
): Waits {
  const { jobs } = database.capabilities

  async function ended(session: Session, wait: WaitRecord, { gives, told }: WaitEnd): Promise<boolean> {
    const job = await session.enqueue(waitJob(wait))
    const fields = setFields({ state: 'resumed', job: job ?? '', gives: givesText(gives) })
    const { updateHash } = wait
    const { outcome } = await session.update(ownStorages.waits, wait.guid, fields, { updateHash })
    if (outcome !== 'written') return false
    const states = { before: { state: 'waiting' }, after: { state: 'resumed', ...told } }
    await audit.record(session, {
      ...{ category: 'waits', action: 'updated', guid: wait.guid, name: wait.title },
      ...states,
    })
    return true
  }

  return {
    async waiting(guid) {
      const stored = isGuid(guid) ? await database.session().get(ownStorages.waits, guid) : undefined
      const record = stored && waitRecordOf(documentOf(stored))
      return record?.state === 'waiting' ? record : undefined
    },
    async end(wait, end) {
      const session = database.session(end.by && { user: end.by })
      try {
        if (!(await ended(session, wait, end))) {
          await session.rollback()
          return false
        }
        await session.commit()
      } catch (error) {
        await session.rollback()
        throw error
      }
      // Left over after a crash, it finds that the wait has ended.
      if (wait.timer !== '') await jobs.cancel(wait.timer)
      return true
    },
  }
}
