import type { Argument, Entry, Expression, Spread } from './expression.ts'
import type { ExpressionError } from './expression-error.ts'
import type { ExpressionHost } from './function-declaration.ts'

/** The values of arrow parameters by slot, one list for each evaluation. */
export type Locals = unknown[]

/** A compiled part. Nothing is undefined or null. */
export type Evaluate<F> = (frame: F, locals: Locals) => unknown

/** What the parts of one expression are compiled with. */
export interface Compiler<F> {
  readonly host: ExpressionHost<F>
  compile(part: Expression): Evaluate<F>
  /** The error of an operand that does not fit: thrown by the caller, so that TypeScript sees the end of the way. */
  error(message: string, operand: Argument | Entry | Spread): ExpressionError
}
