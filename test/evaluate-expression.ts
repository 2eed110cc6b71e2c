import { callableFunctions } from '../src/expressions/functions/callable-functions.ts'
import { compileExpression } from '../src/expressions/language/compile/compile-expression.ts'
import type { FunctionContext } from '../src/expressions/language/function-declaration.ts'
import { parseExpression } from '../src/expressions/language/parse-expression.ts'
import { functionContext } from './function-context.ts'

export type Names = Readonly<Record<string, unknown>>

const callables = callableFunctions()

/** An expression over names with fixed values. `blocks.NAME` reads the name `blocks.NAME`. */
function compiledText(text: string, context: FunctionContext = functionContext()): (names: Names) => unknown {
  const { expression, problem } = parseExpression(text)
  if (!expression) throw new SyntaxError(`${problem.message} ${problem.start}-${problem.end}`)
  return compileExpression<Names>(expression, {
    ...callables,
    name: (name, inBlocks) => {
      const key = inBlocks ? `blocks.${name}` : name
      return (names) => (Object.hasOwn(names, key) ? names[key] : undefined)
    },
    context: () => context,
  })
}

export function evaluateText(text: string, names: Names = {}, context?: FunctionContext): unknown {
  return compiledText(text, context)(names)
}
