/**
 * Where the failures of `lockout.ts` are kept: one record for each user, and for each name that no user has, so that a
 * 429 tells nothing about which names exist. A name is kept as a hash (people type passwords into the wrong field). A
 * record is forgotten when all of its places are, a day after the last failure; an address can add at most as many as
 * it has failures.
 *
 * Attempts are judged after their password was checked, one after the other, each in a transaction that writes this
 * record (or the user's) first: an attempt that finds its place locked by then is refused whatever the password was. So
 * however many guesses arrive at once, on however many nodes, only as many as the limit learn anything.
 */

import { hash } from 'node:crypto'
import type { JsonObject } from '../shared/json.ts'
import type { Mutation } from '../shared/mutation.ts'
import type { Session } from '../storage/database.ts'
import { documentOf } from '../storage/database.ts'
import { guidOf, numberIn, objectsIn, textIn } from '../storage/document-fields.ts'
import { findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import type { SignInPlace } from './known-addresses.ts'
import type { FailedPlace, LockoutLimits } from './lockout.ts'
import { lockedUntil, refuseWhileLocked, withFailure, withoutPlace } from './lockout.ts'

/** Whose failures: a user's, or those of a name that no user has. */
export type Subject = { readonly user: string } | { readonly nameKey: string }

export async function failedPlaces(session: Session, subject: Subject): Promise<readonly FailedPlace[]> {
  return placesIn(await recordOf(session, subject))
}

/**
 * Counts one failure and gives until when its place is now locked, 0 if it is open. Refuses if it is locked already; the
 * caller's transaction is then undone. CONFLICT if another session adds the record at once: do the transaction again.
 */
export async function countFailure(
  session: Session,
  subject: Subject,
  place: SignInPlace,
  now: number,
  limits: LockoutLimits,
): Promise<number> {
  const known = await recordOf(session, subject)
  // Written before it is judged: from here on no other session changes it.
  const held =
    known &&
    (await session.update(systemStorages.failedSignIns, guidOf(known), [
      { op: 'increment', field: 'failures', amount: 1 },
    ]))
  if (held?.outcome !== 'written') {
    const places = withFailure([], place, now, limits)
    await session.create(systemStorages.failedSignIns, [
      { op: 'set', field: 'key', value: keyOf(subject) },
      { op: 'set', field: 'failures', value: 1 },
      ...storedPlaces(places),
    ])
    return lockedUntil(places, place)
  }
  const record = documentOf(held.document)
  const before = placesIn(record)
  refuseWhileLocked(lockedUntil(before, place), now)
  const places = withFailure(before, place, now, limits)
  await session.update(systemStorages.failedSignIns, guidOf(record), storedPlaces(places))
  return lockedUntil(places, place)
}

/** After a success. The user's record is written, so nothing is counted meanwhile. */
export async function forgetPlace(session: Session, subject: Subject, place: SignInPlace): Promise<void> {
  const record = await recordOf(session, subject)
  const before = placesIn(record)
  const places = withoutPlace(before, place)
  if (record && places !== before)
    await session.update(systemStorages.failedSignIns, guidOf(record), storedPlaces(places))
}

/** Opens every place. The user's record is written, so nothing is counted meanwhile. */
export async function forgetFailures(session: Session, subject: Subject): Promise<void> {
  const record = await recordOf(session, subject)
  if (record) await session.delete(systemStorages.failedSignIns, guidOf(record))
}

async function recordOf(session: Session, subject: Subject): Promise<JsonObject | undefined> {
  return findOne(session, systemStorages.failedSignIns, 'key', keyOf(subject))
}

/** Names have no line breaks at their ends, so a user's key is never that of a name. */
function keyOf(subject: Subject): string {
  return hash('sha256', 'user' in subject ? `user\n${subject.user}\n` : subject.nameKey, 'hex')
}

function storedPlaces(places: readonly FailedPlace[]): Mutation[] {
  return [
    { op: 'set', field: 'places', value: places },
    { op: 'set', field: 'until', value: Math.max(0, ...places.map(({ until }) => until)) },
  ]
}

function placesIn(record: JsonObject | undefined): readonly FailedPlace[] {
  return objectsIn(record?.places).map(({ place, failed, locked_until, until }) => ({
    place: textIn(place),
    failed: numberIn(failed),
    locked_until: numberIn(locked_until),
    until: numberIn(until),
  }))
}
