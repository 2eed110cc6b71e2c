import { declaredFunctions } from '../../../expressions/language/declared/functions.ts'
import type { Argument, Entry, Expression, Spread } from '../../../expressions/language/expression.ts'
import { partsOf } from '../../../expressions/language/expression-parts.ts'
import type { FunctionDeclaration } from '../../../expressions/language/function-declaration.ts'

export interface CalledFunctions {
  /** Whether it calls a function or a method at all. */
  readonly calls: boolean
  /** What the functions that it calls look at beside their arguments. */
  readonly varies: ReadonlySet<NonNullable<FunctionDeclaration['varies']>>
}

export function calledFunctions(root: Expression): CalledFunctions {
  const declared = declaredFunctions()
  const varies = new Set<NonNullable<FunctionDeclaration['varies']>>()
  let calls = false
  const queue: (Argument | Entry | Spread)[] = [root]
  for (let part = queue.pop(); part; part = queue.pop()) {
    queue.push(...partsOf(part))
    if (part.kind === 'method') calls = true
    if (part.kind !== 'call') continue
    calls = true
    const way = declared.get(part.name)?.varies
    if (way) varies.add(way)
  }
  return { calls, varies }
}
