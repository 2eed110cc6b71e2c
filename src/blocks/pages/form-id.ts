import { PinError } from '../block.ts'

/** A name for a form or table that may stand in an address and in HTML. Throws PinError for the pin. */
export function formId(pin: string, written: string): string {
  if (/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(written)) return written
  throw new PinError(pin, 'must be 1 to 64 letters, digits, _ or -, and begin with a letter')
}
