import { LineError, PinError } from './block.ts'

const LONGEST = 200

/** The name of a channel, as it was given. PinError for one that cannot be. */
export function channelName(pin: string, given: string): string {
  const name = given.trim()
  if (name === '' || name.length > LONGEST) throw new PinError(pin, `must be 1 to ${LONGEST} characters`)
  if (/\p{Cc}/u.test(name)) throw new LineError(pin, 'must not contain control characters')
  return name.toWellFormed()
}
