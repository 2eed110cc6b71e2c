import { PinError } from './block.ts'

const NAME = /^[\p{L}\p{N}_][\p{L}\p{N} _.:-]{0,127}$/u

/** A custom function's name without spaces around it. Throws PinError for one that cannot be. */
export function functionName(pin: string, written: string): string {
  const name = written.trim()
  if (NAME.test(name)) return name
  throw new PinError(
    pin,
    'must be 1 to 128 letters, digits, spaces and _ . : -, and start with a letter or digit',
  )
}
