/**
 * Failures on names that no user has are counted and lock like a user's, so that nobody learns from a 429 which names
 * exist. A name is kept as a hash (people type passwords into the wrong field) and forgotten a day after its last
 * failure. An address can add at most as many as it has failures.
 */
import { hash } from 'node:crypto'
import type { JsonObject } from '../shared/json.ts'
import { guidOf } from '../storage/document-fields.ts'
import { findOne } from '../storage/find-documents.ts'
import type { Session } from '../storage/storage.ts'
import { countFailure } from './lockout.ts'

export const UNKNOWN_NAMES = '_signin_names'
const REMEMBERED_SECONDS = 86_400

export async function unknownName(session: Session, nameKey: string): Promise<JsonObject | undefined> {
  return findOne(session, UNKNOWN_NAMES, 'key', hash('sha256', nameKey, 'hex'))
}

/** As {@link countFailure}. CONFLICT if another session adds the name at the same time: do the transaction again. */
export async function countUnknownName(
  session: Session,
  nameKey: string,
  now: number,
  limits: { readonly lockoutAttempts: number; readonly lockoutSeconds: number },
): Promise<void> {
  const known = await unknownName(session, nameKey)
  const forget = { op: 'set', field: 'until', value: now + REMEMBERED_SECONDS } as const
  const record = known ? guidOf(known) : undefined
  if (
    record !== undefined &&
    (await countFailure(session, { storage: UNKNOWN_NAMES, guid: record }, now, limits))
  )
    await session.update(UNKNOWN_NAMES, record, [forget])
  else
    await session.create(UNKNOWN_NAMES, [
      { op: 'set', field: 'key', value: hash('sha256', nameKey, 'hex') },
      { op: 'set', field: 'login_attempts', value: 1 },
      {
        op: 'set',
        field: 'locked_until',
        value: limits.lockoutAttempts <= 1 ? now + limits.lockoutSeconds : 0,
      },
      forget,
    ])
}
