import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { fieldChangeFunctions } from '../language/declared/field-changes.ts'
import type { BodiesOf } from './body-of.ts'

export type FieldChange =
  | { readonly op: 'increment'; readonly amount: number }
  | { readonly op: 'append'; readonly value: JsonValue }
  | { readonly op: 'remove' }

/** By the object that stands for the change in the value of an expression: no JSON that a client sends can be one. */
const changes = new WeakMap<object, FieldChange>()

export const fieldChangeBodies: BodiesOf<typeof fieldChangeFunctions> = {
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
