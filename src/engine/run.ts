/**
 * A run: one execution of a flow, from its trigger to the end of its last branch.
 *
 * - It starts with a frame whose slots hold what the trigger gives, and drives the steps behind the trigger.
 * - What its blocks write is one transaction, made durable when the run replies, before a block that touches the world
 *   outside, and at the end. Whatever was not yet durable is undone when the run fails.
 * - It replies at most once; the flow goes on behind the reply, with a transaction of its own.
 * - It stops at its deadline, at its budget of blocks, when its job's signal says so, and when one of its branches
 *   fails. Each step asks before it begins; a block that waits is told by the signal.
 */
import type { Cache, LaterCall, LogLevel } from '../blocks/context.ts'
import type { Reply, RunRequest } from '../blocks/run-request.ts'
import type { Clock } from '../shared/clock.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject, JsonValue } from '../shared/json.ts'
import { andThen, isPromise, type MaybePromise } from '../shared/maybe-promise.ts'
import type { Origin, Session, Storage } from '../storage/storage.ts'
import { BlockFailure, RunStopped } from './block-failure.ts'
import type { CompiledFlow, CompiledFunction, Frame, RunControl, Step } from './frame.ts'
import { laterJob } from './job-payload.ts'
import { runOrigin } from './run-origin.ts'

export interface RunLimits {
  /** Milliseconds from start to the last block. */
  readonly deadline: number
  /** Blocks executed, value blocks included. */
  readonly budget: number
  /** Custom functions that call each other. */
  readonly depth: number
}

/** What all runs of a node share. */
export interface RunEnvironment {
  readonly storage: Storage
  readonly clock: Clock
  readonly newGuid: () => string
  readonly cache: Cache
  readonly allowedHosts: readonly string[]
  readonly limits: RunLimits
  readonly log: (entry: RunLogEntry) => void
  /** A custom function by name: of the same blueprint first, else of any active one. */
  readonly findFunction: (name: string, blueprint: string) => CompiledFunction | undefined
}

export interface RunLogEntry {
  readonly level: LogLevel
  readonly message: string
  readonly value?: JsonValue | undefined
  readonly run: string
  readonly blueprint: string
  readonly block?: string | undefined
  readonly pin?: string | undefined
}

export interface RunStart {
  readonly flow: CompiledFlow
  readonly blueprint: string
  readonly given: Readonly<Record<string, unknown>>
  readonly request?: RunRequest
  /** For whom a run without a request is. */
  readonly user?: JsonObject | undefined
  /** On whose behalf it writes; the user of the request or of the run, if not said. */
  readonly origin?: Pick<Origin, 'user' | 'depth'>
  /** Ends the run early: its job was cancelled, or the node stops. */
  readonly signal?: AbortSignal
  /** Called at most once, in the transaction that the reply waits for. */
  readonly beforeReply?: (session: Session, reply: Reply) => unknown
  /** Called at most once, when everything written before is durable. */
  readonly onReply?: (reply: Reply) => void
}

/** How a run ended. `replied` tells whether `onReply` was called. */
export interface RunEnd {
  readonly run: string
  readonly replied: boolean
  readonly error: QuoinError | undefined
  readonly result: JsonValue | undefined
}

/** Steps between two looks at the clock, and the milliseconds after which a run lets others have a turn. */
const LOOK = 256
const TURN = 20
/** Values are worked out without a pause, and nobody else is served meanwhile: a map in a map over what was sent. */
const LONGEST_TURN = 2_000
/** Nested branches until a run lets the stack unwind; deeper than any drawing, far from the stack's end. */
const DEEPEST = 200

export class Run implements RunControl {
  readonly guid: string
  readonly session: Session
  readonly environment: RunEnvironment
  readonly blueprint: string
  readonly request: RunRequest | undefined
  readonly user: JsonObject | undefined
  readonly #started: number
  readonly #start: RunStart
  #budget: number
  #turnBegan: number
  #tired = false
  /** How many `drive`s are on the stack: branches within branches, and calls of custom functions. */
  #nested = 0
  #stop: Error | undefined
  #abort: AbortController | undefined
  #timer: NodeJS.Timeout | undefined
  /** Fails the run while it waits for a block that does not listen to the signal. */
  #giveUp: ((reason: Error) => void) | undefined
  #replyAsked = false
  #replied = false
  #over = false
  /** Under way: the commit before the reply. */
  #committing: Promise<void> | undefined

  constructor(environment: RunEnvironment, start: RunStart) {
    this.guid = environment.newGuid()
    this.user = start.request ? start.request.user : start.user
    this.session = environment.storage.session(runOrigin(this.guid, this.user, start.origin))
    this.environment = environment
    this.blueprint = start.blueprint
    this.request = start.request
    this.#start = start
    this.#budget = environment.limits.budget
    this.#started = environment.clock()
    this.#turnBegan = this.#started
  }

  /** Before each block. Throws RunStopped when the run may not go on. */
  tick(): void {
    this.#budget -= 1
    if (this.#stop) throw this.#stop
    if (this.#budget < 0) {
      throw new RunStopped(
        'budget',
        `The run executed ${this.environment.limits.budget} blocks, which is its budget.`,
      )
    }
    if (this.#budget % LOOK === 0) this.#look()
  }

  #look(): void {
    const now = this.environment.clock()
    this.#tired = now - this.#turnBegan > TURN
    if (now - this.#turnBegan > LONGEST_TURN) {
      throw new RunStopped(
        'deadline',
        `The run worked out values for more than ${LONGEST_TURN} ms without a pause.`,
      )
    }
    if (now - this.#started >= this.environment.limits.deadline) throw this.#late()
  }

  #late(): RunStopped {
    const late = new RunStopped(
      'deadline',
      `The run did not end within ${this.environment.limits.deadline} ms.`,
    )
    this.stop(late)
    return late
  }

  /** Runs steps until a branch ends. */
  drive(first: Step | undefined, frame: Frame): MaybePromise<void> {
    // A circle through a forked pin would nest until the stack is full, and end as a fault of ours instead of 503.
    if (this.#nested >= DEEPEST) return this.#rest().then(() => this.drive(first, frame))
    this.#nested += 1
    try {
      let step = first
      while (step) {
        const reached = step
        if (this.#tired)
          return this.#driveOn(
            this.#rest().then(() => reached),
            frame,
          )
        const next = step(frame)
        if (isPromise(next)) return this.#driveOn(next, frame)
        step = next
      }
      return undefined
    } finally {
      this.#nested -= 1
    }
  }

  /** The rest of a branch that has waited once: one promise for all of it, however often it waits. */
  async #driveOn(waiting: Promise<Step | undefined>, frame: Frame): Promise<void> {
    let step = await waiting
    while (step) {
      if (this.#tired) await this.#rest()
      const next = step(frame)
      step = isPromise(next) ? await next : next
      // A wait is a pause: others were served.
      if (isPromise(next)) this.#turnBegan = this.environment.clock()
    }
  }

  /** A run that has had a long turn lets the event loop go round, so that others are served meanwhile. */
  async #rest(): Promise<void> {
    this.#tired = false
    await new Promise((resolve) => setImmediate(resolve))
    this.#turnBegan = this.environment.clock()
  }

  /** No further block begins, and those that wait are told. The first reason counts. */
  stop(reason: Error): void {
    if (this.#stop) return
    this.#stop = reason
    this.#abort?.abort(reason)
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.#stop) this.#abort.abort(this.#stop)
    return this.#abort.signal
  }

  /** What was written so far becomes durable; then the reply goes out. */
  reply(reply: Reply, block: string): void {
    if (this.#replyAsked) {
      this.log({ level: 'warn', message: 'A second reply in one run was ignored.', block })
      return
    }
    this.#replyAsked = true
    const committed = andThen(this.#prepare(reply), () => this.session.commit())
    if (!isPromise(committed)) {
      this.#send(reply)
      return
    }
    this.#committing = committed.then(() => this.#send(reply))
    // Awaited before the next step and at the end; this only keeps an early failure from being called unhandled.
    this.#committing.catch(() => undefined)
  }

  #prepare(reply: Reply): MaybePromise<unknown> {
    return this.#start.beforeReply?.(this.session, reply)
  }

  #send(reply: Reply): void {
    // A run that failed meanwhile has answered already.
    if (this.#replied || this.#over) return
    this.#start.onReply?.(reply)
    // Not before: a reply that is too long to be written was none, and whoever waits for it gets the run's end.
    this.#replied = true
  }

  /** The commit that a reply waits for, if there is one. */
  settle(): Promise<void> | undefined {
    return this.#committing
  }

  log(entry: Omit<RunLogEntry, 'run' | 'blueprint'>): void {
    this.environment.log({ ...entry, run: this.guid, blueprint: this.blueprint })
  }

  /** Calls a custom function by name. Fails, naming it, when no active blueprint has it. */
  callFunction(
    name: string,
    parameters: Readonly<Record<string, JsonValue | undefined>>,
    depth: number,
  ): MaybePromise<JsonValue | undefined> {
    const found = this.environment.findFunction(name, this.blueprint)
    if (!found)
      throw new Error(`There is no custom function named ${JSON.stringify(name)} in an active blueprint.`)
    return this.call(found.flow, found.start(parameters), depth)
  }

  enqueue(call: LaterCall): MaybePromise<string | undefined> {
    const { blueprint, session, environment } = this
    return session.enqueue(laterJob(call, blueprint, session.origin, environment.clock()))
  }

  call(
    flow: CompiledFlow,
    given: Readonly<Record<string, unknown>>,
    depth: number,
  ): MaybePromise<JsonValue | undefined> {
    if (depth > this.environment.limits.depth) {
      throw new RunStopped('depth', `Custom functions called each other ${depth} deep.`)
    }
    const frame: Frame = { run: this, slots: flow.slots.slice(), depth, result: undefined, finished: false }
    flow.accept(frame, given)
    return andThen(this.drive(flow.first, frame), () => frame.result)
  }

  /** From the trigger to the end. Never throws: how it ended is in what it gives. */
  execute(start: RunStart): MaybePromise<RunEnd> {
    if (start.signal?.aborted) this.#interrupted()
    else start.signal?.addEventListener('abort', this.#interrupted, { once: true })
    try {
      const result = this.call(start.flow, start.given, 0)
      if (!isPromise(result)) return this.#end(result)
      return Promise.race([result, this.#deadline()]).then(
        (value) => this.#end(value),
        (error) => this.#fail(error),
      )
    } catch (error) {
      return this.#fail(error)
    }
  }

  /** Only a run that waits needs a timer; one that never waits is stopped by its own steps. A block may not listen. */
  #deadline(): Promise<never> {
    return new Promise((_, reject) => {
      this.#giveUp = reject
      this.#timer = setTimeout(() => reject(this.#late()), this.environment.limits.deadline)
    })
  }

  readonly #interrupted = (): void => {
    const stopped = new RunStopped('shutdown', 'The run was stopped from outside.')
    this.stop(stopped)
    this.#giveUp?.(stopped)
  }

  #release(): void {
    clearTimeout(this.#timer)
    this.#start.signal?.removeEventListener('abort', this.#interrupted)
  }

  #end(result: JsonValue | undefined): MaybePromise<RunEnd> {
    const committed = this.#committing
      ? this.#committing.then(() => this.session.commit())
      : this.session.commit()
    if (!isPromise(committed)) return this.#ended(result)
    return committed.then(
      () => this.#ended(result),
      (error) => this.#fail(error),
    )
  }

  #ended(result: JsonValue | undefined): RunEnd {
    this.#release()
    return { run: this.guid, replied: this.#replied, error: undefined, result }
  }

  async #fail(error: unknown): Promise<RunEnd> {
    this.#release()
    this.stop(new RunStopped('failed', 'Another branch of the run failed.'))
    // A reply that was asked for is durable or not by now; what was written after it is undone.
    const asked = await this.#committing?.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    this.#over = true
    await this.session.rollback()
    const known = this.#explain(asked ?? error)
    return { run: this.guid, replied: this.#replied, error: known, result: undefined }
  }

  #explain(error: unknown): QuoinError {
    if (error instanceof RunStopped) {
      this.log({ level: 'error', message: error.message })
      if (error.reason === 'depth') return new QuoinError('INTERNAL', 'internal error', { cause: error })
      const message = error.reason === 'shutdown' ? 'the run was stopped' : 'the request took too long'
      return new QuoinError('UNAVAILABLE', message, { cause: error })
    }
    const failure = error instanceof BlockFailure ? error : undefined
    const client = failure?.clientError() ?? (error instanceof QuoinError ? error : undefined)
    const told = client ?? new QuoinError('INTERNAL', 'internal error', { cause: error })
    // A request that did not fit is the requester's affair and would only fill the log. A job has no requester.
    if (told.status >= 500 || !this.request) {
      const message = error instanceof Error ? error.message : String(error)
      this.log({ level: 'error', message, block: failure?.block, pin: failure?.pin })
    }
    return told
  }
}
