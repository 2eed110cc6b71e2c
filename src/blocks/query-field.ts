import { fieldNameProblem, parseFieldPath } from '../shared/field-path.ts'
import { PinError } from './block.ts'

/** A field's dotted name on a pin `field`; `_meta.…` is allowed. Throws PinError. */
export function queryField(name: string): string {
  try {
    // Good names come from its memory; asking for the problem first would check each name on each search.
    parseFieldPath(name)
    return name
  } catch {
    const problem = fieldNameProblem(name) ?? 'cannot be read'
    throw new PinError('field', name === '' ? problem : `is not a field name: it ${problem}`)
  }
}
