import type { JsonValue } from '../shared/json.ts'
import { isLargerThan } from '../shared/json-size.ts'
import { PinError } from './block.ts'

/** Far more than a line of a page, for a list that may have a thousand of them. */
const MOST_VALUES = 1_000
const MOST_CHARACTERS = 100_000

/** A value as the text of a page: JSON for an object or a list. Throws PinError for one that is too large to be read. */
export function textOf(pin: string, value: JsonValue | undefined): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'object') return String(value)
  if (isLargerThan(value, MOST_VALUES, MOST_CHARACTERS))
    throw new PinError(pin, 'holds an object or list that is too large to be shown as text')
  return JSON.stringify(value)
}
