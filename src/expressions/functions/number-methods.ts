import type { numberMethods } from '../language/declared/number-methods.ts'
import { ArgumentError } from '../language/function-declaration.ts'
import type { MethodBodiesOf } from './body-of.ts'

/** As JavaScript has it. */
const MOST_DIGITS = 100

export const numberMethodBodies: MethodBodiesOf<'number', typeof numberMethods> = {
  toFixed: (_, value, digits = 0) => {
    if (digits < 0 || digits > MOST_DIGITS)
      throw new ArgumentError('digits', `must be from 0 to ${MOST_DIGITS}`)
    return value.toFixed(digits)
  },
  toString: (_, value) => String(value),
}
