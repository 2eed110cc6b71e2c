import { callableFunctions } from '../../../expressions/functions/callable-functions.ts'

let known: ReturnType<typeof callableFunctions> | undefined

/** The functions and methods of all expressions, joined at the first use. */
export function callables(): ReturnType<typeof callableFunctions> {
  known ??= callableFunctions()
  return known
}
