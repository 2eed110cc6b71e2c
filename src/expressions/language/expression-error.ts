import type { NameUse, Place } from './expression.ts'

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

/** What is wrong with an expression, and where in its text: zero-based columns, `end` behind the last character. */
export interface ExpressionProblem {
  readonly message: string
  readonly start: number
  readonly end: number
}

/** Ends the reading of an expression; the parser makes a problem of it. */
export class RefusedNode extends Error {
  readonly place: Place

  constructor(message: string, place: Place) {
    super(message)
    this.name = 'RefusedNode'
    this.place = { start: place.start, end: place.end }
  }
}
