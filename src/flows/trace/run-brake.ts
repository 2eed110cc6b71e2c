/**
 * What stops a traced run before its flow blocks.
 *
 * - running: before each flow block it is asked whether there is a breakpoint. If there is, or if the one who steps wants
 *   to stop at the next block, the run is
 * - paused: all branches of the run stand still where they begin their next flow block. Its time stands still too. `step`
 *   goes on to the next flow block, `resume` to the next breakpoint, `stop` fails the run. When nobody has said anything
 *   until the lease is over, or tracing is turned off, or the node stops, the run goes on and is
 * - free: it does not pause again.
 *
 * A run that has written and not committed is not paused: on SQLite it has the one writer, so that every write of the
 * whole cluster would wait for a person; on PostgreSQL it has locked its rows. Both engines undo such a transaction after
 * five seconds. The step says so in its `note`, and from the next commit on the run can be paused again. Should a branch
 * that was busy write while another one stands still, the pause is over.
 */
import type { Clock } from '../../shared/clock.ts'
import type { Session } from '../../storage/database.ts'
import { RunStopped } from '../compile/block-failure.ts'
import type { RunTrace, TraceStep } from './run-trace.ts'

export type Steering = 'step' | 'resume' | 'stop'

/** Of a node. */
export interface BrakeGround {
  readonly clock: Clock
  /** Milliseconds that a pause lasts when nobody says anything. */
  readonly lease: number
  readonly pausesAt: (block: string) => boolean
  /** The runs that stand still. */
  readonly paused: Set<RunBrake>
  readonly most: number
  /** Whether the node is about to end. */
  closing: boolean
}

/** The run, as far as its brake touches it. */
export interface Brakeable {
  readonly session: Pick<Session, 'hasWritten'>
  readonly signal: AbortSignal
  pause(): void
  goOn(): void
}

interface Pause {
  readonly step: TraceStep
  /** Milliseconds since 1970. */
  readonly since: number
  readonly until: number
  readonly over: Promise<void>
  readonly end: (error?: Error) => void
}

export class RunBrake {
  readonly #ground: BrakeGround
  readonly #run: Brakeable
  readonly #trace: Pick<RunTrace, 'pause' | 'goOn'>
  /** Told when it stands still, and when it goes on. */
  readonly #changed: () => void
  #mode: 'breakpoints' | 'step' | 'free' = 'breakpoints'
  #pause: Pause | undefined

  constructor(
    ground: BrakeGround,
    run: Brakeable,
    trace: Pick<RunTrace, 'pause' | 'goOn'>,
    changed: () => void,
  ) {
    this.#ground = ground
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
    const wanted =
      this.#mode === 'step' || (this.#mode === 'breakpoints' && this.#ground.pausesAt(step.block))
    if (!wanted) return undefined
    const obstacle = this.#obstacle()
    if (obstacle === undefined) return this.#hold(step)
    step.note = `Not paused: ${obstacle}`
    return undefined
  }

  /** After a flow block. */
  leave(): void {
    if (!this.#pause || !this.#run.session.hasWritten) return
    this.#pause.step.note = 'The pause ended: another branch of the run has written.'
    this.#pause.end()
  }

  /** False if the run does not stand still. */
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

  /** The run goes on and does not pause again. */
  free(): void {
    this.#mode = 'free'
    this.#pause?.end()
  }

  #obstacle(): string | undefined {
    const { paused, most, closing } = this.#ground
    if (closing) return 'the node is stopping.'
    if (paused.size >= most) return `${most} runs are paused on this node, the maximum.`
    if (this.#run.session.hasWritten) return 'the run has uncommitted writes; other writes would wait for it.'
    return undefined
  }

  #hold(step: TraceStep): Promise<void> {
    const { clock, lease, paused } = this.#ground
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const { signal } = this.#run
    const aborted = () => end(signal.reason)
    const late = setTimeout(() => this.free(), lease)
    const end = (error?: Error): void => {
      clearTimeout(late)
      signal.removeEventListener('abort', aborted)
      paused.delete(this)
      this.#pause = undefined
      this.#run.goOn()
      this.#trace.goOn()
      this.#changed()
      if (error) reject(error)
      else resolve()
    }
    signal.addEventListener('abort', aborted, { once: true })
    paused.add(this)
    this.#run.pause()
    this.#trace.pause()
    const since = clock()
    this.#pause = { step, since, until: since + lease, over: promise, end }
    this.#changed()
    return promise
  }
}
