/**
 * Locks after failed sign-ins, per user (or name that no user has) and place: see `known-addresses.ts`. Each place is in
 * one of three states:
 *
 * - open, n failures in a row: `failed` = n below the limit, `locked_until` = 0.
 * - locked: `locked_until` in the future. Nothing from there is judged and nothing is counted.
 * - lapsed: `locked_until` is past, or nothing failed for a day. It is open; the next failure is the first again.
 *
 * A failure moves open to open, or to locked when it reaches the limit. Success moves its place to open with 0; a reset
 * and a new password all places.
 *
 * Networks from which the user never signed in are also counted together, as the place `*`, which is locked by ten times
 * as many failures: guesses that are spread over a thousand networks are locked out like those from one, and the user is
 * still let in from where it signed in before. The failures of `*` are counted for a day from the first; success does
 * not end them, or a user who signs in each hour would allow 100 guesses an hour.
 */
import { QuoinError } from '../shared/errors.ts'
import type { SignInPlace } from './known-addresses.ts'

export interface LockoutLimits {
  readonly lockoutAttempts: number
  readonly lockoutSeconds: number
}

/** The failures of one place. Times in Unix seconds. */
export type FailedPlace = {
  readonly place: string
  readonly failed: number
  readonly locked_until: number
  /** When it is forgotten. */
  readonly until: number
}

/** All networks from which the user never signed in. */
const ELSEWHERE = '*'
const ELSEWHERE_TIMES = 10
const REMEMBERED_SECONDS = 86_400
/**
 * More are never open at once under the default limits: 100 failures from unknown networks, 20 known addresses and their
 * networks. What goes beyond is the oldest that is not locked; its failures stay counted in `*`.
 */
const MOST_PLACES = 150

/** Until when sign-ins from the place are refused; not in the future if they are not. */
export function lockedUntil(places: readonly FailedPlace[], { key, known }: SignInPlace): number {
  const refusing = places.filter(({ place }) => place === key || (!known && place === ELSEWHERE))
  return Math.max(0, ...refusing.map(({ locked_until }) => locked_until))
}

/** Refuses while locked. The same words for a user, an unknown name and an address: none tells which. */
export function refuseWhileLocked(until: number, now: number): void {
  if (until > now) throw tooManyAttempts(until - now)
}

export function tooManyAttempts(seconds: number): QuoinError {
  return new QuoinError('TOO_MANY_LOGIN_ATTEMPTS', 'Too many failed sign-ins. Wait, then try again.', {
    retryAfter: seconds,
  })
}

/** The places after one more failure. */
export function withFailure(
  places: readonly FailedPlace[],
  { key, known }: SignInPlace,
  now: number,
  { lockoutAttempts, lockoutSeconds }: LockoutLimits,
): readonly FailedPlace[] {
  const counted = new Map(places.map((place) => [place.place, place]))
  const count = (place: string, limit: number, lasting: (before: FailedPlace | undefined) => number) => {
    const stored = counted.get(place)
    const before = stored && !hasLapsed(stored, now) ? stored : undefined
    const failed = (before?.failed ?? 0) + 1
    const locked_until = failed >= limit ? now + lockoutSeconds : 0
    counted.set(place, { place, failed, locked_until, until: Math.max(lasting(before), locked_until) })
  }
  count(key, lockoutAttempts, () => now + REMEMBERED_SECONDS)
  if (!known)
    count(ELSEWHERE, lockoutAttempts * ELSEWHERE_TIMES, (before) => before?.until ?? now + REMEMBERED_SECONDS)
  return mostTelling(
    [...counted.values()].filter((place) => !hasLapsed(place, now)),
    now,
  )
}

/** The places after a success; the same list if nothing changes. */
export function withoutPlace(places: readonly FailedPlace[], { key }: SignInPlace): readonly FailedPlace[] {
  return places.some(({ place }) => place === key) ? places.filter(({ place }) => place !== key) : places
}

function hasLapsed({ locked_until, until }: FailedPlace, now: number): boolean {
  return until <= now || (locked_until > 0 && locked_until <= now)
}

function mostTelling(places: readonly FailedPlace[], now: number): readonly FailedPlace[] {
  if (places.length <= MOST_PLACES) return places
  const rank = ({ place, locked_until, until }: FailedPlace) =>
    place === ELSEWHERE ? Infinity : locked_until > now ? until + REMEMBERED_SECONDS : until
  return places.toSorted((a, b) => rank(b) - rank(a)).slice(0, MOST_PLACES)
}
