/**
 * How often links may be asked for, counted in the database, so that all nodes agree: so many by one client address in an
 * hour, and so many for one e-mail address, whether or not a user has it. The hour begins with the first request.
 */
import { hash } from 'node:crypto'
import { setFields } from '../../shared/mutation.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, numberIn } from '../../storage/document-fields.ts'
import { findOne } from '../../storage/find-documents.ts'
import { ownStorages } from '../../storage/own-storages.ts'

const WINDOW_SECONDS = 3_600

export interface Counted {
  readonly allowed: boolean
  /** Seconds until the window ends. */
  readonly wait: number
}

/**
 * Counts one request. CONFLICT if another session adds the same subject at once: do the transaction again. `subject` is
 * kept as a hash: a list of addresses that were typed would be worth stealing.
 */
export async function countRequest(
  session: Session,
  subject: string,
  most: number,
  now: number,
): Promise<Counted> {
  const key = hash('sha256', subject, 'hex')
  const record = await findOne(session, ownStorages.accountRequests, 'key', key)
  const counted =
    record &&
    (await session.update(ownStorages.accountRequests, guidOf(record), [
      { op: 'increment', field: 'requests', amount: 1 },
    ]))
  const until = now + WINDOW_SECONDS
  if (counted?.outcome !== 'written') {
    const fields = setFields({ key, requests: 1, until })
    await session.create(ownStorages.accountRequests, fields)
    return { allowed: most > 0, wait: WINDOW_SECONDS }
  }
  const document = documentOf(counted.document)
  const ends = numberIn(document.until)
  if (ends > now) return { allowed: numberIn(document.requests) <= most, wait: ends - now }
  await session.update(ownStorages.accountRequests, guidOf(document), setFields({ requests: 1, until }))
  return { allowed: most > 0, wait: WINDOW_SECONDS }
}
