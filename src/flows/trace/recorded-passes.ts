/**
 * The passes of a block that touches the world outside and runs a flow for each of its elements, such as `each_page`: what each pass
 * was given, so that a replay runs them again on the present blocks.
 */
import type { JsonObject } from '../../shared/json.ts'
import { andThen, type MaybePromise, recover } from '../../shared/maybe-promise.ts'
import { type Secrets, showValue } from '../values/shown-value.ts'

type PinValues = Readonly<Record<string, unknown>>

/** Of one block: what a trace keeps of blocks outside bounds the bytes. */
const MOST_PASSES = 500
const MOST_BYTES = 64 * 1024

export class RecordedPasses {
  /** null if there were too many to be kept. */
  recorded: JsonObject[] | null = []
  /** The flow of the last pass failed. */
  broke = false
  bytes = 0
  readonly #secrets: Secrets

  constructor(secrets: Secrets) {
    this.#secrets = secrets
  }

  /** Runs one pass and notes what it was given. */
  run(input: PinValues, pass: () => MaybePromise<boolean>): MaybePromise<boolean> {
    this.#note(input)
    return recover(pass, (error) => {
      this.broke = true
      throw error
    })
  }

  #note(input: PinValues): void {
    if (this.recorded === null) return
    const { text, bytes, whole } = showValue(input, this.#secrets, MOST_BYTES - this.bytes)
    this.bytes += bytes
    if (!whole || this.recorded.length >= MOST_PASSES) this.recorded = null
    else this.recorded.push(JSON.parse(text))
  }
}

/** Runs recorded passes one after the other. False when one of them has ended the loop. */
export function runPasses(
  passes: readonly PinValues[],
  pass: (input: PinValues) => MaybePromise<boolean>,
  at = 0,
): MaybePromise<boolean> {
  const input = passes[at]
  if (!input) return true
  return andThen(pass(input), (more) => more && runPasses(passes, pass, at + 1))
}
