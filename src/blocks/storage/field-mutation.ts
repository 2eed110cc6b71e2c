import { invalidField } from '../../shared/errors.ts'
import { fieldNameProblem, parseFieldPath } from '../../shared/field-path.ts'
import { unsentNames } from '../../shared/fields/unsent-fields.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { Mutation } from '../../shared/mutation.ts'
import { PinError } from '../block.ts'

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
