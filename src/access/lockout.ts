/**
 * The lock of one user, kept in two fields of its record (and of a stand-in for each name that no user has, see
 * `unknown-names.ts`):
 *
 * - open, n failures: `login_attempts` = n below the limit, `locked_until` = 0.
 * - locked: `locked_until` in the future. Nothing is judged and nothing is counted.
 * - lapsed: `locked_until` is past. It is open; the next failure is the first again.
 *
 * A failure moves open to open, or to locked when it reaches the limit. Success and a reset move to open with 0.
 *
 * Attempts are judged after their password was checked, one after the other, each in a transaction that writes the
 * record first: whoever finds it locked by then is refused whatever the password was. So however many guesses arrive at
 * once, on however many nodes, only as many as the limit learn anything.
 */
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import type { Mutation } from '../shared/mutation.ts'
import { numberIn } from '../storage/document-fields.ts'
import type { Session } from '../storage/storage.ts'
import { documentOf } from '../storage/storage.ts'

export const unlocked: readonly Mutation[] = [
  { op: 'set', field: 'login_attempts', value: 0 },
  { op: 'set', field: 'locked_until', value: 0 },
]

/** Refuses if the record is locked. The same words for a user, an unknown name and an address: none tells which. */
export function refuseIfLocked(record: JsonObject, now: number): void {
  const lockedUntil = numberIn(record.locked_until)
  if (lockedUntil > now) throw tooManyAttempts(lockedUntil - now)
}

export function tooManyAttempts(seconds: number): QuoinError {
  return new QuoinError('TOO_MANY_LOGIN_ATTEMPTS', 'Too many failed sign-ins. Wait, then try again.', {
    retryAfter: seconds,
  })
}

/** Counts one failure. Refuses if the record is locked; the caller's transaction is then undone. False if it is gone. */
export async function countFailure(
  session: Session,
  place: { readonly storage: string; readonly guid: string },
  now: number,
  limits: { readonly lockoutAttempts: number; readonly lockoutSeconds: number },
): Promise<boolean> {
  const written = await session.update(place.storage, place.guid, [
    { op: 'increment', field: 'login_attempts', amount: 1 },
  ])
  if (written.outcome !== 'written') return false
  const record = documentOf(written.document)
  refuseIfLocked(record, now)
  const lapsed = numberIn(record.locked_until) > 0
  const failures = lapsed ? 1 : numberIn(record.login_attempts)
  const locks = failures >= limits.lockoutAttempts
  if (lapsed || locks)
    await session.update(place.storage, place.guid, [
      { op: 'set', field: 'login_attempts', value: failures },
      { op: 'set', field: 'locked_until', value: locks ? now + limits.lockoutSeconds : 0 },
    ])
  return true
}
