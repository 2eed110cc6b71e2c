import type {
  FunctionBody,
  FunctionContext,
  FunctionDeclaration,
  MethodDeclaration,
} from './function-declaration.ts'

/** A function with what it does. */
export interface CallableFunction {
  readonly declaration: FunctionDeclaration
  readonly body: FunctionBody
}

/** What an expression is compiled against. `F`: the frame that each evaluation is given. */
export interface ExpressionHost<F> {
  /** How a name is read; undefined when there is none. Values are JSON, or undefined. Asked once for each place. */
  name(name: string, inBlocks: boolean): ((frame: F) => unknown) | undefined
  /** How a field of a name is read, where that is less work than reading all of it. */
  field?(name: string, inBlocks: boolean, key: string): ((frame: F) => unknown) | undefined
  function(name: string): CallableFunction | undefined
  method(on: MethodDeclaration['on'], name: string): CallableFunction | undefined
  /** The same `now()` for all of one evaluation. */
  context(frame: F): FunctionContext
}
