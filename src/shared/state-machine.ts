/**
 * A thing that is in one mode at a time. Which mode may follow which is a table, so that an unexpected step is
 * an error at once, where it is made, and no wrong state that shows later and elsewhere.
 */
import { QuoinError } from './errors.ts'

/** The modes that may follow each mode. */
export type Transitions<Mode extends string> = { readonly [From in Mode]: readonly Mode[] }

/** Gives the mode that follows. Throws INTERNAL where the table does not allow it: then the program itself is wrong. */
export function nextMode<Mode extends string>(
  thing: string,
  transitions: Transitions<Mode>,
  from: Mode,
  to: Mode,
): Mode {
  if (!transitions[from].includes(to))
    throw new QuoinError('INTERNAL', `${thing} cannot go from ${from} to ${to}.`)
  return to
}
