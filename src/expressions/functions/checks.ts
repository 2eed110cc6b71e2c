import { isEmailAddress } from '../../shared/email-address.ts'
import { isEmptyValue } from '../../shared/field-rule.ts'
import { readIsoDate } from '../../shared/iso-date.ts'
import type { checkFunctions } from '../language/declared/checks.ts'
import type { BodiesOf } from './body-of.ts'
import { numberFromText } from './read-number.ts'

/** Every version: other systems make other ones than Quoin does. */
const GUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
/** As mail servers bound them. */
const LONGEST_EMAIL = 320
const LONGEST_URL = 10_000

export const checkBodies: BodiesOf<typeof checkFunctions> = {
  isEmpty: (_, value) => isEmptyValue(value),
  isNumber: (_, value) =>
    typeof value === 'string' ? numberFromText(value) !== undefined : typeof value === 'number',
  isDate: (_, value) => typeof value === 'string' && readIsoDate(value) !== undefined,
  isEmail: (_, value) => typeof value === 'string' && value.length <= LONGEST_EMAIL && isEmailAddress(value),
  isUrl: (_, value) => {
    if (typeof value !== 'string' || value.length > LONGEST_URL || /\s/.test(value)) return false
    return ['http:', 'https:'].includes(URL.parse(value)?.protocol ?? '')
  },
  isGuid: (_, value) => typeof value === 'string' && GUID.test(value),
}
