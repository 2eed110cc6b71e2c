import { mostElements } from './compile/part-work.ts'
import type { Compiler } from './evaluate.ts'
import type { Call, MethodCall } from './expression.ts'
import { ArgumentError, type Parameter } from './function-declaration.ts'
import { checkNewText } from './new-text.ts'

/** What a function gives must fit into the bounds of values. */
export function resultCheck<F>(
  part: Call | MethodCall,
  compiler: Compiler<F>,
): (result: unknown, frame: F) => unknown {
  return (result, frame) => {
    switch (typeof result) {
      case 'string':
        return result.length < 1_000 ? result : checkNewText(result, part, frame, compiler)
      case 'number':
        if (Number.isFinite(result)) return result
        throw compiler.error(`The result of ${part.name} is not a finite number.`, part)
      case 'object':
        if (!Array.isArray(result) || result.length <= mostElements) return result
        throw compiler.error(
          `${part.name} gives a list of more than ${mostElements.toLocaleString('en')} elements.`,
          part,
        )
      default:
        return result
    }
  }
}

/** Of an error that a body threw: where it is in the expression. */
export function callExplainer<F>(
  part: Call | MethodCall,
  parameters: readonly Parameter[],
  compiler: Compiler<F>,
): (error: unknown) => unknown {
  return (error) => {
    if (!(error instanceof ArgumentError)) return error
    const at = parameters.findIndex(({ name }) => name === error.parameter)
    const receiver = part.kind === 'method' ? part.of : part
    const operand = at < 0 ? receiver : part.arguments[Math.min(at, part.arguments.length - 1)]
    const failed = compiler.error(`${part.name}: ${error.parameter} ${error.message}.`, operand ?? part)
    failed.withoutValue = `${part.name}: ${error.parameter} does not fit.`
    failed.ofOperand = error.message
    return failed
  }
}

/** The end of a message about a name that is unknown. */
export function didYouMean(name: string | undefined): string {
  return name === undefined ? '' : ` Did you mean ${name}?`
}
