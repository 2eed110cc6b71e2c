import { hash, timingSafeEqual } from 'node:crypto'
import type { StoredWait, Wait } from '../../blocks/context.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import type { Random } from '../../shared/guid.ts'
import type { JsonObject } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { setFields } from '../../shared/mutation.ts'
import type { Query } from '../../shared/query.ts'
import type { Origin, Session } from '../../storage/database.ts'
import { type NewJob, waitQueue } from '../../storage/job.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import type { CompiledFlow, Frame, ResumePoint } from '../compile/frame.ts'
import { originPayload } from './job-payload.ts'
import type { RunEnvironment } from './run-environment.ts'
import { givesText, type WaitRecord } from './wait-record.ts'

/** Characters of what the blocks behind a wait read: half of what a document may hold. */
const MOST_CHARACTERS = 512 * 1024

/** Runs that wait for documents of one storage: each write to it looks at all of them. */
const MOST_AWAITING = 1_000
/** The second look comes this long after the longest transaction of a run that was open when the wait was stored. */
const LOOK_AGAIN_MS = 5_000

/** The run that comes to a block that waits. */
export interface WaitingRun {
  readonly session: Session
  readonly environment: Pick<RunEnvironment, 'newGuid' | 'newToken' | 'clock' | 'limits'>
  readonly blueprint: string
  readonly deployment: number
  readonly trigger: string
  /** Guid of the first run. */
  readonly run: string
  /** As of `WaitRecord`. */
  readonly callerScopes: ReadonlySet<string> | undefined
}

/** A run, as far as storing it asks. */
interface WaitsAs extends Pick<WaitingRun, 'session' | 'blueprint'> {
  readonly environment: WaitingRun['environment'] & Pick<RunEnvironment, 'deploymentOf'>
  readonly guid: string
  readonly request: Pick<RunRequest, 'user' | 'scopes'> | undefined
}

/** A run as it is stored: one that has waited before is still the run that it was then. */
export function waitingRun(run: WaitsAs, flow: CompiledFlow, before: WaitRecord | undefined): WaitingRun {
  const { session, environment, blueprint, request } = run
  return {
    session,
    environment,
    blueprint,
    deployment: before?.deployment ?? environment.deploymentOf?.(flow, blueprint) ?? 0,
    trigger: flow.trigger,
    run: before?.run ?? run.guid,
    callerScopes: request?.user ? request.scopes : before?.callerScopes,
  }
}

/** Stores the run, and the job of the time at which it goes on, in its transaction. */
export function storeWait(
  { session, environment, callerScopes, ...about }: WaitingRun,
  point: ResumePoint,
  frame: Frame,
  { kind, title, until, details, withToken, awaits, scopes = [], version }: Wait,
): MaybePromise<StoredWait> {
  const guid = environment.newGuid()
  const token = withToken ? environment.newToken() : undefined
  const fields = {
    state: 'waiting',
    ...{ kind, title, version, ...about },
    block: point.block,
    itself: false,
    until: until?.time ?? null,
    gives: givesText(until?.gives ?? {}),
    values: storedValues(point, frame),
    scopes,
    ...(details !== undefined && { details: JSON.stringify(details) }),
    ...(awaits && { awaited: awaits.storage, query: JSON.stringify(awaits.query) }),
    ...(awaits?.none && { awaits_none: true }),
    ...(token !== undefined && { token_hash: waitTokenHash(token) }),
    ...(callerScopes && { caller_scopes: [...callerScopes] }),
    ...originPayload(session.origin),
  }
  const timer =
    until &&
    session.enqueue({
      ...waitJob({ guid, title, blueprint: about.blueprint, origin: session.origin }, until.time),
      requested: true,
    })
  return andThen(timer, (job = '') => {
    const stored = session.create(systemStorages.waits, setFields({ ...fields, timer: job }), { guid })
    return andThen(stored, () =>
      andThen(awaits && looks(session, guid, awaits.storage, environment), () =>
        token === undefined ? { guid } : { guid, token },
      ),
    )
  })
}

/** See `background/awaited-documents.ts`. */
function looks(
  session: Session,
  guid: string,
  storage: string,
  { clock, limits }: WaitingRun['environment'],
): MaybePromise<unknown> {
  const again = clock() + limits.deadline + LOOK_AGAIN_MS
  return andThen(session.count(systemStorages.waits, awaitingIn(storage)), (count) => {
    if (count > MOST_AWAITING)
      throw new Error(
        `${MOST_AWAITING.toLocaleString('en-US')} runs wait for documents of ${storage} already; no more can.`,
      )
    const look = (at?: number) => session.enqueue({ ...lookJob({ look: guid }, at), requested: true })
    return andThen(look(), () => look(again))
  })
}

/** The job that continues the run; at once without `runAt` (milliseconds). */
export function waitJob({ guid, title, blueprint, origin }: WaitToResume, runAt?: number): NewJob {
  return {
    ...({ queue: waitQueue, kind: 'wait', title, runAt } as const),
    payload: { wait: guid, blueprint, ...originPayload(origin) },
  }
}

interface WaitToResume {
  readonly guid: string
  readonly title: string
  readonly blueprint: string
  readonly origin: Pick<Origin, 'user' | 'depth' | 'afterFailure'>
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

/** Tokens of links and addresses that end a wait: 256 random bits. Only the SHA-256 is stored. */

const TOKEN = /^[A-Za-z0-9_-]{43}$/

export function newWaitToken(random: Random): string {
  const bytes = Buffer.alloc(32)
  random(bytes)
  return bytes.toString('base64url')
}

function waitTokenHash(token: string): string {
  return hash('sha256', token, 'hex')
}

/** `stored`: empty where the wait has no token. */
export function isWaitToken(token: string | undefined, stored: string): boolean {
  if (token === undefined || stored === '' || !TOKEN.test(token)) return false
  const [input, requested] = [Buffer.from(waitTokenHash(token)), Buffer.from(stored)]
  return input.length === requested.length && timingSafeEqual(input, requested)
}

/** Waits for documents of this storage. */
export function awaitingIn(storage: string): Query {
  return {
    kind: 'and',
    queries: [
      { kind: 'term', field: 'awaited', value: storage },
      { kind: 'term', field: 'state', value: 'waiting' },
    ],
  }
}

/** Those of them that end when no document fits. */
export function awaitingNoneIn(storage: string): Query {
  return {
    kind: 'and',
    queries: [awaitingIn(storage), { kind: 'term', field: 'awaits_none', value: true }],
  }
}

/**
 * Looks whether documents end waits: `{ look }`, the guid of a wait, at all documents of its storage; `{ storage, document }`
 * at one document that was written, for all waits of its storage.
 */
export function lookJob(payload: JsonObject, runAt?: number): NewJob {
  return { queue: waitQueue, kind: 'wait', title: 'Look for an awaited document', payload, runAt }
}

export function isLookJob({ look, document }: JsonObject): boolean {
  return look !== undefined || document !== undefined
}
