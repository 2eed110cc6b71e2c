/** What a run begins with, and how it ends. */

import type { Counted } from '../../blocks/block-services.ts'
import type { Reply } from '../../blocks/reply.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import type { Clock } from '../../shared/clock.ts'
import type { QuoinError } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import type { Origin, Session } from '../../storage/database.ts'
import type { JobLease } from '../../storage/job.ts'
import { SerializationConflict, type UnitOfWork } from '../../storage/unit-of-work.ts'
import type { BlockEffect, CompiledFlow, Frame } from '../compile/frame.ts'
import type { Resume } from './resumed-run.ts'

export interface ReplyListener {
  /** Called first, before anything is committed. Throws where the client cannot get such a reply: then the run fails and has written nothing. */
  readonly checkReply?: (reply: Reply) => void
  /** Called at most once, in the transaction that the reply waits for. */
  readonly beforeReply?: (session: Session, reply: Reply) => unknown
  /** Called at most once, in the last transaction of a run that ends without a reply or has no request, with what its flow gave. */
  readonly beforeEnd?: (session: Session, result: JsonValue | undefined) => unknown
  /** Called at most once, when everything written before is durable. */
  readonly onReply?: (reply: Reply) => void
}

export interface RunStart extends ReplyListener {
  readonly flow: CompiledFlow
  readonly blueprint: string
  readonly input: Readonly<Record<string, unknown>>
  readonly request?: RunRequest
  /** Where a run that has waited goes on. */
  readonly resume?: Resume
  /** For whom a run without a request is. */
  readonly user?: JsonObject | undefined
  /** For blocks that act as the user, in a run that has waited. Throws when that user may no longer act. */
  readonly caller?: () => FormerCaller | undefined
  /** On whose behalf it writes; the user of the request or of the run, if not said. */
  readonly origin?: Pick<Origin, 'user' | 'depth' | 'hops' | 'afterFailure' | 'trace'>
  /** Guid of the job that it is an attempt of. */
  readonly job?: string
  /** The lease of that job, which the run ends with its last commit. Without it who started the run ends the job. */
  readonly lease?: JobLease
  /** Ends the run early: its job was cancelled, or the node stops. */
  readonly signal?: AbortSignal
  /** The tries of this run, if its flow is a unit of work. */
  readonly unit?: RetryState
  /** Asks that this one run is traced; told its guid before it begins. */
  readonly traced?: (run: string) => void
  /** A client calls the function and waits: an argument that does not fit is refused as a parameter of a request is. */
  readonly called?: true
  /** A person started it: its record says so. */
  readonly byHand?: true
  /** Gives the session of the run, around its own: for those who note what it reads, or take part in what it commits. */
  readonly tracking?: (session: Session) => Session
}

/** Who sent the request that a run began with. */
export interface FormerCaller {
  readonly user: JsonObject
  readonly scopes: ReadonlySet<string>
}

/** What a block of a run has done, and how often. */
export interface HappenedEffect extends BlockEffect {
  readonly count: number
}

/** How a run ended. `replied` tells whether `onReply` was called. */
export interface RunEnd {
  readonly run: string
  readonly replied: boolean
  readonly error: QuoinError | undefined
  readonly result: JsonValue | undefined
  /** Of a run that has failed or refused its request: what its frame still held, what stays of it, how long it took, and its refusal. */
  readonly left?: {
    readonly frame: Frame | undefined
    readonly done: readonly HappenedEffect[]
    readonly milliseconds: number
    /** With a status from 400 on. */
    readonly refusal?: Reply
    /** What a failure or a refusal that is no reply came from; its error is only what the client is told. */
    readonly cause?: unknown
  }
  /** Of a run that has failed behind its reply: what stays of it. */
  readonly happened?: readonly HappenedEffect[]
  /** Nothing of it remains, and it is to begin once more: see `run-units.ts`. */
  readonly again?: true
}

/** Runs a flow to its end. Gives at once when nothing waited. */
export type RunFlow = (start: RunStart) => MaybePromise<RunEnd>

/** All tries of one run. */
export interface RetryState extends UnitOfWork {
  /** Whether what it has read must still hold when it writes. Else it begins again only for its writes: see `run-units.ts`. */
  readonly holdsReads: boolean
  attempt: number
  turn?: string | undefined
  /** Milliseconds since 1970: no further try begins, and this one must be over. */
  readonly until: number
  /** Something is committed, or may be done outside. */
  committed: boolean
  /** Called at its first commit. */
  onCommit?: () => void
  /** What was counted in its tries, by what was asked, in the order of asking. */
  readonly counted: Map<string, readonly Counted[]>
}

/** Whether a failed try may be followed by another one: others have changed what it has read or hold what it writes, and nothing of it is done. */
export function mayBeginAgain(unit: RetryState, error: unknown, clock: Clock): boolean {
  return error instanceof SerializationConflict && !unit.committed && clock() < unit.until
}
