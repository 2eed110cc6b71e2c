import { isLargerThan, type JsonValue } from '../../shared/json.ts'
import { PinError } from '../block.ts'

const LONGEST = 65_536

/** A message as JSON. PinError for one that is too long. */
export function messageText(pin: string, value: JsonValue | undefined): string {
  const text = isLargerThan(value ?? null, LONGEST, LONGEST) ? undefined : JSON.stringify(value ?? null)
  if (text === undefined || text.length > LONGEST)
    throw new PinError(pin, `must be at most ${LONGEST.toLocaleString('en-US')} characters as JSON`)
  return text
}
