import type { FunctionBody, MethodDeclaration } from '../language/function-body.ts'
import { checkBodies } from './checks.ts'
import { conversionBodies } from './conversion.ts'
import { dateBodies } from './dates.ts'
import { fieldChangeBodies } from './field-changes.ts'
import { listMethodBodies } from './list-methods.ts'
import { listBodies } from './lists.ts'
import { numberMethodBodies } from './number-methods.ts'
import { numberBodies } from './numbers.ts'
import { objectBodies } from './objects.ts'
import { randomAndHashBodies } from './random-and-hashes.ts'
import { textBodies } from './text.ts'
import { textMethodBodies } from './text-methods.ts'

/** What each function of `declared/functions.ts` does, by name. */
export function functionBodies(): ReadonlyMap<string, FunctionBody> {
  const bodies = {
    ...textBodies,
    ...numberBodies,
    ...dateBodies,
    ...listBodies,
    ...objectBodies,
    ...conversionBodies,
    ...checkBodies,
    ...fieldChangeBodies,
    ...randomAndHashBodies,
  }
  return new Map<string, FunctionBody>(Object.entries(bodies))
}

/** What each method does, by name. */
export function methodBodies(on: MethodDeclaration['on']): ReadonlyMap<string, FunctionBody> {
  const bodies = { text: textMethodBodies, list: listMethodBodies, number: numberMethodBodies }
  return new Map<string, FunctionBody>(Object.entries(bodies[on]))
}
