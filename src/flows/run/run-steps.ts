/**
 * Driving the steps of a run, and whether it may go on.
 *
 * - Each block asks before it begins (`tick`). A run goes on until it is stopped: by its deadline, by its budget of
 *   blocks, or from outside (`stop`); the first reason counts, and a block that waits is told by the signal.
 * - A branch is driven in one turn of the event loop until a step waits. A run that has had a long turn rests between two
 *   steps, so that others are served meanwhile. A wait is a pause too.
 */
import type { Clock } from '../../shared/clock.ts'
import { yieldToEventLoop } from '../../shared/cooperative.ts'
import { elementWork, mostWork } from '../../shared/expression-work.ts'
import { isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import { RunStopped } from '../compile/block-failure.ts'
import type { Frame, RunPace, Step } from '../compile/frame.ts'
import type { RunLimits } from './run-environment.ts'
import { RUNNING_CELL } from './running-flow.ts'

// The work of a run's expressions in one turn of the event loop. An evaluation cannot pause, so that the one that exceeds the
// bound is ended; a run that has worked for a while rests before its next step.
// A block may wait on its own between two evaluations, which ends the turn too. So turns are numbered, by a callback that is
// asked for once in a turn, and only where there was work of {@link LOOK_OF_WORK} or more: less costs an addition.

/** Work between two looks at the number of the turn: 0.5 ms. */
const LOOK_OF_WORK = 5_000
/** After so much the run rests before the next step: 5 ms. */
const LONG = 50_000

export class TurnWork {
  #done = 0
  #next = LOOK_OF_WORK
  #turn = 0

  /** Before the work is done. Throws RunStopped. */
  add(work: number): void {
    this.#done += work
    if (this.#done >= this.#next) this.#look(work)
  }

  get isLong(): boolean {
    return this.#done > LONG
  }

  rested(): void {
    this.#done = 0
    this.#next = LOOK_OF_WORK
  }

  #look(last: number): void {
    const turn = numberOfTurn()
    if (turn !== this.#turn) this.#done = last
    this.#turn = turn
    this.#next = this.#done + LOOK_OF_WORK
    if (this.#done <= mostWork) return
    throw new RunStopped(
      'budget',
      `The run's expressions took more than ${mostWork.toLocaleString('en')} steps without a pause, which is their budget. Give them shorter lists and texts, or do the work in several blocks.`,
    )
  }
}

let turns = 1
let isCounting = false

function numberOfTurn(): number {
  if (!isCounting) {
    isCounting = true
    setImmediate(() => {
      isCounting = false
      turns += 1
    })
  }
  return turns
}

/** Steps between two looks at the clock, and the milliseconds after which a run lets others have a turn. */
const LOOK = 256
const TURN = 20
/** A block that works on so many values may take longer than {@link LOOK} others: the clock is looked at before each then. */
const HEAVY = 10_000
/** Values are evaluated without a pause, and no other request is served meanwhile: a map in a map over a request's body. */
const LONGEST_TURN = 2_000
/** Nested branches until a run lets the stack unwind; deeper than any drawing, far from the stack's end. */
const DEEPEST = 200

/** What the watchdog is told while blocks of this run are executed. */
interface RunMark {
  readonly cells: Int32Array
  readonly number: number
}

const NO_MARK: RunMark = { cells: new Int32Array(1), number: 0 }

export class RunSteps implements RunPace {
  readonly #cells: Int32Array
  readonly #number: number
  readonly #clock: Clock
  readonly #limits: RunLimits
  readonly #started: number
  #budget: number
  #every = LOOK
  #turnBegan: number
  /** When the last wait ended. */
  #waited: number
  #tired = false
  /** How many `drive`s are on the stack: branches within branches, and calls of custom functions. */
  #nested = 0
  #stop: Error | undefined
  #pausedSince: number | undefined
  #paused = 0
  #abort: AbortController | undefined
  readonly #work = new TurnWork()

  constructor(clock: Clock, limits: RunLimits, { cells, number }: RunMark = NO_MARK) {
    this.#cells = cells
    this.#number = number
    this.#clock = clock
    this.#limits = limits
    this.#budget = limits.budget
    this.#started = clock()
    this.#turnBegan = this.#started
    this.#waited = this.#started
  }

  /** Before each block. Throws RunStopped when the run may not go on. */
  checkpoint(): void {
    this.#cells[RUNNING_CELL] = this.#number
    this.#budget -= 1
    if (this.#stop) throw this.#stop
    if (this.#budget < 0) {
      throw new RunStopped('budget', `The run executed ${this.#limits.budget} blocks, which is its budget.`)
    }
    if (this.#budget % this.#every === 0) this.#look()
  }

  /** Takes as many blocks from the budget: elements that a function of lists goes through. */
  spend(elements: number, work: number = elements * elementWork): void {
    const before = this.#budget
    this.#budget -= elements
    if (this.#budget < 0) this.checkpoint()
    this.#work.add(work)
    // Many small ones, too: a list within an expression goes on without a pause.
    if (Math.floor(before / LOOK) !== Math.floor(this.#budget / LOOK)) this.#look()
  }

  /** How many values a block gave, so that a run of large ones is stopped in time. */
  chargeSize(values: number): void {
    if (values > HEAVY) this.#every = 1
  }

  /** Since the beginning. */
  get milliseconds(): number {
    return this.#clock() - this.#started
  }

  get budget(): number {
    return this.#budget
  }

  refill(budget: number): void {
    this.#budget = budget
  }

  /** Looks at the clock, and pauses after a long turn. Throws RunStopped when the run may not go on. */
  yieldIfLong(): Promise<void> | undefined {
    if (this.#stop) throw this.#stop
    this.#look()
    return this.#tired ? this.#rest() : undefined
  }

  #look(): void {
    const now = this.#clock()
    this.#tired = now - this.#turnBegan > TURN || this.#work.isLong
    if (now - Math.max(this.#turnBegan, this.#waited) > LONGEST_TURN) {
      throw new RunStopped(
        'deadline',
        `The run evaluated values for more than ${LONGEST_TURN} ms without a pause.`,
      )
    }
    if (now - this.#started - this.#paused >= this.#limits.deadline) throw this.late()
  }

  /** Milliseconds for which it was paused at breakpoints so far: they do not count against the deadline. */
  get paused(): number {
    return this.#paused + (this.#pausedSince === undefined ? 0 : this.#clock() - this.#pausedSince)
  }

  /** Milliseconds since 1970: when the run is stopped, unless it pauses at a breakpoint before. */
  get deadline(): number {
    return this.#started + this.paused + this.#limits.deadline
  }

  /** Only tracing calls it. */
  pause(): void {
    this.#pausedSince ??= this.#clock()
  }

  goOn(): void {
    this.#paused = this.paused
    this.#pausedSince = undefined
  }

  /** Stops the run at its deadline. Gives what it then ends with. */
  late(): RunStopped {
    const late = new RunStopped('deadline', `The run did not end within ${this.#limits.deadline} ms.`)
    this.stop(late)
    return late
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

  /** Runs steps until a branch ends. */
  drive(first: Step | undefined, frame: Frame): MaybePromise<void> {
    // A circle through a forked pin would nest until the stack is full, and end as a fault of ours instead of 503.
    if (this.#nested >= DEEPEST) return this.#rest().then(() => this.drive(first, frame))
    this.#nested += 1
    try {
      let step = first
      while (step) {
        const reached = step
        if (this.#tired || this.#work.isLong)
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
      if (this.#nested === 0) this.#leave()
    }
  }

  /** The rest of a branch that has waited once: one promise for all of it, however often it waits. */
  async #driveOn(waiting: Promise<Step | undefined>, frame: Frame): Promise<void> {
    let step = await waiting
    // Others may have been served. Not a turn of its own: a loop whose blocks wait for nothing must rest now and then.
    this.#waited = this.#clock()
    while (step) {
      if (this.#tired || this.#work.isLong) await this.#rest()
      const next = step(frame)
      if (isPromise(next)) this.#leave()
      step = isPromise(next) ? await next : next
      // A wait is a pause: others were served.
      if (isPromise(next)) this.#turnBegan = this.#clock()
    }
    this.#leave()
  }

  /** Something else has its turn. */
  #leave(): void {
    this.#cells[RUNNING_CELL] = 0
  }

  /** A run that has had a long turn lets the event loop go round, so that others are served meanwhile. */
  async #rest(): Promise<void> {
    this.#tired = false
    this.#leave()
    await yieldToEventLoop()
    this.#work.rested()
    this.#turnBegan = this.#clock()
  }
}

/** Calls `over` when the time of a run is over, without that in which it was paused. Returns what ends it. */
export function runTimer(
  steps: Pick<RunSteps, 'paused' | 'late'>,
  milliseconds: number,
  over: (reason: Error) => void,
): () => void {
  /** Added already to the time that the run has. */
  let granted = 0
  let timer = setTimeout(look, milliseconds)
  function look() {
    const more = steps.paused - granted
    if (more <= 0) return over(steps.late())
    granted += more
    timer = setTimeout(look, more)
  }
  return () => clearTimeout(timer)
}
