import type { Wait } from '../../blocks/context.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { waitQueue } from '../../storage/job.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import type { Frame, ResumePoint } from '../compile/frame.ts'
import { originPayload } from './run-origin.ts'

/** Characters of what the blocks behind a wait read: half of what a document may hold. */
const MOST_CHARACTERS = 512 * 1024

/** The run that comes to a block that waits. */
export interface WaitingRun {
  readonly session: Session
  readonly blueprint: string
  readonly deployment: number
  readonly trigger: string
  /** Guid of the first run. */
  readonly run: string
}

/** Stores the run, and the job of the time at which it goes on, in its transaction. Gives the guid of the wait. */
export function storeWait(
  { session, ...about }: WaitingRun,
  point: ResumePoint,
  frame: Frame,
  { kind, title, until, details, tokenHash, scopes = [], version }: Wait,
): MaybePromise<string> {
  const fields = setFields({
    state: 'waiting',
    ...{ kind, title, version, ...about },
    block: point.block,
    itself: false,
    until: until?.time ?? null,
    gives: until?.gives ?? {},
    values: storedValues(point, frame),
    scopes,
    details,
    token_hash: tokenHash,
    ...originPayload(session.origin),
  })
  return andThen(session.create(ownStorages.waits, fields), (stored) => {
    const guid = guidOf(documentOf(stored))
    if (until === undefined) return guid
    const job = {
      ...({ queue: waitQueue, kind: 'wait', title, runAt: until.time } as const),
      payload: { wait: guid, ...originPayload(session.origin) },
    }
    return andThen(session.enqueue(job), () => guid)
  })
}

/** Throws when they are too large: what is long belongs into a document. */
export function storedValues(point: ResumePoint, frame: Frame): string {
  const text = JSON.stringify(point.save(frame))
  if (text.length <= MOST_CHARACTERS) return text
  throw new Error(
    `The blocks behind the wait read ${count(text.length)} characters; at most ${count(MOST_CHARACTERS)} are stored with a run. Store them in a document, and read it behind the wait.`,
  )
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}
