import { fieldChangeOf } from '../../expressions/functions/function-bodies.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Mutation } from '../../shared/mutation.ts'
import { PinError } from '../block.ts'
import type { InPin } from '../pin.ts'
import { mutationField, setField } from './field-mutation.ts'

/** The pins of blocks that write fields: the fields as an object, or mutations of other blocks. */
export const writingPins = {
  set: {
    type: 'object',
    language: 'set',
    help: 'The fields to write, such as { title: body.title, stock: increment(-1), note: unset() }. Fields that are not named stay as they are.',
  },
  mutations: {
    type: 'mutations',
    orPin: 'set',
    help: 'Mutations to apply, after the fields of set.',
  },
} as const satisfies Readonly<Record<string, InPin>>

/** What the pins say, in their order. Throws PinError when they say nothing, INVALID_BODY for a field that cannot be written. */
export function writtenMutations(inputs: {
  readonly set: JsonObject | undefined
  readonly mutations: readonly Mutation[] | undefined
}): readonly Mutation[] {
  const { set, mutations } = inputs
  if (set === undefined) {
    if (mutations === undefined) throw new PinError('mutations', 'is empty')
    return mutations
  }
  const changes: Mutation[] = []
  for (const [field, value] of Object.entries(set)) {
    // A spread document or body brings its own; the cluster writes it, and what was expanded is another document.
    if (field === '_meta' || field.startsWith('_meta.') || field === '_expand') continue
    const change = fieldChangeOf(value)
    changes.push(change ? { ...change, field: mutationField(field) } : setField(field, value, set))
  }
  return mutations === undefined ? changes : [...changes, ...mutations]
}
