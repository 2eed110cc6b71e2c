import { patternProblem } from '../../shared/texts/text-pattern.ts'
import { declaredFunctions, declaredMethods } from '../language/declared/functions.ts'
import { literalProblem } from '../language/literals/literal-problem.ts'
import type { Declarations } from '../language/type-checker.ts'

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
