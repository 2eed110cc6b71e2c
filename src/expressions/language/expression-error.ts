import type { Place } from './expression.ts'
import type { NameUse } from './expression-names.ts'

/** An expression met a value that it cannot use. The message is a sentence: what was wrong and what to do. */
export class ExpressionError extends Error {
  /** Of the operand that does not fit: zero-based columns of the expression, `end` behind the last character. */
  readonly start: number
  readonly end: number
  /** What the operand was read from. The caller decides by them whether the request is to blame. */
  readonly names: readonly NameUse[]
  /** The message without the value that did not fit, for those who may not see it. */
  withoutValue: string
  /** What the operand must be, for the client that sent it: nothing of the expression. */
  ofOperand: string | undefined

  constructor(message: string, place: Place, names: readonly NameUse[]) {
    super(message)
    this.name = 'ExpressionError'
    this.start = place.start
    this.end = place.end
    this.names = names
    this.withoutValue = message
  }
}
