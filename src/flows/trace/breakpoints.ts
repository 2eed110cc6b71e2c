/**
 * Pauses a traced run before its flow blocks. A run is
 *
 * - running: before each flow block the run asks its brake. At a breakpoint, and at the next block after `step`, it
 *   becomes paused.
 * - paused: each branch of the run waits before its next flow block, and the run's time stops. `step` runs it to the next
 *   flow block, `resume` to the next breakpoint, `stop` fails it. It becomes free when its lease ends without a command,
 *   when tracing is turned off, and when the node stops.
 * - free: it continues and does not pause again.
 *
 * A run with uncommitted writes is not paused: on SQLite it holds the one writer, so that every write of the whole cluster
 * would wait for a person; on PostgreSQL it has locked its rows. Both engines undo such a transaction after five seconds.
 * The step says so in its `note`, and after the next commit the run can be paused again. If another branch of a paused run
 * writes, the pause ends.
 */
import type { Clock } from '../../shared/clock.ts'
import type { Transaction } from '../../storage/database.ts'
import { RunStopped } from '../compile/block-failure.ts'
import type { RunStart } from '../run/run-start.ts'
import type { RunSteps } from '../run/run-steps.ts'
import type { RunTrace, TraceStep } from './run-trace.ts'

export type Steering = 'step' | 'resume' | 'stop'

/** The settings and paused runs that all brakes of a node share. */
export interface NodePauses {
  readonly clock: Clock
  /** Milliseconds after which a pause ends without a command. */
  readonly lease: number
  readonly pausesAt: (block: string) => boolean
  /** The runs that are paused. */
  readonly paused: Set<Breakpoints>
  /** Runs that may be paused at once. */
  readonly most: number
  /** Whether the node is stopping. */
  closing: boolean
}

/** The run, as far as its brake touches it. */
export interface Brakeable {
  readonly session: { readonly transaction: Pick<Transaction, 'hasWritten'> }
  readonly steps: Pick<RunSteps, 'signal' | 'pause' | 'goOn'>
  readonly unit: RunStart['unit']
}

interface Pause {
  readonly step: TraceStep
  /** Milliseconds since 1970. */
  readonly since: number
  readonly until: number
  readonly over: Promise<void>
  readonly end: (error?: Error) => void
}

export class Breakpoints {
  readonly #node: NodePauses
  readonly #run: Brakeable
  readonly #trace: Pick<RunTrace, 'pause' | 'goOn'>
  /** Called when the run pauses, and when it continues. */
  readonly #changed: () => void
  #mode: 'breakpoints' | 'step' | 'free' = 'breakpoints'
  #pause: Pause | undefined

  constructor(
    node: NodePauses,
    run: Brakeable,
    trace: Pick<RunTrace, 'pause' | 'goOn'>,
    changed: () => void,
  ) {
    this.#node = node
    this.#run = run
    this.#trace = trace
    this.#changed = changed
  }

  get pause(): Omit<Pause, 'over' | 'end'> | undefined {
    return this.#pause
  }

  /** Before a flow block: a promise while the run is paused. Rejects when it was stopped. */
  arrive(step: TraceStep): Promise<void> | undefined {
    if (this.#pause) return this.#pause.over.then(() => this.arrive(step))
    const requested =
      this.#mode === 'step' || (this.#mode === 'breakpoints' && this.#node.pausesAt(step.block))
    if (!requested) return undefined
    const obstacle = this.#obstacle()
    if (obstacle === undefined) return this.#hold(step)
    step.note = `Not paused: ${obstacle}`
    return undefined
  }

  /** After a flow block. */
  leave(): void {
    if (!this.#pause || !this.#run.session.transaction.hasWritten) return
    this.#pause.step.note = 'The pause ended: another branch of the run has written.'
    this.#pause.end()
  }

  /** False if the run is not paused. */
  steer(steering: Steering): boolean {
    if (!this.#pause) return false
    if (steering !== 'stop') this.#mode = steering === 'step' ? 'step' : 'breakpoints'
    this.#pause.end(
      steering === 'stop'
        ? new RunStopped('stopped', 'RUN_STOPPED: The run was stopped at a breakpoint.')
        : undefined,
    )
    return true
  }

  /** The run continues and does not pause again. */
  free(): void {
    this.#mode = 'free'
    this.#pause?.end()
  }

  #obstacle(): string | undefined {
    const { paused, most, closing } = this.#node
    if (closing) return 'the node is stopping.'
    if (paused.size >= most) return `${most} runs are paused on this node, the maximum.`
    if (this.#run.session.transaction.hasWritten)
      return 'the run has uncommitted writes; other writes would wait for it.'
    const { unit } = this.#run
    if (unit?.turn !== undefined && !unit.committed)
      return 'other requests with the same one_at_a_time, or that change the same documents, would wait for it.'
    return undefined
  }

  #hold(step: TraceStep): Promise<void> {
    const { clock, lease, paused } = this.#node
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const { signal } = this.#run.steps
    const aborted = () => end(signal.reason)
    const late = setTimeout(() => this.free(), lease)
    const end = (error?: Error): void => {
      clearTimeout(late)
      signal.removeEventListener('abort', aborted)
      paused.delete(this)
      this.#pause = undefined
      this.#run.steps.goOn()
      this.#trace.goOn()
      this.#changed()
      if (error) reject(error)
      else resolve()
    }
    signal.addEventListener('abort', aborted, { once: true })
    paused.add(this)
    this.#run.steps.pause()
    this.#trace.pause()
    const since = clock()
    this.#pause = { step, since, until: since + lease, over: promise, end }
    this.#changed()
    return promise
  }
}
