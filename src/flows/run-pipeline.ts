/**
 * Everything that happens to every run, from the outside in: `counted(units(traced(repeated(run))))`.
 *
 * - `counted` counts ends by blueprint and outcome, knows how many runs are under way, and tells `failed` of failures.
 * - `units` begins a run once more when others have changed what it has read, or hold what it writes. Each try has a trace of its own.
 * - `traced` runs the probed copy of a flow where tracing asks for it.
 * - `repeated` sends the reply that the flow gave before, while nothing that it has read was written.
 * - `run` executes the flow, now and then its copy that notes how long blocks take (`samples/`).
 *
 * Endpoints, pages, jobs and schedules start runs through {@link Runs} and have no other way: `Flows` cannot run anything.
 */

import type { Reply } from '../blocks/reply.ts'
import { isPromise, type MaybePromise } from '../shared/maybe-promise.ts'
import type { Session } from '../storage/database.ts'
import { WrappedSession } from '../storage/wrapped-session.ts'
import { RunStopped } from './compile/block-failure.ts'
import type { Flows } from './flows.ts'
import { bufferedEffects } from './run/buffered-effects.ts'
import { type RunOn, replyCache } from './run/reply-cache.ts'
import { Run } from './run/run.ts'
import type { RunEnvironment } from './run/run-environment.ts'
import type { RunEnd, RunFlow, RunStart } from './run/run-start.ts'
import { retryOnConflict } from './run/run-units.ts'
import type { SampleRun } from './samples/sampled-runs.ts'

// A run that goes as far as its first effect: a write, a job, a commit, anything outside. Nothing of it remains. It finds out whether a
// request passes the checks of a flow (a signature, a header, a scope) before it gets what the flow replied to an equal one.

/** Who is not known, or may not. Other refusals may come from what the flow has done since: "taken already". */
const REFUSED: readonly number[] = [401, 403]

/**
 * The end of a run that has refused its request, whose reply is sent; undefined when it passes. `start` is as for the run itself.
 */
async function rehearse(environment: RunEnvironment, start: RunStart): Promise<RunEnd | undefined> {
  const sessions: RehearsalSession[] = []
  const silent = { ...environment, ...bufferedEffects(environment), publish: () => undefined }
  const end = await new Run(silent, {
    ...start,
    tracking(session) {
      const rehearsing = new RehearsalSession(session)
      sessions.push(rehearsing)
      return rehearsing
    },
    beforeReply(_session, { code }: Reply) {
      if (!REFUSED.includes(code)) throw effectReached()
      for (const session of sessions) session.refused = true
    },
    beforeEnd: () => {
      throw effectReached()
    },
  }).execute(start)
  if (end.replied) return end
  return end.error && REFUSED.includes(end.error.status) ? end : undefined
}

/** No `error` pin hears of it, and no log. */
function effectReached(): RunStopped {
  return new RunStopped('stopped', 'The request passes the checks of its flow.')
}

class RehearsalSession extends WrappedSession {
  /** A reply that refuses the request is about to be sent: there is nothing to commit. */
  refused = false

  constructor(session: Session) {
    super(session)
  }

  /** So that blocks that touch the world outside commit first, and stop there. */
  override get hasWritten(): boolean {
    return !this.refused
  }

  override create(): never {
    throw effectReached()
  }

  override createAll(): never {
    throw effectReached()
  }

  override update(): never {
    throw effectReached()
  }

  override setRemoved(): never {
    throw effectReached()
  }

  override delete(): never {
    throw effectReached()
  }

  override lockDocuments(): never {
    throw effectReached()
  }

  override numbers(): never {
    throw effectReached()
  }

  override enqueue(): never {
    throw effectReached()
  }

  override commit(): MaybePromise<void> {
    if (!this.refused) throw effectReached()
    return this.rollback()
  }
}

export interface Runs extends Omit<CountedRuns, 'counted'> {
  /** Runs a flow to its end, or replies again what it replied. Gives at once when nothing waited. */
  readonly run: RunFlow
  /** Evaluates a pin of a trigger before its flow runs. Neither counted nor traced: it is part of a run that is. */
  readonly evaluate: RunFlow
  /** Runs a flow as far as its first effect. Gives its end where it has refused the request, and sends that reply. Not counted. */
  readonly rehearse: (start: RunStart) => Promise<RunEnd | undefined>
}

type Stage = (next: RunFlow) => RunFlow

/** Without what happens at the end of the run: a value must neither keep a reply under a key nor end the job. */
function valueStart({ flow, blueprint, input, request, user, caller, called, signal }: RunStart): RunStart {
  return {
    ...{ flow, blueprint, input, user },
    ...(request && { request }),
    ...(caller && { caller }),
    ...(called && { called }),
    ...(signal && { signal }),
  }
}

export function runPipeline(
  { environment, records: { database } }: Pick<Flows, 'environment' | 'records'>,
  traced: Stage = (next) => next,
  failed?: (start: RunStart, end: RunEnd) => void,
  sample?: SampleRun,
): Runs {
  const { counted, ...counts } = countedRuns(failed)
  const run: RunOn = (start, on) => {
    const there = on === database ? environment : { ...environment, database: on }
    return sample?.(there, start) ?? new Run(there, start).execute(start)
  }
  const { readVersions } = database.capabilities
  const repeated = (on: RunOn): RunFlow =>
    replyCache({
      database,
      versions: readVersions,
      env: environment.values.env,
      references: environment.references,
      unruled: environment.permissions.none,
      run: on,
    })

  const sideBySide = database.capabilities.cluster !== undefined
  const evaluate: RunFlow = (start) => {
    const value = valueStart(start)
    return new Run(environment, value).execute(value)
  }
  const { clock, limits, newGuid } = environment
  const units = retryOnConflict({ clock, limits, newGuid, sideBySide, evaluate })
  return {
    ...counts,
    run: counted(units(traced(repeated(run)))),
    evaluate,
    rehearse: (start) => rehearse(environment, start),
  }
}

// Counts runs by blueprint and by how they ended, and knows which are under way: a run may go on behind its reply, when
// its request is long gone, and a node that stops waits for it.

/** `done`: to the end; `refused`: the requester's fault (4xx); `failed`: a fault of the flow or ours; `stopped`: 503. */
export type Outcome = 'done' | 'refused' | 'failed' | 'stopped'

interface CountedRuns {
  /** The same runs, counted. */
  counted(run: RunFlow): RunFlow
  /** Ended runs by the guid of their blueprint. */
  readonly ends: ReadonlyMap<string, Readonly<Record<Outcome, number>>>
  /** Requests whose run has failed behind its reply, by the guid of their trigger. */
  readonly behindReply: ReadonlyMap<string, number>
  /** How many runs wait for something at this moment. */
  underWay(): number
  /** Resolves when no run is under way, or after so many milliseconds. Runs that start meanwhile count. */
  settled(milliseconds: number): Promise<void>
}

/** `failed` is told of runs that left values behind or failed behind their reply; nothing else of a run is looked at. */
function countedRuns(failed?: (start: RunStart, end: RunEnd) => void): CountedRuns {
  const ends = new Map<string, Record<Outcome, number>>()
  const behindReply = new Map<string, number>()
  let underWay = 0
  const waiting = new Set<() => void>()

  function count(start: RunStart, end: RunEnd): RunEnd {
    const { blueprint } = start
    if (end.left || end.happened) failed?.(start, end)
    let counts = ends.get(blueprint)
    if (!counts) {
      counts = { done: 0, refused: 0, failed: 0, stopped: 0 }
      ends.set(blueprint, counts)
    }
    counts[outcomeOf(end)] += 1
    if (end.happened && start.request)
      behindReply.set(start.flow.trigger, (behindReply.get(start.flow.trigger) ?? 0) + 1)
    return end
  }

  return {
    counted: (run) => (start) => {
      const end = run(start)
      if (!isPromise(end)) return count(start, end)
      underWay += 1
      return end.then((ended) => {
        underWay -= 1
        if (underWay === 0) for (const resolve of waiting) resolve()
        return count(start, ended)
      })
    },
    ends,
    behindReply,
    underWay: () => underWay,
    settled(milliseconds) {
      if (underWay === 0) return Promise.resolve()
      return new Promise((resolve) => {
        const settle = () => {
          clearTimeout(late)
          waiting.delete(settle)
          resolve()
        }
        const late = setTimeout(settle, milliseconds)
        waiting.add(settle)
      })
    },
  }
}

function outcomeOf({ error, happened }: RunEnd): Outcome {
  if (!error) return 'done'
  // Its client has another reply: no client was refused.
  if (happened && error.status < 500) return 'failed'
  if (error.status < 500) return 'refused'
  return error.code === 'INTERNAL' || error.code === 'FLOW_FAILED' ? 'failed' : 'stopped'
}
