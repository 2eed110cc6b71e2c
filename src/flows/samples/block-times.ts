/**
 * The recorder of sampled runs: it keeps how long each block took, and nothing of its values. The time of a block is that of
 * its own work and of the expressions on its pins, without the value blocks that those read; of a block that waits, all of it.
 */
import type { FlowContext } from '../../blocks/context.ts'
import { andThen, recover } from '../../shared/maybe-promise.ts'
import type { Frame } from '../compile/frame.ts'
import type { FlowWork, Gather, Given, ProbedBlock, Recorder } from '../compile/probe.ts'
import { addTime, type StepTimes } from './step-times.ts'

export class BlockTimes implements Recorder {
  readonly all = new Map<ProbedBlock, StepTimes>()
  readonly #now: () => number
  /** Milliseconds for the pins of an execution, by the object of its inputs. */
  readonly #pins = new WeakMap<object, number>()
  /** Milliseconds of the value blocks that were read for the pins which are being read. */
  #pulled = 0

  constructor(now = () => performance.now()) {
    this.#now = now
  }

  pins(_block: ProbedBlock, frame: Frame, gather: Gather): Record<string, unknown> {
    let own = 0
    const inputs = this.#apart(
      () => ({ ...gather(frame) }),
      (took) => {
        own = took
      },
    )
    this.#pins.set(inputs, own)
    return inputs
  }

  value(block: ProbedBlock, inputs: Given, more: Given, work: () => Given): Given {
    return this.#apart(work, (own) => this.#add(block, inputs, more, own))
  }

  flow(block: ProbedBlock, inputs: Given, { more }: FlowContext, work: FlowWork): ReturnType<FlowWork> {
    const began = this.#now()
    const over = () => this.#add(block, inputs, more, this.#now() - began)
    const gave = (given: Given | undefined) => {
      over()
      return given
    }
    return recover(
      () => andThen(work(), gave),
      (error) => {
        over()
        throw error
      },
    )
  }

  #add(block: ProbedBlock, inputs: Given, more: Given, own: number): void {
    const pins = (this.#pins.get(inputs) ?? 0) + (this.#pins.get(more) ?? 0)
    const times = this.all.get(block) ?? new Map<number, number>()
    this.all.set(block, times)
    addTime(times, (pins + own) * 1_000)
  }

  /** What it takes without what is read for it. */
  #apart<T>(work: () => T, took: (own: number) => void): T {
    const before = this.#pulled
    this.#pulled = 0
    const began = this.#now()
    try {
      return work()
    } finally {
      const all = this.#now() - began
      took(all - this.#pulled)
      this.#pulled = before + all
    }
  }
}
