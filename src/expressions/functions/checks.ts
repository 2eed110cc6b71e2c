import { readIsoDate } from '../../shared/dates/dates.ts'
import { isEmptyValue } from '../../shared/field-rule.ts'
import { isEmail, isGuidText, isUrl } from '../../shared/fields/value-forms.ts'
import { isJsonObject } from '../../shared/json.ts'
import type { checkFunctions } from '../language/declared/checks.ts'
import type { BodiesOf } from './body-of.ts'
import { spendOnFields } from './bounded.ts'
import { numberFromText } from './numbers.ts'

export const checkBodies: BodiesOf<typeof checkFunctions> = {
  isEmpty: (context, value) => {
    // Its fields are counted, which takes as long as listing them.
    if (isJsonObject(value)) spendOnFields(context, value)
    return isEmptyValue(value)
  },
  isNumber: (_, value) =>
    typeof value === 'string' ? numberFromText(value) !== undefined : typeof value === 'number',
  isDate: (_, value) => typeof value === 'string' && readIsoDate(value) !== undefined,
  isEmail: (_, value) => isEmail(value),
  isUrl: (_, value) => isUrl(value),
  isGuid: (_, value) => isGuidText(value),
}
