import { functionBodies, methodBodies } from '../src/expressions/functions/function-bodies.ts'
import { ArgumentError, type FunctionContext } from '../src/expressions/language/function-declaration.ts'
import { functionContext } from './function-context.ts'

const bodies = functionBodies()
const ofTexts = methodBodies('text')

/** What a function gives, or `<parameter> <what is wrong>`. */
export function callFunction(
  name: string,
  input: readonly unknown[],
  context: FunctionContext = functionContext(),
): unknown {
  return outcome(() => bodies.get(name)?.(context, ...input))
}

/** As {@link callFunction}, for a method of texts. */
export function callTextMethod(name: string, input: readonly unknown[]): unknown {
  return outcome(() => ofTexts.get(name)?.(functionContext(), ...input))
}

function outcome(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    if (error instanceof ArgumentError) return `${error.parameter} ${error.message}`
    throw error
  }
}
