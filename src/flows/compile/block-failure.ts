import { LineError, MissingError, OutdatedPin, PinError } from '../../blocks/block.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'

interface FailurePlace {
  readonly block: string
  readonly type: string
  readonly pin?: string | undefined
  readonly parameter?: string | undefined
  readonly argument?: string | undefined
  readonly problem?: string | undefined
  readonly elements?: readonly number[]
  readonly inputs?: Inputs | undefined
}

type Inputs = Readonly<Record<string, unknown>>

/** A block failed. Carries what the log needs; a client sees only what `clientError` makes of it. */
export class BlockFailure extends Error {
  readonly block: string
  readonly type: string
  readonly pin: string | undefined
  /** Name of the request's parameter that did not fit; undefined when the request is not to blame. */
  readonly parameter: string | undefined
  /** Name of the parameter that its custom function was called with and that did not fit. */
  readonly argument: string | undefined
  /** What is wrong with that parameter, for the client, where the message shows the inside of the flow. */
  readonly problem: string | undefined
  /** Which element of a list it was about, from 0, the outermost list last. */
  readonly elements: readonly number[]
  /** What its pins got, for the record of the run; undefined where the failure was to work them out. */
  readonly inputs: Inputs | undefined

  constructor(at: FailurePlace, cause: unknown) {
    super(`${elementText(at.elements ?? [])}${pinText(at, cause)}${saidBy(cause)}`, { cause })
    this.name = 'BlockFailure'
    this.block = at.block
    this.type = at.type
    this.pin = at.pin
    this.parameter = at.parameter
    this.argument = at.argument
    this.problem = at.problem
    this.elements = at.elements ?? []
    this.inputs = at.inputs
  }

  /** The same failure, with more known of where it happened. */
  at(more: Partial<FailurePlace>): BlockFailure {
    return new BlockFailure({ ...this, ...more }, this.cause)
  }

  /** Whether a deploy would refuse the block now: its builder has to change it, so the log names it whatever the client is told. */
  get isOutdated(): boolean {
    return this.cause instanceof OutdatedPin && this.parameter === undefined
  }

  /** Whether a text that no parameter gave as it is, such as that of a document, does not fit its line: the log names block and pin. */
  get isMadeLine(): boolean {
    return this.cause instanceof LineError && this.parameter === undefined
  }

  /** The error that the client may see: its own fault, what a deploy would say of the block, or INTERNAL. */
  clientError(): QuoinError {
    const { cause, parameter } = this
    if (parameter !== undefined) {
      const message = `${elementText(this.elements)}${parameter} ${this.problem ?? saidBy(cause)}`
      if (cause instanceof MissingError) return new QuoinError('NOT_FOUND', message)
      return new QuoinError('INVALID_QUERY', message, { fields: [parameter], cause: this })
    }
    if (this.isOutdated) return this.#asOfDeploy()
    if (this.isMadeLine)
      return new QuoinError('INVALID_QUERY', `${elementText(this.elements)}${this.pin} ${saidBy(cause)}`)
    if (!(cause instanceof QuoinError)) return new QuoinError('INTERNAL', 'internal error', { cause: this })
    const { code, fields, outside } = cause
    if (outside !== undefined)
      return new QuoinError(code, `${elementText(this.elements)}${outside}`, { fields, cause: this })
    if (this.elements.length === 0) return cause
    return new QuoinError(code, this.message, { ...cause, cause: cause.cause ?? cause })
  }

  #asOfDeploy(): QuoinError {
    const message = `${elementText(this.elements)}The pin ${this.pin} ${saidBy(this.cause)}.`
    const problem = { block: this.block, ...(this.pin !== undefined && { pin: this.pin }), message }
    const reported = `The blueprint cannot run with the present fields of documents. ${message}`
    return new QuoinError('VALIDATION_FAILED', reported, { problems: [problem], cause: this })
  }

  /** What the block's `error` pin gives. */
  toPin(): JsonObject {
    const { code, message, flow } = this.clientError()
    const index = this.elements.at(-1)
    const reported = {
      code: flow?.code ?? code,
      message,
      block: this.block,
      ...(index !== undefined && { index }),
    }
    return flow
      ? { ...reported, status: flow.status, ...(flow.details && { details: flow.details }) }
      : reported
  }
}

/** `element 2: element 7: `, the outermost first. */
function elementText(elements: readonly number[]): string {
  return elements
    .toReversed()
    .map((index) => `element ${index}: `)
    .join('')
}

/** What a block says of a value finishes the sentence "The pin …". */
function pinText({ pin }: FailurePlace, cause: unknown): string {
  return cause instanceof PinError && pin !== undefined ? `The pin ${pin} ` : ''
}

function saidBy(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

/** What failed for one element of a list, told with its position. What stops the whole run is about no element. */
export function atElement(error: unknown, index: number): unknown {
  return error instanceof BlockFailure ? error.at({ elements: [...error.elements, index] }) : error
}

/** The same failure where the client chose the arguments of the function: one that does not fit is the fault of the client. */
export function ofArgument(error: unknown): unknown {
  return error instanceof BlockFailure ? error.at({ parameter: error.parameter ?? error.argument }) : error
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
