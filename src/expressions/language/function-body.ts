import type { FunctionContext, FunctionDeclaration } from './function-declaration.ts'

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
