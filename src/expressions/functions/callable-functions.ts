import { patternProblem } from '../../shared/texts/text-pattern.ts'
import { declaredFunctions, declaredMethods } from '../language/declared/functions.ts'
import type {
  CallableFunction,
  ExpressionHost,
  FunctionBody,
  FunctionDeclaration,
} from '../language/function-declaration.ts'
import { literalProblem } from '../language/literals/literal-problem.ts'
import type { Declarations } from '../language/type-checker.ts'
import { functionBodies, methodBodies } from './function-bodies.ts'

/** Every function and method with its body, as the compiler of expressions asks for them. Made once, shared by all. */
export function callableFunctions(): Pick<ExpressionHost<never>, 'function' | 'method'> {
  const functions = callable(declaredFunctions(), functionBodies())
  const { text, list, number } = declaredMethods()
  const methods = {
    text: callable(text, methodBodies('text')),
    list: callable(list, methodBodies('list')),
    number: callable(number, methodBodies('number')),
  }
  return { function: (name) => functions.get(name), method: (on, name) => methods[on].get(name) }
}

function callable(
  declared: ReadonlyMap<string, FunctionDeclaration>,
  bodies: ReadonlyMap<string, FunctionBody>,
): ReadonlyMap<string, CallableFunction> {
  const found = new Map<string, CallableFunction>()
  for (const [name, declaration] of declared) {
    const body = bodies.get(name)
    if (body) found.set(name, { declaration, body })
  }
  return found
}

/** What the server checks expressions against: all functions and methods, and texts that are written out. */
export function knownDeclarations(): Declarations {
  return {
    functions: declaredFunctions(),
    methods: declaredMethods(),
    literalProblem: (called, parameter, text) =>
      called === 'matches' && parameter === 'pattern'
        ? patternProblem(text)
        : literalProblem(called, parameter, text),
  }
}
