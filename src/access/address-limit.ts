/**
 * Failed sign-ins per address: so many in a window of 15 minutes that starts with the first one, then every sign-in
 * from there is refused until the window ends, right ones too. The count is in the database, so all nodes agree; how
 * many are under way is known per node, and counts as failed until it is known better, so that a burst from one address
 * cannot take all places where passwords are checked.
 */

import type { Session } from '../storage/database.ts'
import { documentOf } from '../storage/database.ts'
import { guidOf, numberIn } from '../storage/document-fields.ts'
import { findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { addressKey } from './known-addresses.ts'
import { tooManyAttempts } from './lockout.ts'

const WINDOW_SECONDS = 900

export interface AddressLimit {
  /** Refuses an address that has no failures left; else gives what to call when the sign-in is decided. */
  enter(session: Session, address: string, now: number): Promise<() => void>
  /** Refuses as `enter`, inside the transaction that admits. */
  check(session: Session, address: string, now: number): Promise<void>
  /** Counts one failure, or refuses. CONFLICT if another session adds the address: do the transaction again. */
  countFailure(session: Session, address: string, now: number): Promise<void>
}

export function addressLimit(attempts: number): AddressLimit {
  const underWay = new Map<string, number>()

  async function window(session: Session, key: string, now: number) {
    const record = await findOne(session, systemStorages.signInAddresses, 'key', key)
    const until = numberIn(record?.until)
    return until > now
      ? { failed: numberIn(record?.failed), until }
      : { failed: 0, until: now + WINDOW_SECONDS }
  }

  return {
    async enter(session, address, now) {
      const key = addressKey(address)
      const { failed, until } = await window(session, key, now)
      if (failed >= attempts) throw tooManyAttempts(until - now)
      const here = underWay.get(key) ?? 0
      if (failed + here >= attempts) throw tooManyAttempts(1)
      underWay.set(key, here + 1)
      return () => {
        const left = (underWay.get(key) ?? 1) - 1
        if (left > 0) underWay.set(key, left)
        else underWay.delete(key)
      }
    },

    async check(session, address, now) {
      const { failed, until } = await window(session, addressKey(address), now)
      if (failed >= attempts) throw tooManyAttempts(until - now)
    },

    async countFailure(session, address, now) {
      const key = addressKey(address)
      const record = await findOne(session, systemStorages.signInAddresses, 'key', key)
      const started = [
        { op: 'set', field: 'failed', value: 1 },
        { op: 'set', field: 'until', value: now + WINDOW_SECONDS },
      ] as const
      const counted =
        record &&
        (await session.update(systemStorages.signInAddresses, guidOf(record), [
          { op: 'increment', field: 'failed', amount: 1 },
        ]))
      if (counted?.outcome !== 'written') {
        await session.create(systemStorages.signInAddresses, [
          { op: 'set', field: 'key', value: key },
          ...started,
        ])
        return
      }
      const document = documentOf(counted.document)
      const until = numberIn(document.until)
      if (until <= now) await session.update(systemStorages.signInAddresses, guidOf(document), started)
      else if (numberIn(document.failed) > attempts) throw tooManyAttempts(until - now)
    },
  }
}
