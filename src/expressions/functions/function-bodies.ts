import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { fieldChangeFunctions } from '../language/declared/field-changes.ts'
import type { FunctionBody, MethodDeclaration } from '../language/function-declaration.ts'
import type { BodiesOf } from './body-of.ts'
import { checkBodies } from './checks.ts'
import { conversionBodies } from './conversion.ts'
import { dateBodies } from './dates.ts'
import { listBodies } from './lists.ts'
import { listMethodBodies, numberMethodBodies, textMethodBodies } from './methods.ts'
import { numberBodies } from './numbers.ts'
import { objectBodies } from './objects.ts'
import { randomAndHashBodies } from './random-and-hashes.ts'
import { textBodies } from './text.ts'

export type FieldChange =
  | { readonly op: 'increment'; readonly amount: number }
  | { readonly op: 'append'; readonly value: JsonValue }
  | { readonly op: 'remove' }

/** By the object that stands for the change in the value of an expression: no JSON that a client sends can be one. */
const changes = new WeakMap<object, FieldChange>()

const fieldChangeBodies: BodiesOf<typeof fieldChangeFunctions> = {
  increment: (_, amount) => marked({ op: 'increment', amount }),
  append: (_, value) => marked({ op: 'append', value: value ?? null }),
  unset: () => marked({ op: 'remove' }),
}

function marked(change: FieldChange): JsonObject {
  const mark = { change: change.op }
  changes.set(mark, change)
  return mark
}

/** The change that a value of an expression stands for, if it does. */
export function fieldChangeOf(value: JsonValue): FieldChange | undefined {
  return typeof value === 'object' && value !== null ? changes.get(value) : undefined
}

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
