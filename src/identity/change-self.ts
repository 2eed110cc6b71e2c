/** Changes of the caller's own record, and the mails that say so. */
import { type AccessContext, unixSeconds } from '../access/access-context.ts'
import type { Identity } from '../access/identity-cache.ts'
import { requirePerson } from '../access/keys/allowed-endpoints.ts'
import type { AccountMail } from '../access/links/account-mail.ts'
import { type UserRecord, userRecord } from '../access/user-record.ts'
import { accountMailJob } from '../records/mail/mail-job.ts'
import { QuoinError } from '../shared/errors.ts'
import { setFields } from '../shared/mutation.ts'
import { documentOf, type Session } from '../storage/database.ts'
import { textIn } from '../storage/document-fields.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'

/** Seconds for which a session counts as confirmed. */
export const CONFIRMED_SECONDS = 300

/** In a transaction that writes the record first. */
export function changeSelf<T>(
  context: AccessContext,
  by: Identity,
  work: (session: Session, user: UserRecord, now: number) => Promise<T>,
): Promise<T> {
  requirePerson(by)
  const now = unixSeconds(context.clock)
  return transact(
    context.database,
    async (session) => {
      const written = await session.update(systemStorages.users, by.guid, setFields({ last_activity: now }))
      if (written.outcome !== 'written') throw new QuoinError('NOT_FOUND', 'Your account was removed.')
      return work(session, userRecord(documentOf(written.document)), now)
    },
    { user: { guid: by.guid, username: by.username } },
  )
}

/** Marks the caller's session as confirmed. Gives until when. */
export async function confirmSession(
  { settings }: AccessContext,
  session: Session,
  { tokenGuid }: Identity,
  now: number,
): Promise<number> {
  await session.update(systemStorages.tokens, tokenGuid, setFields({ confirmed: now }))
  return now + (settings.confirmSeconds || CONFIRMED_SECONDS)
}

/** Days for which the mail is tried. */
const MAIL_SECONDS = 7 * 86_400

/** Tells the user of a change of what signs in as them: one that the user did not make is an attack. */
export async function mailFactorChange(
  { settings, clock }: AccessContext,
  session: Session,
  { guid, username, document }: UserRecord,
  {
    kind,
    by,
    title,
  }: {
    readonly kind: AccountMail['kind']
    readonly by: Pick<Identity, 'username'>
    readonly title: string
  },
): Promise<void> {
  const email = textIn(document.email)
  if (!settings.links || email === '') return
  const mail: AccountMail = {
    ...{ kind, email, user: guid, inviter: by.username, language: '', invitation: '' },
    ...{ until: unixSeconds(clock) + MAIL_SECONDS, ip: '', agent: '' },
  }
  await session.enqueue(accountMailJob(mail, `${username}: ${title}`))
}
