/**
 * Runs as pieces of a distributed trace, with their flow blocks and what they ask of storages: those of sampled requests, those that another traced run
 * has caused, and some of jobs and schedules. No values go along. A run that is not traced costs one look at its start.
 */
import type { FlowContext } from '../../blocks/context.ts'
import { andThen, type MaybePromise, recover } from '../../shared/maybe-promise.ts'
import type { Mutation } from '../../shared/mutation.ts'
import type { Query, Search } from '../../shared/query.ts'
import { type Span, type SpanEnd, spanTime, type Telemetry } from '../../shared/telemetry.ts'
import type { Aggregate } from '../../storage/aggregate/aggregate.ts'
import type { CreateOptions, NewDocument, Session, WriteCondition } from '../../storage/database.ts'
import { type Job, JobContinues } from '../../storage/job.ts'
import { TransparentSession } from '../../storage/wrapped-session.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import { drawnBlock } from '../compile/expand-resources.ts'
import type { Frame } from '../compile/frame.ts'
import type { FlowWork, Gather, PinValues, ProbedBlock, Recorder } from '../compile/probe.ts'
import type { Flows } from '../flows.ts'
import { originIn } from '../run/job-payload.ts'
import { Run } from '../run/run.ts'
import type { RunEnd, RunStart } from '../run/run-start.ts'
import { type TracedFlows, triggersOf } from '../trace/traced-flows.ts'
import type { SampleRun } from './sampled-runs.ts'

interface RunSpansOptions {
  readonly flows: Pick<Flows, 'live'>
  /** Until the copy of a flow is there, its runs have no blocks. */
  readonly copies: TracedFlows
  readonly telemetry: Telemetry
}

export function runSpans({ flows: { live }, copies, telemetry }: RunSpansOptions): SampleRun {
  return (environment, start) => {
    const place = start.origin?.trace
    // A request or a job decides for its run.
    if (place === undefined && (start.request || start.job !== undefined)) return undefined
    const span = telemetry.run(place)
    if (!span) return undefined
    const found = live.table().blueprints.get(start.blueprint)
    // One that goes on after a wait has a frame of the flow itself.
    const copy = found && !start.resume ? copies.soon(found.compiled, start.flow) : undefined
    const traced = {
      ...start,
      origin: { ...start.origin, trace: span.place },
      tracking: (session: Session) =>
        new TracedSession(start.tracking ? start.tracking(session) : session, span),
      ...(copy && { flow: copy.flow }),
    }
    const inner = new Run(
      {
        ...environment,
        outgoing: () => span.call(),
        log: (entry) => environment.log({ ...entry, trace: span.place }),
      },
      traced,
    )
    if (copy) copies.recorders.set(inner, new SpanRecorder(span))
    return andThen(inner.execute(traced), (end) => {
      span.end({ name: `run ${label(found?.compiled, start)}`, ...about(start, end) })
      return end
    })
  }
}

/** As people call its trigger: `GET tasks/:id`, the name of a function. */
function label(compiled: CompiledBlueprint | undefined, { flow, blueprint }: RunStart): string {
  const triggers = compiled ? triggersOf(compiled) : []
  return triggers.find((one) => one.flow === flow)?.label ?? blueprint
}

function about({ blueprint, flow, job, unit }: RunStart, { run, error }: RunEnd) {
  return {
    attributes: {
      ...{ 'quoin.run': run, 'quoin.blueprint': blueprint, 'quoin.trigger': drawnBlock(flow.trigger) },
      ...(job !== undefined && { 'quoin.job': job }),
      ...(unit && unit.attempt > 0 && { 'quoin.attempt': unit.attempt }),
      ...(error && { 'error.type': error.code }),
    },
    failed: error !== undefined && error.status >= 500,
  }
}

class SpanRecorder implements Recorder {
  readonly #span: Span

  constructor(span: Span) {
    this.#span = span
  }

  pins(_block: ProbedBlock, frame: Frame, gather: Gather): Record<string, unknown> {
    return { ...gather(frame) }
  }

  value(_block: ProbedBlock, _inputs: PinValues, _more: PinValues, work: () => PinValues): PinValues {
    return work()
  }

  flow(
    { node }: ProbedBlock,
    _inputs: PinValues,
    _context: FlowContext,
    work: FlowWork,
  ): ReturnType<FlowWork> {
    const { definition, block } = node
    return timed(this.#span, work, {
      name: definition.identifier,
      attributes: { 'quoin.block': drawnBlock(block.guid) },
    })
  }
}

/** What a run asks of storages: each call is a piece of the run, by what it does and the name of the storage. */
class TracedSession extends TransparentSession {
  readonly #span: Span

  constructor(session: Session, span: Span) {
    super(session)
    this.#span = span
  }

  #timed<T>(operation: string, storage: string | undefined, work: () => MaybePromise<T>): MaybePromise<T> {
    return timed(this.#span, work, {
      name: storage === undefined ? operation : `${operation} ${storage}`,
      attributes: {
        ...{ 'db.system.name': 'quoin', 'db.operation.name': operation },
        ...(storage !== undefined && { 'db.collection.name': storage }),
      },
    })
  }

  override get(storage: string, guid: string, options?: { readonly removed?: boolean }) {
    return this.#timed('get', storage, () => super.get(storage, guid, options))
  }

  override find(storage: string, search: Search) {
    return this.#timed('find', storage, () => super.find(storage, search))
  }

  override findWithTotal(storage: string, search: Search) {
    return this.#timed('find', storage, () => super.findWithTotal(storage, search))
  }

  override count(storage: string, query: Query, includeRemoved?: boolean) {
    return this.#timed('count', storage, () => super.count(storage, query, includeRemoved))
  }

  override aggregate(storage: string, requested: Aggregate) {
    return this.#timed('aggregate', storage, () => super.aggregate(storage, requested))
  }

  override findByUniqueKey(...of: Parameters<TransparentSession['findByUniqueKey']>) {
    return this.#timed('find', of[0], () => super.findByUniqueKey(...of))
  }

  override create(storage: string, mutations: readonly Mutation[], options?: CreateOptions) {
    return this.#timed('create', storage, () => super.create(storage, mutations, options))
  }

  override createAll(storage: string, documents: readonly NewDocument[]) {
    return this.#timed('create', storage, () => super.createAll(storage, documents))
  }

  override update(storage: string, guid: string, mutations: readonly Mutation[], options?: WriteCondition) {
    return this.#timed('update', storage, () => super.update(storage, guid, mutations, options))
  }

  override setRemoved(storage: string, guid: string, removed: boolean, options?: WriteCondition) {
    return this.#timed('remove', storage, () => super.setRemoved(storage, guid, removed, options))
  }

  override delete(storage: string, guid: string, options?: WriteCondition) {
    return this.#timed('delete', storage, () => super.delete(storage, guid, options))
  }

  override commit() {
    return this.hasWritten ? this.#timed('commit', undefined, () => super.commit()) : super.commit()
  }
}

/** Adds it as a piece when it is over, also when it fails. */
function timed<T>(
  span: Span,
  work: () => MaybePromise<T>,
  { name, attributes }: Pick<SpanEnd, 'name' | 'attributes'>,
): MaybePromise<T> {
  const began = spanTime()
  const over = (failed: boolean) => span.add({ name, attributes, began, ended: spanTime(), failed })
  return recover(
    () =>
      andThen(work(), (gave) => {
        over(false)
        return gave
      }),
    (error) => {
      over(true)
      throw error
    },
  )
}

type RunJob = (job: Job, signal: AbortSignal) => Promise<'ended' | undefined>

/** Attempts of jobs as pieces of the trace of what has caused them. What an attempt does belongs to it: its run, its mail. */
export function jobSpans(telemetry: Telemetry | undefined, runJob: RunJob): RunJob {
  if (!telemetry) return runJob
  return async (job, signal) => {
    const { trace } = originIn(job.payload)
    const span = telemetry.job(trace)
    if (!span) return runJob(job, signal)
    const over = (failed: boolean) =>
      span.end({ name: `job ${job.queue}`, attributes: aboutJob(job), failed })
    try {
      const gave = await runJob({ ...job, payload: { ...job.payload, trace: span.place } }, signal)
      over(false)
      return gave
    } catch (error) {
      over(!(error instanceof JobContinues))
      throw error
    }
  }
}

function aboutJob({ guid, queue, kind, attempt }: Job) {
  return {
    ...{ 'messaging.system': 'quoin', 'messaging.operation.type': 'process' },
    ...{ 'messaging.destination.name': queue, 'quoin.job': guid, 'quoin.job.kind': kind },
    'quoin.attempt': attempt,
  }
}
