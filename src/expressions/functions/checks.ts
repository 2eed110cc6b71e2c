import { readIsoDate } from '../../shared/dates/iso-date.ts'
import { isEmptyValue } from '../../shared/field-rule.ts'
import { isEmail, isGuidText, isUrl } from '../../shared/fields/value-forms.ts'
import type { checkFunctions } from '../language/declared/checks.ts'
import type { BodiesOf } from './body-of.ts'
import { numberFromText } from './read-number.ts'

export const checkBodies: BodiesOf<typeof checkFunctions> = {
  isEmpty: (_, value) => isEmptyValue(value),
  isNumber: (_, value) =>
    typeof value === 'string' ? numberFromText(value) !== undefined : typeof value === 'number',
  isDate: (_, value) => typeof value === 'string' && readIsoDate(value) !== undefined,
  isEmail: (_, value) => isEmail(value),
  isUrl: (_, value) => isUrl(value),
  isGuid: (_, value) => isGuidText(value),
}
