/**
 * Which flow the event loop is executing, for the watchdog's thread, which reads it while this thread is blocked: a number
 * in memory that both share, written before each block (1 ns) and 0 between runs, and the flow of each number.
 */
import type { CompiledFlow } from '../compile/frame.ts'

export interface FlowName {
  readonly blueprint: string
  /** Guid of the trigger. */
  readonly block: string
  /** Guid of the space that it is in. */
  readonly space?: string
}

/** Where the number lies in `cells`. */
export const RUNNING_CELL = 0
/** Beside it: how often the event loop has turned since the watchdog counts. */
export const TURNS_CELL = 1

/** All flows of a process, those of its spaces too. */
interface NumberedFlows {
  /** By number, from 1. As many as triggers have run since the start: the flows of one trigger, such as copies that are replayed, share it. */
  readonly names: FlowName[]
  /** By blueprint and trigger: asked once for a flow. */
  readonly known: Map<string, number>
  reported: ((number: number, name: FlowName) => void) | undefined
}

export class RunningFlow {
  readonly cells: Int32Array
  readonly #numbers = new WeakMap<CompiledFlow, number>()
  readonly #all: NumberedFlows
  readonly #space: string | undefined

  /** `process`: whose cells and numbers the flows of a space share. */
  constructor(process?: RunningFlow, space?: string) {
    this.cells = process?.cells ?? new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
    this.#all = process ? process.#all : { names: [], known: new Map(), reported: undefined }
    this.#space = space
  }

  numberOf(flow: CompiledFlow, blueprint: string): number {
    const own = this.#numbers.get(flow)
    if (own !== undefined) return own
    const { names, known, reported } = this.#all
    const space = this.#space
    const name = { blueprint, block: flow.trigger, ...(space !== undefined && { space }) }
    const key = `${space ?? ''} ${blueprint} ${flow.trigger}`
    const shared = known.get(key)
    const number = shared ?? names.push(name)
    this.#numbers.set(flow, number)
    if (shared === undefined) {
      known.set(key, number)
      reported?.(number, name)
    }
    return number
  }

  /** Tells all names that there are, and each further one before its flow runs. */
  follow(reported: (number: number, name: FlowName) => void): void {
    this.#all.reported = reported
    for (const [index, name] of this.#all.names.entries()) reported(index + 1, name)
  }
}
