/**
 * A run: one execution of a flow, from its trigger to the end of its last branch.
 *
 * - It starts with a frame whose slots hold the values of the trigger, and drives the steps after the trigger.
 * - The writes of its blocks are one transaction, committed when the run replies, before a block that touches the world
 *   outside, and at the end. A run that fails undoes the writes that are not yet durable.
 * - It replies at most once; after the reply the flow continues, with a transaction of its own.
 * - A request that ends without a reply after a way `not_found`, `conflict`, `refused` or `exceeded` that is not wired fails
 *   with 404, 409 or 429.
 * - It stops at its deadline, at its budget of blocks, when its job's signal says so, and when one of its branches
 *   fails.
 */
import type { Reply } from '../../blocks/reply.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import type { QuoinError } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { andThen, isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Session } from '../../storage/database.ts'
import { SerializationConflict } from '../../storage/unit-of-work.ts'
import { ofArgument, RunStopped } from '../compile/block-failure.ts'
import { drawnBlock } from '../compile/expand-resources.ts'
import type { CompiledFlow, Frame, RunControl, RunFunctions, UnhandledOutcome } from '../compile/frame.ts'
import { restoredInput } from '../compile/waiting/saved-frame.ts'
import { restoredValues } from '../compile/waiting/saved-value.ts'
import { type BufferedEffects, bufferedEffects } from './buffered-effects.ts'
import { runOrigin } from './job-payload.ts'
import { MessageBuffer } from './message-buffer.ts'
import { RunReply } from './reply-cache.ts'
import { openResumed, type Resume, type ResumedRun } from './resumed-run.ts'
import type { RunEnvironment, RunLogEntry } from './run-environment.ts'
import { commitFailure, explainFailure, isShutdown, missedError, type RunFailure } from './run-failure.ts'
import { RunServices, runFunctions } from './run-services.ts'
import { mayBeginAgain, type RunEnd, type RunStart } from './run-start.ts'
import { RunSteps, runTimer } from './run-steps.ts'
import { unitSession } from './run-units.ts'

export class Run extends RunServices implements RunControl {
  readonly guid: string
  readonly session: Session
  readonly environment: RunEnvironment
  readonly steps: RunSteps
  readonly blueprint: string
  readonly request: RunRequest | undefined
  readonly user: JsonObject | undefined
  begun = false
  protected readonly start: RunStart
  readonly #reply: RunReply
  /** Of a unit of work. */
  readonly #held: BufferedEffects | undefined
  readonly #milliseconds: number
  #functions: RunFunctions | undefined
  #endTimer: (() => void) | undefined
  /** The commit at the end. */
  #committing: Promise<void> | undefined
  #result: JsonValue | undefined
  protected resumed: ResumedRun | undefined
  /** Most runs publish none. */
  #messages: MessageBuffer | undefined
  #missed: QuoinError | undefined
  /** A reply with a status from 400 on. */
  #refusal: Reply | undefined
  /** Of the flow itself: what is left in it when the run fails is shown to its builder. */
  #frame: Frame | undefined
  #failed = false
  /** It has no more time, whatever it waits for. */
  #late = false
  /** Fails the run while it waits for a block that does not listen to the signal. */
  #giveUp: ((reason: Error) => void) | undefined

  constructor(environment: RunEnvironment, start: RunStart) {
    super()
    this.guid = environment.newGuid()
    this.user = start.request ? start.request.user : start.user
    const { unit } = start
    const { clock, running } = environment
    // Copied: they may change while the run is under way, which keeps those that it began with.
    const limits = {
      ...environment.limits,
      ...(unit && { deadline: Math.max(1, unit.until - clock()) }),
    }
    const origin = {
      ...runOrigin(this.guid, this.user, start.origin),
      until: clock() + limits.deadline,
      ...(start.lease && { job: start.lease }),
    }
    this.#held = unit && bufferedEffects(environment)
    this.environment = this.#held ? { ...environment, ...this.#held } : environment
    const { database } = environment
    const session = unit
      ? unitSession(database, unit, origin, () => this.#held?.release())
      : database.session(origin)
    this.session = start.tracking ? start.tracking(session) : session
    this.blueprint = start.blueprint
    this.request = start.request
    this.start = start
    this.#milliseconds = limits.deadline
    const mark = running && { cells: running.cells, number: running.numberOf(start.flow, start.blueprint) }
    this.steps = new RunSteps(clock, limits, mark)
    this.#reply = new RunReply(this.session, () => this.commit(), start)
  }

  missed(way: UnhandledOutcome, taken: readonly string[], retryAfter?: number): void {
    this.#missed ??= missedError(way, taken, retryAfter)
  }

  eventBegins(): void {
    this.#missed = undefined
  }

  eventEnds(reply: Reply, block: string): void {
    if (this.#missed) throw this.#missed
    this.reply(reply, block)
  }

  get functions(): RunFunctions {
    this.#functions ??= runFunctions(this.environment, this)
    return this.#functions
  }

  /** What was written so far becomes durable; then the reply goes out. */
  reply(reply: Reply, block: string): void {
    if (this.#reply.ask(reply)) {
      if (reply.code >= 400) this.#refusal = reply
      return
    }
    this.log({ level: 'warn', message: 'A second reply in one run was ignored.', block })
  }

  commit(): MaybePromise<void> {
    const messages = this.#messages?.take()
    const committed = this.session.transaction.commit()
    const effects = this.effectsOnce
    if (!messages && !effects) return committed
    return andThen(committed, () => {
      effects?.committed()
      if (messages) this.environment.publish(messages)
    })
  }

  publish(channel: string, data: string): void {
    this.#messages ??= new MessageBuffer()
    if (!this.#messages.add({ channel, data })) throw new Error('The run publishes too much.')
  }

  settle(): Promise<void> | undefined {
    return this.#reply.committing
  }

  log(entry: Omit<RunLogEntry, 'run' | 'blueprint'>): void {
    const block = entry.block && { block: drawnBlock(entry.block) }
    this.environment.log({ ...entry, ...block, run: this.guid, blueprint: this.blueprint })
  }

  protected call(
    flow: CompiledFlow,
    input: Readonly<Record<string, unknown>>,
    depth: number,
  ): MaybePromise<JsonValue | undefined> {
    if (depth > this.environment.limits.depth) {
      throw new RunStopped('depth', `Custom functions called each other ${depth} deep.`)
    }
    const parameters = flow.isFunction ? input : undefined
    const sent = flow.typedFields && { fields: flow.typedFields, input }
    const frame = this.#newFrame(flow, depth, { parameters, sent })
    flow.accept(frame, input)
    return andThen(this.steps.drive(flow.first, frame), () => frame.result)
  }

  #newFrame(flow: CompiledFlow, depth: number, input: Pick<Frame, 'parameters' | 'sent'>): Frame {
    const frame = {
      run: this,
      slots: flow.slots.slice(),
      depth,
      ...input,
      result: undefined,
      finished: false,
    }
    if (depth === 0) this.#frame = frame
    return frame
  }

  /** From where it waited. */
  #resume(flow: CompiledFlow, resume: Resume): MaybePromise<JsonValue | undefined> {
    return andThen(openResumed(this.session, flow, resume), (resumed) => {
      this.resumed = resumed
      const { point, saved, record } = resumed
      const frame = this.#newFrame(flow, 0, restoredInput(saved))
      point.restore(frame, saved)
      const first = record.itself
        ? point.itself
        : point.behind(frame, { wait: record.guid, ...restoredValues(record.gives) })
      return andThen(first, (step) => andThen(this.steps.drive(step, frame), () => frame.result))
    })
  }

  /** From the trigger, or from where it waited, to the end. Never throws: how it ended is in what it gives. */
  execute(start: RunStart): MaybePromise<RunEnd> {
    if (start.signal?.aborted) this.#interrupted()
    else start.signal?.addEventListener('abort', this.#interrupted, { once: true })
    try {
      const { flow, input, resume } = start
      const result = resume ? this.#resume(flow, resume) : this.call(flow, input, 0)
      if (!isPromise(result)) {
        const ended = this.#end(result)
        return isPromise(ended) ? ended.catch((error) => this.#fail(error)) : ended
      }
      // The deadline is also that of the commit, which a database may keep waiting.
      return Promise.race([result.then((value) => this.#end(value)), this.#deadline()]).catch((error) =>
        this.#fail(error),
      )
    } catch (error) {
      return this.#fail(error)
    }
  }

  /** Only a run that waits needs a timer; one that never waits is stopped by its own steps. A block may not listen. */
  #deadline(): Promise<never> {
    return new Promise((_, reject) => {
      this.#giveUp = reject
      this.#endTimer = runTimer(this.steps, this.#milliseconds, (reason) => this.#stopWaiting(reason))
    })
  }

  readonly #interrupted = (): void => {
    const stopped = new RunStopped('shutdown', 'The run was stopped from outside.')
    this.steps.stop(stopped)
    this.#stopWaiting(stopped)
  }

  #stopWaiting(reason: Error): void {
    this.#late = true
    this.#giveUp?.(reason)
  }

  #release(): void {
    this.#endTimer?.()
    this.start.signal?.removeEventListener('abort', this.#interrupted)
  }

  #end(result: JsonValue | undefined): MaybePromise<RunEnd> {
    // Given up meanwhile: its answer is out, and nothing more may be committed.
    if (this.#failed) throw new RunStopped('failed', 'The run has failed.')
    if (this.#missed && this.request && !this.request.visit && !this.#reply.asked) throw this.#missed
    this.#result = result
    const { committing } = this.#reply
    const ending = () => andThen(this.#beforeEnd(), () => this.#commitEnd())
    const committed = committing ? committing.then(ending) : ending()
    if (!isPromise(committed)) return this.#ended()
    this.#committing = committed
    return committed.then(() => this.#ended())
  }

  #beforeEnd(): unknown {
    // A reply without a request goes nowhere: who called the function gets what it returns.
    return this.#reply.asked && this.request ? undefined : this.start.beforeEnd?.(this.session, this.#result)
  }

  #commitEnd(): MaybePromise<void> {
    const { resumed, start } = this
    if (!resumed && !start.lease) return this.commit()
    return andThen(resumed?.ended(), () => andThen(start.lease && this.#endJob(), () => this.commit()))
  }

  /** With the last commit: what that writes is there once, however often the job is begun. */
  #endJob(): MaybePromise<void> {
    return andThen(this.session.transaction.endJob(), (isOurs) => {
      if (!isOurs)
        throw new RunStopped('shutdown', 'The job was cancelled, or another worker has taken it over.')
    })
  }

  #ended(): RunEnd {
    this.#release()
    const end = { run: this.guid, replied: this.#reply.sent, error: undefined, result: this.#result }
    return this.#refusal ? { ...end, left: { ...this.#left(), refusal: this.#refusal } } : end
  }

  #left() {
    return { frame: this.#frame, done: this.effectsOnce?.done ?? [], milliseconds: this.steps.milliseconds }
  }

  async #fail(error: unknown): Promise<RunEnd> {
    this.#failed = true
    this.#release()
    this.steps.stop(new RunStopped('failed', 'Another branch of the run failed.'))
    const committing = this.#committing ?? this.#reply.committing
    const asked = committing && (await commitFailure(committing, this.#late))
    if (this.#committing && asked === undefined) return this.#ended()
    // What was written after the commit is undone.
    this.#reply.close()
    await this.session.transaction.rollback()
    const { unit } = this.start
    if (unit && mayBeginAgain(unit, asked ?? error, this.environment.clock))
      return this.#over(new SerializationConflict(), true)
    this.#held?.release()
    // A client that has its reply does not learn of the failure: the log does.
    const { called } = this.start
    const waits = (this.request !== undefined || called === true) && !this.#reply.sent
    const { reported, entry } = explainFailure(asked ?? (called ? ofArgument(error) : error), waits)
    if (entry) this.#logFailure(entry, reported, error)
    if (entry && isShutdown(error)) return this.#over(reported)
    return { ...this.#over(reported), left: { ...this.#left(), cause: asked ?? error } }
  }

  #logFailure(entry: NonNullable<RunFailure['entry']>, { code }: QuoinError, error: unknown): void {
    const { flow, job = '' } = this.start
    const reported = entry.level === 'error' && !this.session.origin.afterFailure && !isShutdown(error)
    this.log({ ...entry, ...(reported && { failed: { code, trigger: drawnBlock(flow.trigger), job } }) })
  }

  #over(error: QuoinError, again?: true): RunEnd {
    const replied = this.#reply.sent
    const end = { run: this.guid, replied, error, result: undefined }
    if (again) return { ...end, again }
    return replied ? { ...end, happened: this.effectsOnce?.done ?? [] } : end
  }
}
