/**
 * Users who are made without a password and set it by a link in a mail. An invitation works for a week; inviting again
 * ends the links of before. The caller needs the same scopes as to create the user: see `permitted-change.ts`.
 */

import { accountMailJob } from '../../records/mail/mail-job.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { isOneLine } from '../../shared/texts/one-line.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { type AccessContext, unixSeconds } from '../access-context.ts'
import type { Identity } from '../identity-cache.ts'
import { userInput } from '../user-input.ts'
import { changeUser, createUserWith } from '../users.ts'
import { type AccountMail, INVITE_SECONDS, newLinkText } from './account-mail.ts'
import { deleteLinksOf } from './link-record.ts'

const LONGEST_NAME = 64

/**
 * Fields as of a new user, without a password; `email` is required, and `username` is the address if not given. INVALID_BODY,
 * CONFLICT (name or address taken, or mail is not set up), INSUFFICIENT_PERMISSIONS (scope not held).
 */
export async function inviteUser(
  context: AccessContext,
  input: JsonObject,
  by: Identity,
): Promise<JsonObject> {
  requireMail(context)
  const { email } = input
  if (typeof email !== 'string' || email === '')
    throw invalidField('email', 'email is required: the invitation is sent there.')
  if (input.password !== undefined) throw invalidField('password', 'password is set by the invited user.')
  const named = { username: email.slice(0, LONGEST_NAME), ...input }
  const { fields } = userInput(named, ['username'])
  return createUserWith(context, fields, undefined, by, (session, user) => invite(context, session, user, by))
}

/** Sends another link. NOT_FOUND, INSUFFICIENT_PERMISSIONS, CONFLICT for a user who has a password or no address. */
export async function inviteAgain(context: AccessContext, guid: string, by: Identity): Promise<JsonObject> {
  requireMail(context)
  return changeUser(context, guid, by, async (session, user) => {
    if (user.passwordHash !== undefined)
      throw new QuoinError('CONFLICT', 'The user has set a password. Only users without one can be invited.')
    if (!user.isActive) throw new QuoinError('CONFLICT', 'The user is not active. Activate the user first.')
    await deleteLinksOf(session, guid)
    return invite(context, session, user.document, by)
  })
}

/** Ends the invitation: its links stop working, and the user stays without a password. */
export async function withdrawInvitation(
  context: AccessContext,
  guid: string,
  by: Identity,
): Promise<JsonObject> {
  return changeUser(context, guid, by, async (session, user) => {
    if (user.passwordHash !== undefined)
      throw new QuoinError('CONFLICT', 'The user has set a password: there is no invitation to withdraw.')
    await deleteLinksOf(session, guid)
    return write(session, guid, { invited_until: 0, invitation: null })
  })
}

/** Gives the user with the invitation, and puts its mail into the queue of the same transaction. */
async function invite(
  context: AccessContext,
  session: Session,
  user: JsonObject,
  by: Identity,
): Promise<JsonObject> {
  const email = textIn(user.email)
  if (email === '') throw new QuoinError('CONFLICT', 'The user has no e-mail address. Set one first.')
  const until = unixSeconds(context.clock) + INVITE_SECONDS
  // Names this invitation: a mail of an earlier one that still waits is not sent.
  const invitation = newLinkText(context.random).slice(0, 20)
  const mail: AccountMail = {
    ...{ kind: 'invite', email, until, language: '', user: guidOf(user), invitation, ip: '', agent: '' },
    inviter: fullName(by),
  }
  await session.enqueue(accountMailJob(mail, `${email}: invitation`))
  return write(session, guidOf(user), { invited_until: until, invitation })
}

async function write(session: Session, guid: string, fields: JsonObject): Promise<JsonObject> {
  const written = await session.update(systemStorages.users, guid, setFields(fields))
  if (written.outcome !== 'written') throw new QuoinError('NOT_FOUND', `There is no user ${guid}.`)
  return documentOf(written.document)
}

/** First and last name where they are known; in a subject it is one line. */
function fullName({ user, username }: Identity): string {
  const names = [textIn(user.firstname), textIn(user.lastname)].filter((one) => one.trim() !== '')
  const name = names.length > 0 ? names.join(' ') : username
  return isOneLine(name) ? name : username
}

function requireMail({ settings }: AccessContext): void {
  if (settings.links) return
  throw new QuoinError(
    'CONFLICT',
    'Invitations are sent by mail. Set QUOIN_MAIL_URL, QUOIN_MAIL_FROM and QUOIN_PUBLIC_URL on every node.',
  )
}
