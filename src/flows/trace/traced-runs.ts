/** Starts the traced runs of this node, reports and stores their progress, and pauses them at breakpoints. */
import type { Clock } from '../../shared/clock.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Recorders } from '../compile/probe.ts'
import { Run } from '../run/run.ts'
import type { RunEnvironment } from '../run/run-environment.ts'
import type { RunEnd, RunStart } from '../run/run-start.ts'
import { Breakpoints, type NodePauses, type Steering } from './breakpoints.ts'
import type { RunEvents } from './run-events.ts'
import type { RunRecords } from './run-records.ts'
import { RunTrace, type TraceStep } from './run-trace.ts'
import { type RunAbout, RunUnderWay } from './run-under-way.ts'
import { StepRecorder, type TracedRun } from './step-recorder.ts'

/** A run whose steps are to be kept. */
export interface AskedRun {
  readonly environment: RunEnvironment
  readonly start: RunStart
  readonly about: Omit<RunAbout, 'guid' | 'node' | 'started'>
  /** For a replay, which never pauses. */
  readonly replayed?: TracedRun['replayed']
  /** Told when the run has ended, before it is stored. */
  readonly ended?: (run: RunUnderWay, end: RunEnd) => void
  /** It is neither stored nor listed: only `ended` is told of it. */
  readonly isUnstored?: boolean
}

export interface TracedRuns {
  /** Whether no more runs should be traced. */
  readonly isFull: boolean
  begin(asked: AskedRun): MaybePromise<RunEnd>
  /** Stores the present state of all traced runs, so that searches find them. */
  note(): void
  /** False if the run is not paused on this node. */
  steer(run: string, steering: Steering): boolean
  /** Ends the pauses of runs whose blueprint is no longer traced. */
  freeUntraced(): void
  /** From now on no run pauses, and paused runs continue. */
  release(): void
}

/** What runs ask of the rules of tracing; `tracing.ts` has all of them. */
interface TracingQuestions {
  /** Something where the blueprint is traced now. */
  of(blueprint: string): unknown
  /** Whether runs pause before this block. */
  pausesAt(block: string): boolean
}

interface TracedRunsOptions {
  readonly clock: Clock
  /** Guid of this node. */
  readonly node: string
  readonly blueprints: TracingQuestions
  readonly recorders: Recorders
  readonly records: RunRecords
  readonly news: RunEvents
}

/** Milliseconds of a pause. */
const LEASE = 60_000
/** Runs that are paused at once. */
const MOST_PAUSED = 10
/** Runs traced at once, each of at most 600 KB: 24 MB. */
const MOST_UNDER_WAY = 40
/** Milliseconds after which a run that has not ended is stored, so that other nodes can show it. */
const SHOWN_AFTER = 300

export function tracedRuns(options: TracedRunsOptions): TracedRuns {
  const { clock, node, blueprints, recorders, records, news } = options
  const underWay = new Map<string, RunUnderWay>()
  const pauses: NodePauses = {
    ...{ clock, lease: LEASE, most: MOST_PAUSED, paused: new Set(), closing: false },
    pausesAt: blueprints.pausesAt,
  }

  function begin({
    environment,
    start,
    about,
    replayed,
    ended,
    isUnstored = false,
  }: AskedRun): MaybePromise<RunEnd> {
    const trace = new RunTrace()
    const onReply: RunStart['onReply'] = (reply) => {
      run.replied(reply)
      start.onReply?.(reply)
    }
    const changed = { ...start, onReply, flow: about.trigger.flow }
    const inner = new Run(environment, changed)
    const { guid } = inner
    const run = new RunUnderWay({ ...about, guid, node, started: clock() }, start, trace)
    const put = () => void (isUnstored || records.put(run.record()))
    const brakeable = { session: inner.session, steps: inner.steps, unit: start.unit }
    const breakpoints = replayed ? undefined : new Breakpoints(pauses, brakeable, trace, put)
    run.brake = breakpoints
    recorders.set(inner, stepRecorder(trace, breakpoints, replayed))
    if (!isUnstored) underWay.set(guid, run)
    start.traced?.(guid)
    if (!isUnstored) news.tell(run.summary())
    const shown = setTimeout(() => isStored(run) || put(), SHOWN_AFTER).unref()
    return andThen(inner.execute(changed), (end) => {
      clearTimeout(shown)
      underWay.delete(guid)
      run.ended(end)
      ended?.(run, end)
      put()
      // What is not stored may be stored as a failure.
      if (isUnstored) return end
      // All of it is in the trace.
      const { left, ...traced } = end
      return traced
    })
  }

  return {
    get isFull() {
      return underWay.size >= MOST_UNDER_WAY || records.isFull
    },
    begin,
    note: () => noteAll(underWay.values(), records),
    steer: (run, steering) => underWay.get(run)?.brake?.steer(steering) ?? false,
    freeUntraced: () => freeUntraced(underWay.values(), blueprints),
    release: () => releaseAll(pauses),
  }
}

function noteAll(underWay: Iterable<RunUnderWay>, records: RunRecords): void {
  for (const run of underWay) if (!isStored(run)) records.put(run.record())
}

function releaseAll(pauses: NodePauses): void {
  pauses.closing = true
  for (const breakpoints of [...pauses.paused]) breakpoints.free()
}

/** Stores the steps of a run, which waits at its breakpoints where it has some. */
function stepRecorder(
  trace: RunTrace,
  breakpoints: Breakpoints | undefined,
  replayed: TracedRun['replayed'],
): StepRecorder {
  const brakes = {
    arrive: (step: TraceStep) => breakpoints?.arrive(step),
    leave: () => breakpoints?.leave(),
  }
  return new StepRecorder({ trace, ...brakes, ...(replayed && { replayed }) })
}

function freeUntraced(underWay: Iterable<RunUnderWay>, blueprints: TracingQuestions): void {
  for (const { about, brake: breakpoints } of underWay) {
    const held = breakpoints?.pause
    if (held && !blueprints.of(about.blueprint) && !blueprints.pausesAt(held.step.block)) breakpoints.free()
  }
}

/** What stands still was stored when it came to that. */
function isStored({ brake: breakpoints }: RunUnderWay): boolean {
  return breakpoints?.pause !== undefined
}
