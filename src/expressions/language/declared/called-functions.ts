import type { Argument, Entry, Expression, Spread } from '../expression.ts'
import { partsOf } from '../expression-parts.ts'
import type { FunctionDeclaration } from '../function-declaration.ts'
import { declaredFunctions } from './functions.ts'

export interface CalledFunctions {
  /** Whether it calls a function or a method at all. */
  readonly calls: boolean
  /** What the functions that it calls look at beside their arguments. */
  readonly varies: ReadonlySet<NonNullable<FunctionDeclaration['varies']>>
  /** Of functions, without methods. */
  readonly names: ReadonlySet<string>
}

export function calledFunctions(root: Expression): CalledFunctions {
  const declared = declaredFunctions()
  const varies = new Set<NonNullable<FunctionDeclaration['varies']>>()
  const names = new Set<string>()
  let calls = false
  const queue: (Argument | Entry | Spread)[] = [root]
  for (let part = queue.pop(); part; part = queue.pop()) {
    queue.push(...partsOf(part))
    if (part.kind === 'method') calls = true
    if (part.kind !== 'call') continue
    calls = true
    names.add(part.name)
    const way = declared.get(part.name)?.varies
    if (way) varies.add(way)
  }
  return { calls, varies, names }
}
