/**
 * Where links lead: the user sets a password. A link to a new password and an invitation change their user; a link to sign
 * up creates one, whose address is confirmed by the link. Each works once, and ends all other links of the user.
 */
import { hash } from 'node:crypto'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { equalsAdministrator } from '../../shared/management-scopes.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textsIn } from '../../storage/document-fields.ts'
import { findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { type AccessContext, noteUserEvent, type Sender, takeTurn, unixSeconds } from '../access-context.ts'
import { forgetFailures } from '../failed-sign-ins.ts'
import { deleteTokensOf } from '../tokens.ts'
import { checkPassword } from '../user-input.ts'
import { type UserRecord, userRecord } from '../user-record.ts'
import { insertUser, newPassword } from '../users.ts'
import { folded } from '../visible-text.ts'
import { linkHash, ownerOf } from './account-mail.ts'
import { deleteLinksOf, deleteLinksTo, findLink, type LinkKind, type LinkRecord } from './link-record.ts'

const LONGEST_NAME = 64

/** What the page of a link shows. */
export interface OpenedLink {
  readonly kind: LinkKind
  /** The user's name; the address of a user who signs up. */
  readonly username: string
}

/** Undefined if the link is unknown, used or expired, or its user may not sign in. Changes nothing. */
export async function openLink(context: AccessContext, text: string): Promise<OpenedLink | undefined> {
  const found = await usableLink(context, context.database.session(), text)
  return found && { kind: found.link.kind, username: found.user?.username ?? found.link.email }
}

/** INVALID_BODY for a weak password, NOT_FOUND for a link that cannot be used. Gives the name to sign in with. */
export async function followLink(
  context: AccessContext,
  text: string,
  password: string,
  sender: Sender,
): Promise<{ readonly username: string }> {
  const before = await usableLink(context, context.database.session(), text)
  if (!before) throw unusable()
  // A hash costs 25 ms: only for a link that works and a password that is taken.
  await checkPassword(password, before.user?.username ?? before.link.email)
  const passwordHash = await context.passwords.hash(password)
  const by = before.user ?? { guid: '', username: before.link.email }
  return transact(
    context.database,
    async (session) => {
      await takeTurn(session, context.turnGuid)
      const found = await usableLink(context, session, text)
      if (!found) throw unusable()
      const { link, user } = found
      const set = user
        ? await setPassword(session, user, passwordHash, sender)
        : await signUp(context, session, link, passwordHash, sender)
      await deleteLinksTo(session, link.emailKey)
      return set
    },
    { user: { guid: by.guid, username: by.username } },
  )
}

interface UsableLink {
  readonly link: LinkRecord
  /** Undefined for a user who signs up. */
  readonly user: UserRecord | undefined
}

async function usableLink(
  { settings, clock }: AccessContext,
  session: Session,
  text: string,
): Promise<UsableLink | undefined> {
  const hash = linkHash(text)
  const link = hash && (await findLink(session, hash, unixSeconds(clock)))
  if (!link) return undefined
  if (link.kind === 'signup') {
    return settings.links?.signUp && !(await ownerOf(session, link.emailKey))
      ? { link, user: undefined }
      : undefined
  }
  const stored = await session.get(systemStorages.users, link.userGuid)
  const user = stored && userRecord(documentOf(stored))
  if (!user?.isActive || user.document.email_key !== link.emailKey) return undefined
  // Its mail may have been under way while the invitation was withdrawn or renewed.
  if (link.invitation !== '' && user.document.invitation !== link.invitation) return undefined
  return { link, user }
}

async function setPassword(session: Session, user: UserRecord, passwordHash: string, sender: Sender) {
  const written = await session.update(systemStorages.users, user.guid, [
    ...newPassword(passwordHash),
    ...setFields({ confirmed_email: user.document.email_key ?? null }),
  ])
  if (written.outcome !== 'written') throw unusable()
  await forgetFailures(session, { user: user.guid })
  await deleteTokensOf(session, user.guid)
  await deleteLinksOf(session, user.guid)
  await noteUserEvent(session, 'password_set_by_link', user, sender)
  return { username: user.username }
}

async function signUp(
  context: AccessContext,
  session: Session,
  link: LinkRecord,
  passwordHash: string,
  sender: Sender,
) {
  const groups: string[] = []
  for (const name of context.settings.links?.signUp ?? []) groups.push(await groupNamed(session, name))
  const username = nameOf(link)
  const { email, emailKey, language } = link
  const fields: JsonObject = { username, email, confirmed_email: emailKey, groups, language }
  const user = userRecord(await insertUser(session, fields, passwordHash))
  await noteUserEvent(session, 'signed_up', user, sender)
  return { username }
}

/** The address, unless it is too long for a name. Users sign in with either. */
function nameOf({ email, emailKey }: LinkRecord): string {
  return email.length <= LONGEST_NAME ? email : `user-${hash('sha256', emailKey, 'hex').slice(0, 12)}`
}

/** CONFLICT for a group that is missing, or that would make an administrator of every visitor. */
async function groupNamed(session: Session, name: string): Promise<string> {
  const group = await findOne(session, systemStorages.groups, 'name_key', folded(name))
  const problem = !group
    ? 'does not exist'
    : textsIn(group.scopes).some(equalsAdministrator)
      ? 'gives administrator rights'
      : undefined
  if (!group || problem !== undefined)
    throw new QuoinError(
      'CONFLICT',
      `Users cannot sign up: the group ${name} of QUOIN_SIGN_UP ${problem}. Tell an administrator.`,
    )
  return guidOf(group)
}

function unusable(): QuoinError {
  return new QuoinError('NOT_FOUND', 'This link was used before, or has expired. Request another one.')
}
