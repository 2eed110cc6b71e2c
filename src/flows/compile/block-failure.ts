import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'

/** A block failed. Carries what the log needs; a client sees only what `clientError` makes of it. */
export class BlockFailure extends Error {
  readonly block: string
  readonly type: string
  readonly pin: string | undefined
  /** Name of the request's parameter that did not fit; undefined when the request is not to blame. */
  readonly parameter: string | undefined

  constructor(at: { block: string; type: string; pin?: string; parameter?: string }, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'BlockFailure'
    this.block = at.block
    this.type = at.type
    this.pin = at.pin
    this.parameter = at.parameter
  }

  /** The error that the client may see: its own fault, or INTERNAL. */
  clientError(): QuoinError {
    if (this.parameter !== undefined)
      return new QuoinError('INVALID_QUERY', `${this.parameter} ${this.message}`)
    if (this.cause instanceof QuoinError) return this.cause
    return new QuoinError('INTERNAL', 'internal error', { cause: this })
  }

  /** What the block's `error` pin gives. */
  toPin(): JsonObject {
    const { code, message, flow } = this.clientError()
    const told = { code: flow?.code ?? code, message, block: this.block }
    return flow ? { ...told, status: flow.status, ...(flow.details && { details: flow.details }) } : told
  }
}

/** The run itself has to end: deadline, budget, shutdown, stopped at a breakpoint. No `error` pin catches it. */
export class RunStopped extends Error {
  readonly reason: 'deadline' | 'budget' | 'depth' | 'shutdown' | 'failed' | 'stopped'

  constructor(reason: RunStopped['reason'], message: string) {
    super(message)
    this.name = 'RunStopped'
    this.reason = reason
  }
}
