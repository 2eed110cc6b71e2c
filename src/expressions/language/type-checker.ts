import type { Argument, Expression, Place, Spread } from './expression.ts'
import type { ExpressionProblem } from './expression-error.ts'
import type { FunctionDeclaration, MethodDeclaration } from './function-declaration.ts'
import type { ObjectType, ValueType } from './value-types.ts'

export interface TypeProblem extends ExpressionProblem {
  /** `refused`: fails in each run, but is no error of the compiler, which reads blocks that are active at each start. */
  readonly severity: 'error' | 'refused' | 'warning'
}

export interface Declarations {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>
  readonly methods: Readonly<Record<MethodDeclaration['on'], ReadonlyMap<string, MethodDeclaration>>>
  /** What keeps a text that is written out from an argument, as the function would say it: a pattern, a time zone, a unit. */
  literalProblem?(called: string, parameter: string, text: string): string | undefined
}

/** What an expression is checked against. */
export interface TypeSources {
  /** The type of a name; undefined when there is none. */
  typeOf(name: string, inBlocks: boolean): ValueType | undefined
  /** Every name that could have been meant. */
  readonly names: readonly string[]
  readonly declarations: Declarations
  /** Hears of fields that the fields of a storage do not list. */
  unlisted?(of: ObjectType, key: string, place: Place): void
  /** What the pin wants. */
  readonly expected?: ValueType
}

/** The types of arrow parameters by slot. */
export type ParameterTypes = readonly ValueType[]

/** What the checks of the kinds of parts share. */
export interface TypeChecker {
  readonly sources: TypeSources
  type(part: Expression, parameters: ParameterTypes): ValueType
  report(severity: TypeProblem['severity'], message: string, place: Place): void
}

export type Checked = Argument | Spread
