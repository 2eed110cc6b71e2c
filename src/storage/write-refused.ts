/**
 * Processes that only read. Another process on the same database writes; whoever tries to write here is refused, and
 * whoever started the work asks afterwards whether that happened, because the work itself may have caught the error.
 */
import { QuoinError } from '../shared/errors.ts'
import type { Session } from './database.ts'

/** Not for clients: who meets it hands the work to the process that writes. */
export class WriteRefused extends QuoinError {
  constructor() {
    super('UNAVAILABLE', 'This process only reads. Ask the one that writes.')
    this.name = 'WriteRefused'
  }
}

const refused = new WeakSet<Session>()

/** Remembers that the session was to write, and throws {@link WriteRefused}. */
export function refuseWrite(session: Session): never {
  refused.add(session)
  throw new WriteRefused()
}

/** Whether something was refused in this session, ever. */
export function wasRefused(session: Session): boolean {
  return refused.has(session)
}
