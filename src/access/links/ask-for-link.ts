/**
 * Anonymous callers ask for a link here. The work is the same whether or not a user has the address: two counters and a
 * job (`account-mail.ts` says what the job does). A client address that asked too often is refused; for an e-mail address
 * that was named too often nothing is sent, and the caller is told the same as ever.
 */

import { hash } from 'node:crypto'
import { accountMailJob } from '../../records/mail/mail-job.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import { mailAddress } from '../../shared/mail/mail.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, numberIn } from '../../storage/document-fields.ts'
import { findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { type AccessContext, unixSeconds } from '../access-context.ts'
import { deleteExpired } from '../access-token.ts'
import { addressKey } from '../known-addresses.ts'
import { retryContested } from '../retry-contested.ts'
import { userInput } from '../user-input.ts'
import type { Sender } from '../user-log.ts'
import { folded } from '../visible-text.ts'
import { type AccountMail, RESET_SECONDS, SIGN_UP_SECONDS } from './account-mail.ts'

// How often links may be asked for, counted in the database, so that all nodes agree: so many by one client address in an
// hour, and so many for one e-mail address, whether or not a user has it. The hour begins with the first request.

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
async function countRequest(session: Session, subject: string, most: number, now: number): Promise<Counted> {
  const key = hash('sha256', subject, 'hex')
  const record = await findOne(session, systemStorages.accountRequests, 'key', key)
  const counted =
    record &&
    (await session.update(systemStorages.accountRequests, guidOf(record), [
      { op: 'increment', field: 'requests', amount: 1 },
    ]))
  const until = now + WINDOW_SECONDS
  if (counted?.outcome !== 'written') {
    const fields = setFields({ key, requests: 1, until })
    await session.create(systemStorages.accountRequests, fields)
    return { allowed: most > 0, wait: WINDOW_SECONDS }
  }
  const document = documentOf(counted.document)
  const ends = numberIn(document.until)
  if (ends > now) return { allowed: numberIn(document.requests) <= most, wait: ends - now }
  await session.update(systemStorages.accountRequests, guidOf(document), setFields({ requests: 1, until }))
  return { allowed: most > 0, wait: WINDOW_SECONDS }
}

/** In an hour, by one client address and for one e-mail address. */
const MOST_BY_CLIENT = 20
const MOST_FOR_ADDRESS = 3
const LONGEST_AGENT = 512

/** What a page hands over. */
export interface LinkRequest extends Sender {
  readonly email: string
  /** Of the page: a mail to a user who signs up is written in it. */
  readonly language: string
}

/** INVALID_BODY for text that is no address, RATE_LIMITED (with `retryAfter`), NOT_FOUND where nothing is set up. */
export async function askForLink(
  context: AccessContext,
  kind: 'reset' | 'signup',
  { email, language, ip, agent = '' }: LinkRequest,
): Promise<void> {
  const { links } = context.settings
  if (!links || (kind === 'signup' && !links.signUp))
    throw new QuoinError('NOT_FOUND', 'Links by mail are not set up. An administrator has to do it.')
  const address = mailAddress(email)?.address
  if (address === undefined) throw invalidField('email', 'email must look like name@example.com.')
  userInput({ email: address })
  const now = unixSeconds(context.clock)
  const mail: AccountMail = {
    ...{ kind, email: address, language, ip, user: '', invitation: '', inviter: '' },
    until: now + (kind === 'reset' ? RESET_SECONDS : SIGN_UP_SECONDS),
    agent: agent.slice(0, LONGEST_AGENT).toWellFormed(),
  }
  const title = `${address}: ${kind === 'reset' ? 'new password' : 'sign-up'}`
  await deleteExpired(context.database, systemStorages.accountRequests, 'until', now)
  await retryContested(context.database, async (session) => {
    const client = await countRequest(session, `client ${addressKey(ip)}`, MOST_BY_CLIENT, now)
    if (!client.allowed)
      throw new QuoinError('RATE_LIMITED', 'Too many requests. Wait, then try again.', {
        retryAfter: client.wait,
      })
    const named = await countRequest(session, `${kind} ${folded(address)}`, MOST_FOR_ADDRESS, now)
    if (named.allowed) await session.enqueue(accountMailJob(mail, title))
  })
}
