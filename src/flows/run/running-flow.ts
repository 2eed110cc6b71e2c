/**
 * Which flow the event loop is executing, for the watchdog's thread, which reads it while this thread is blocked: a number
 * in memory that both share, written before each block (1 ns) and 0 between runs, and the flow of each number.
 */
import type { CompiledFlow } from '../compile/frame.ts'

export interface FlowName {
  readonly blueprint: string
  /** Guid of the trigger. */
  readonly block: string
}

/** Where the number lies in `cells`. */
export const RUNNING_CELL = 0
/** Beside it: how often the event loop has turned since the watchdog counts. */
export const TURNS_CELL = 1

export class RunningFlow {
  readonly cells = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
  /** By number, from 1. As many as triggers have run since the start: the flows of one trigger, such as copies that are replayed, share it. */
  readonly #names: FlowName[] = []
  readonly #numbers = new WeakMap<CompiledFlow, number>()
  /** By blueprint and trigger: asked once for a flow. */
  readonly #known = new Map<string, number>()
  #reported: ((number: number, name: FlowName) => void) | undefined

  numberOf(flow: CompiledFlow, blueprint: string): number {
    const known = this.#numbers.get(flow)
    if (known !== undefined) return known
    const name = { blueprint, block: flow.trigger }
    const key = `${blueprint} ${flow.trigger}`
    const shared = this.#known.get(key)
    const number = shared ?? this.#names.push(name)
    this.#numbers.set(flow, number)
    if (shared === undefined) {
      this.#known.set(key, number)
      this.#reported?.(number, name)
    }
    return number
  }

  /** Tells all names that there are, and each further one before its flow runs. */
  follow(reported: (number: number, name: FlowName) => void): void {
    this.#reported = reported
    for (const [index, name] of this.#names.entries()) reported(index + 1, name)
  }
}
