/**
 * The work of a run's expressions in one turn of the event loop. An evaluation cannot pause, so that the one that exceeds the
 * bound is ended; a run that has worked for a while rests before its next step.
 *
 * A block may wait on its own between two evaluations, which ends the turn too. So turns are numbered, by a callback that is
 * asked for once in a turn, and only where there was work of {@link LOOK} or more: less costs an addition.
 */
import { mostWork } from '../../shared/expression-work.ts'
import { RunStopped } from '../compile/block-failure.ts'

/** Work between two looks at the number of the turn: 0.5 ms. */
const LOOK = 5_000
/** After so much the run rests before the next step: 5 ms. */
const LONG = 50_000

export class TurnWork {
  #done = 0
  #next = LOOK
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
    this.#next = LOOK
  }

  #look(last: number): void {
    const turn = numberOfTurn()
    if (turn !== this.#turn) this.#done = last
    this.#turn = turn
    this.#next = this.#done + LOOK
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
