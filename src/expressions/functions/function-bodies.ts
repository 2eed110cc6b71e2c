import type { FunctionBody, MethodDeclaration } from '../language/function-body.ts'
import { listMethodBodies } from './list-methods.ts'
import { listBodies } from './lists.ts'
import { numberMethodBodies } from './number-methods.ts'
import { numberBodies } from './numbers.ts'
import { textBodies } from './text.ts'
import { textMethodBodies } from './text-methods.ts'

/** What each function of `declared/functions.ts` does, by name. */
export function functionBodies(): ReadonlyMap<string, FunctionBody> {
  return new Map<string, FunctionBody>(Object.entries({ ...textBodies, ...numberBodies, ...listBodies }))
}

/** What each method does, by name. */
export function methodBodies(on: MethodDeclaration['on']): ReadonlyMap<string, FunctionBody> {
  const bodies = { text: textMethodBodies, list: listMethodBodies, number: numberMethodBodies }
  return new Map<string, FunctionBody>(Object.entries(bodies[on]))
}
