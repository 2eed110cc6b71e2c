/**
 * What people do to the queue: run a dead job again, cancel one, pause or limit a queue. Each is noted in the audit log.
 *
 * Jobs are rows and no documents, and their engine changes them in a transaction of its own. So the record follows in
 * the next one, before the caller is answered: a node that dies between the two leaves a change without a record, never a
 * record of what was not done. One change of a job or queue at a time, in the whole cluster, so that `before` is what it was.
 */

import type { AuditedChange, AuditLog } from '../../records/audit-log.ts'
import type { Actor } from '../../records/records.ts'
import type { JsonObject } from '../../shared/json.ts'
import { type Database, documentOf } from '../../storage/database.ts'
import { textIn } from '../../storage/document-fields.ts'
import type { Job, Jobs, QueueSettings, QueueState } from '../../storage/job.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { waitRecordOf } from '../run/wait-record.ts'

export interface QueueSteering {
  /** As in {@link Jobs}. */
  requeue(guid: string, by: Actor): Promise<Job | undefined>
  cancel(guid: string, by: Actor, only?: { readonly unbegun: boolean }): Promise<Job | undefined>
  configure(queue: string, settings: QueueSettings, by: Actor): Promise<QueueState>
}

export function queueSteering(database: Database, audit: Pick<AuditLog, 'record'>): QueueSteering {
  const { withClusterLock: alone, jobs, queues } = database.capabilities
  const note = (by: Actor, change: AuditedChange) =>
    transact(database, (session) => audit.record(session, change), { user: by })
  const ofJob = ({ guid, title }: Job) => ({ category: 'queue', guid, name: title })

  return {
    requeue: (guid, by) =>
      alone(`job ${guid}`, async () => {
        const before = await jobs.get(guid)
        const after = await jobs.requeue(guid)
        if (after) {
          const states = { before: before && jobState(before), after: jobState(after) }
          await note(by, { ...ofJob(after), action: 'updated', ...states })
        }
        return after
      }),
    cancel: (guid, by, only) =>
      alone(`job ${guid}`, async () => {
        const before = await jobs.cancel(guid, only)
        if (before) {
          await endWait(database, before)
          await note(by, { ...ofJob(before), action: 'deleted', before: jobState(before), after: undefined })
        }
        return before
      }),
    configure: (queue, settings, by) =>
      alone(`queue ${queue}`, async () => {
        const before = (await queues.list()).find(({ name }) => name === queue)
        const after = await queues.configure(queue, settings)
        const states = { before: queueState(before ?? unset), after: queueState(after) }
        await note(by, { category: 'queues', guid: '', name: queue, action: 'updated', ...states })
        return after
      }),
  }
}

/** The run that waited for a cancelled job never continues. */
async function endWait(database: Database, { guid, kind, payload }: Job): Promise<void> {
  if (kind !== 'wait') return
  await transact(
    database,
    async (session) => {
      const stored = await session.get(systemStorages.waits, textIn(payload.wait))
      if (!stored) return
      const { state, timer, job } = waitRecordOf(documentOf(stored))
      // The timer of a wait that was decided meanwhile has no part in it: another job continues that run.
      if (guid === job || (guid === timer && state === 'waiting'))
        await session.delete(systemStorages.waits, textIn(payload.wait))
    },
    {},
  )
}

/** What the API shows of it, but for its data, which may hold what does not belong in a log. */
function jobState({ kind, queue, state, title, priority, attempt, attempts, lastError }: Job): JsonObject {
  return {
    queue,
    type: kind,
    status: state,
    title,
    priority,
    attempts: attempt,
    max_attempts: attempts,
    error: lastError,
  }
}

/** A queue is there as soon as a job or a setting names it, so one that is new changed from this. */
const unset = { paused: false, concurrency: null }

function queueState({ paused, concurrency }: Pick<QueueState, 'paused' | 'concurrency'>): JsonObject {
  return { paused, concurrency }
}
