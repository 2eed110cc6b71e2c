import { isJsonObject } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf, type Session, type Written } from '../../storage/database.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import type { CompiledFlow, Frame, ResumePoint } from '../compile/frame.ts'
import type { SavedFrame } from '../compile/waiting/stored-frame.ts'
import { storedValues } from './store-wait.ts'
import { type WaitRecord, waitRecordOf } from './wait-record.ts'

/**
 * A run that has waited and goes on. Each try reads where: the wait must still be that of its job, and each step is written
 * under the condition that no other worker has gone on with it meanwhile.
 */
export interface ResumedRun {
  readonly record: WaitRecord
  readonly point: ResumePoint
  readonly saved: SavedFrame
  /** Behind a restart, the run begins at this block, and not behind the wait. */
  reached(point: ResumePoint, frame: Frame): MaybePromise<void>
  /** In the last transaction. */
  ended(): MaybePromise<void>
}

/** Of the job that goes on with the wait. */
export interface Resume {
  readonly wait: string
  readonly job: string
  /** Whose flow goes on. */
  readonly deployment: number
}

export function openResumed(
  session: Session,
  flow: CompiledFlow,
  { wait, job, deployment }: Resume,
): MaybePromise<ResumedRun> {
  return andThen(session.get(systemStorages.waits, wait), (stored) => {
    const record = stored && waitRecordOf(documentOf(stored))
    if (record?.state !== 'resumed' || record.job !== job) throw takenOver(wait)
    // Moved between the look at its version and this transaction: the next attempt has the blocks of that one.
    if (record.deployment !== deployment) throw takenOver(wait)
    const point = flow.resumePoints?.get(record.block)
    if (!point)
      throw new Error(
        `The block at which the run waited, ${record.block}, is not in its flow any more. End the wait, or deploy a version with the block.`,
      )
    return resumedRun(session, record, point)
  })
}

function resumedRun(session: Session, record: WaitRecord, point: ResumePoint): ResumedRun {
  let { updateHash } = record
  const written = (outcome: Written): void => {
    if (outcome.outcome !== 'written') throw takenOver(record.guid)
    const meta = documentOf(outcome.document)._meta
    if (isJsonObject(meta) && typeof meta.update_hash === 'string') updateHash = meta.update_hash
  }
  return {
    record,
    point,
    saved: readFrame(record.values),
    reached(at, frame) {
      const fields = setFields({ block: at.block, itself: true, values: storedValues(at, frame) })
      return andThen(session.update(systemStorages.waits, record.guid, fields, { updateHash }), written)
    },
    ended: () => andThen(session.delete(systemStorages.waits, record.guid, { updateHash }), written),
  }
}

function takenOver(wait: string): Error {
  return new Error(`The wait ${wait} has ended, or another worker goes on with it.`)
}

/** What `storedValues` wrote. */
function readFrame(text: string): SavedFrame {
  const saved: SavedFrame = JSON.parse(text)
  return saved
}
