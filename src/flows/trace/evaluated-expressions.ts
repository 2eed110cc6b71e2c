/**
 * The expressions of traced runs: each evaluation with its text, its value, and the values of the names that it read. An
 * evaluation is one piece of work without a pause, and may evaluate blocks that have expressions of their own: so those
 * that are open are a stack.
 */
import type { PinExpression } from '../compile/blueprint-graph.ts'
import type { Frame } from '../compile/frame.ts'

type Getter = (frame: Frame) => unknown

/** One evaluation, as it was. */
export interface Evaluation {
  readonly pin: string
  readonly text: string
  /** By name, such as `params.limit`: what was read first. */
  readonly names: Map<string, unknown>
  value: unknown
  /** What was thrown instead. */
  thrown?: unknown
}

/** Of one expression, which may be evaluated for each element of a list. */
const MOST_NAMES = 50

export class EvaluatedExpressions {
  readonly #open: Evaluation[] = []

  /** Evaluates and notes it. */
  evaluate(
    { pin, parsed }: PinExpression,
    get: Getter,
    frame: Frame,
    done: (one: Evaluation) => void,
  ): unknown {
    const evaluation: Evaluation = { pin, text: parsed.text, names: new Map(), value: undefined }
    this.#open.push(evaluation)
    try {
      evaluation.value = get(frame)
      return evaluation.value
    } catch (error) {
      evaluation.thrown = error
      throw error
    } finally {
      this.#open.pop()
      done(evaluation)
    }
  }

  /** Reads a name for the innermost evaluation. */
  read(name: string, get: Getter, frame: Frame): unknown {
    const names = this.#open.at(-1)?.names
    const value = get(frame)
    if (names && !names.has(name) && names.size < MOST_NAMES) names.set(name, value)
    return value
  }
}
