import { fieldChangeOf } from '../../expressions/functions/function-bodies.ts'
import { invalidField } from '../../shared/errors.ts'
import { fieldNameProblem, parseFieldPath } from '../../shared/field-path.ts'
import { unsentNames } from '../../shared/field-rule.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { type MaybePromise, recover } from '../../shared/maybe-promise.ts'
import type { Mutation } from '../../shared/mutation.ts'
import type { WriteCondition } from '../../storage/database.ts'
import type { StoredJson } from '../../storage/stored-json.ts'
import { UniqueConflict } from '../../storage/unique/duplicates.ts'
import { PinError } from '../block.ts'
import type { InPin, OutPin, PerFrame } from '../pin.ts'

/**
 * Sets a field of a document to what came with a request or a wire. What a field may be called and hold is decided here,
 * for all blocks that set fields; that the value is JSON is checked by the storage, which walks it anyway. Throws
 * INVALID_BODY naming the field. `from`: the object that has the field.
 */
export function setField(field: string, value: JsonValue, from?: JsonObject): Mutation {
  const problem = mutationFieldProblem(field)
  if (problem) throw invalidField(field, `The field name ${JSON.stringify(field)} ${problem}.`)
  const unsent = from ? unsentNames(from, field, value) : []
  return unsent.length === 0 ? { op: 'set', field, value } : { op: 'set', field, value, unsent }
}

/** The name on a pin `field`, for blocks that change that field. Throws PinError. */
export function mutationField(name: string): string {
  const problem = mutationFieldProblem(name)
  if (problem === undefined) return name
  throw new PinError('field', name === '' ? problem : `is not a field that can be changed: it ${problem}`)
}

/** Words that finish the sentence "the field name …". */
function mutationFieldProblem(name: string): string | undefined {
  try {
    // Good names come from its memory; asking for the problem first would check each name on each write.
    const [first] = parseFieldPath(name)
    return first === '_meta' ? 'belongs to _meta, which only the cluster writes' : undefined
  } catch {
    return fieldNameProblem(name)
  }
}

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

/** The pin of blocks that change a document only if it is as they need it. */
export const conditionPin = {
  type: 'condition',
  perFrame: true,
  help: 'Makes the change only if this is true of the stored document (doc) as it is at that moment, such as doc.stock >= body.qty.',
} as const satisfies InPin

export const conditionOut = {
  doc: { type: 'document', frame: true, help: 'The document before the change, for the condition at if.' },
  refused: { type: 'flow', help: 'Continues here if the condition at if is not met; nothing was changed.' },
} as const satisfies Readonly<Record<string, OutPin>>

/** The condition of a write in its transaction. Undefined when there is none. */
export function writeCondition(
  condition: PerFrame<boolean> | undefined,
  updateHash?: string,
): WriteCondition | undefined {
  const hash = updateHash ? { updateHash } : undefined
  if (condition === undefined) return hash
  return { ...hash, allows: (doc: StoredJson) => condition({ doc }) === true }
}

/** Out-pins of blocks whose write another document may refuse. */
export const takenOut = {
  taken: {
    type: 'array',
    help: 'After conflict: the names of the unique fields whose values another document has.',
  },
} as const satisfies Readonly<Record<string, OutPin>>

/** What the write gives; where another document has its unique value, what `refused` makes of the names of the fields. */
export function orTaken<T, R>(
  write: () => MaybePromise<T>,
  refused: (taken: string[]) => MaybePromise<R>,
): MaybePromise<T | R> {
  return recover(write, (error) => {
    if (error instanceof UniqueConflict) return refused([...(error.fields ?? [])])
    throw error
  })
}
