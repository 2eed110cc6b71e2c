import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { ValueType } from './value-types.ts'

/**
 * What a parameter takes. `item` and `items`: an element of the list that the function is about, and that list; `arrow`: an
 * arrow function over one element (and its index), that gives a value of the type `gives`.
 */
export type ParameterType =
  | ValueType
  | { readonly kind: 'item' }
  | { readonly kind: 'items' }
  | {
      readonly kind: 'arrow'
      readonly gives: 'any' | 'condition' | 'number'
      readonly takes: 'item' | 'reduced'
    }

export interface Parameter {
  readonly name: string
  readonly type: ParameterType | readonly ParameterType[]
  readonly optional?: true
  /** Takes nothing as a value. Without it, nothing as the first argument makes the result nothing, later ones are an error. */
  readonly takesNothing?: true
  /** The last one: takes any number of arguments. */
  readonly rest?: true
}

export type ObjectResult = 'picked' | 'omitted' | 'merged'

/** One line of the table of functions: the checker, completion, help and the docs page are drawn from it. */
export interface FunctionDeclaration {
  readonly name: string
  readonly parameters: readonly Parameter[]
  /**
   * `item`, `items`: as the list that it got; `arrow`: what its arrow function gives; `arrows`: a list of that; `picked`,
   * `omitted`: fields of the object that it got; `merged`: those of all objects.
   */
  readonly gives: ValueType | 'item' | 'items' | 'arrow' | 'arrows' | ObjectResult
  /** One sentence for the builder. */
  readonly help: string
  /** An expression without names, and what it gives; the suite runs it. Undefined result: another one each time. */
  readonly example: string
  readonly result?: JsonValue
  /** How long a call takes beside what its body spends by the size of what it is given: see `shared/expression-work.ts`. */
  readonly work?: number
  /** Gives another value each time, or to each visitor: its value is never kept. */
  readonly varies?: 'clock' | 'random' | 'language'
}

/** What a function may see of the world beside its arguments. */
export interface FunctionContext {
  /** Milliseconds since 1970, the same within one evaluation. */
  now(): number
  /** Bytes that cannot be guessed. */
  random(bytes: number): Uint8Array
  /** IANA name. */
  readonly timeZone: string
  /** BCP 47. */
  readonly locale: string
  /**
   * The text of a key in a language, else in that of the visitor; undefined where there is none. Only where something belongs to an
   * application.
   */
  translate?(key: string, values: JsonObject, language: string | undefined): string | undefined
  /**
   * Takes from the run's budget: one for each element that a function of lists looks at. `work`: how long that takes, as
   * `shared/expression-work.ts` counts it; if not given, {@link elementWork} for each element. Throws when either is used up.
   */
  spend(elements: number, work?: number): void
}

/** A value that a function cannot use. `message` finishes the sentence "<parameter> …". */
export class ArgumentError extends Error {
  readonly parameter: string

  constructor(parameter: string, message: string) {
    super(message)
    this.name = 'ArgumentError'
    this.parameter = parameter
  }
}

/**
 * What a function or method does with its arguments, in the order of the declaration; a method gets its text, list or number
 * first. Kinds and required arguments are checked before. Nothing arrives as undefined, at the top and never as null; an
 * arrow as a JavaScript function of element and index, or of what was reduced, element and index. A result of undefined is
 * nothing. A value that does not fit is an `ArgumentError`. The body itself calls `context.spend` and stays within
 * `mostCharacters` and `mostElements`. (Written as a method, so that parameters may be declared more narrowly.)
 */
export type FunctionBody = { body(context: FunctionContext, ...values: readonly unknown[]): unknown }['body']

/** A method of texts, lists or numbers: `title.trim()`. The parameters are those between the parentheses. */
export interface MethodDeclaration extends FunctionDeclaration {
  readonly on: 'text' | 'list' | 'number'
}

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
