/**
 * Mails with a link. What is asked for waits as a job that names the purpose and the address; whether a user has the
 * address is looked up when the job runs. So a request does the same work for an address that no user has, and no reply
 * and no time tells which exist. The link is made when the mail is sent: it is in the mail and, as a hash, in the
 * database, and in no job.
 */

import { hash } from 'node:crypto'
import { accountPaths } from '../../shared/account-paths.ts'
import type { Random } from '../../shared/guid.ts'
import type { JsonObject } from '../../shared/json.ts'
import { type Mail, mailAddress } from '../../shared/mail/mail.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { numberIn, textIn } from '../../storage/document-fields.ts'
import { findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { type AccessContext, type LinkSettings, noteUserEvent, unixSeconds } from '../access-context.ts'
import { type UserRecord, userRecord } from '../user-record.ts'
import { folded } from '../visible-text.ts'
import { createLink, type LinkKind } from './link-record.ts'
import { type MailTextKey, writeMail } from './mail-texts.ts'

// The secret of a link in a mail: `ql_` and 256 random bits in base64url. Only its SHA-256 is stored; with 256 random
// bits a slow hash would add nothing.

const LINK = /^ql_[A-Za-z0-9_-]{43}$/

export function newLinkText(random: Random): string {
  const bytes = Buffer.alloc(32)
  random(bytes)
  return `ql_${bytes.toString('base64url')}`
}

/** What a link is stored and found under; undefined for a text that cannot be one, which is then not looked up. */
export function linkHash(text: string): string | undefined {
  return LINK.test(text) ? hash('sha256', text, 'hex') : undefined
}

/** Seconds from the request for which a link to a new password works. */
export const RESET_SECONDS = 3_600
export const INVITE_SECONDS = 7 * 86_400
export const SIGN_UP_SECONDS = 86_400

/** Tells a user of a change of what signs in as them. */
const factorMails = ['factor', 'passkey-added', 'passkey-removed', 'account-linked', 'account-ended'] as const
type FactorMail = (typeof factorMails)[number]

function isFactorMail(kind: unknown): kind is FactorMail {
  return factorMails.some((one) => one === kind)
}

/** What the job of a mail says. `until`: Unix seconds at which its link expires. */
export type AccountMail = {
  readonly kind: LinkKind | FactorMail
  readonly email: string
  readonly until: number
  /** Of a user who signs up: there is no record that says it. */
  readonly language: string
  /** Of an invitation: its user, and which of the user's invitations it is. Of a factor that was changed: its user. */
  readonly user: string
  readonly invitation: string
  /** Who invites, or has changed the factor; of an account at a sign-in provider, the title of that. */
  readonly inviter: string
  readonly ip: string
  readonly agent: string
}

interface Addressed {
  readonly text: MailTextKey
  readonly user: UserRecord | undefined
  readonly language: string
}

/** The mail of a job, with a new link; undefined if there is none to send, or not any more. */
export async function accountMail(context: AccessContext, payload: JsonObject): Promise<Mail | undefined> {
  const { links } = context.settings
  const asked = accountMailIn(payload)
  const now = unixSeconds(context.clock)
  if (!links || asked.until <= now) return undefined
  return transact(context.database, async (session) => {
    const addressed = await addressedBy(session, asked)
    if (!addressed) return undefined
    // The address that is stored: one that was typed can be another mailbox whose folded form is the same.
    const email = addressed.user ? textIn(addressed.user.document.email) : asked.email
    const to = mailAddress(email)
    if (!to) return undefined
    const url = await urlOf(context, session, links, { ...asked, email }, addressed)
    const { text, user, language } = addressed
    if (text === 'reset') await noteUserEvent(session, 'password_reset_sent', user, asked)
    const username = user?.username ?? ''
    const written = writeMail(text, language, {
      ...{ url, username, seconds: asked.until - now },
      ...{ site: links.siteName, inviter: asked.inviter || links.siteName },
    })
    return { to: [to], cc: [], bcc: [], attachments: [], ...written }
  })
}

/** Who gets which mail. */
async function addressedBy(
  session: Session,
  { kind, email, language, user: guid, invitation }: AccountMail,
): Promise<Addressed | undefined> {
  if (kind === 'invite' || isFactorMail(kind)) {
    const stored = await session.get(systemStorages.users, guid)
    const user = stored && userRecord(documentOf(stored))
    if (kind !== 'invite')
      return user?.isActive ? { text: kind, user, language: textIn(user.document.language) } : undefined
    const current = user?.isActive && user.document.invitation === invitation
    return current ? { text: 'invite', user, language: textIn(user.document.language) } : undefined
  }
  const user = await ownerOf(session, folded(email))
  // An invited user has a mail with a link already; one whose invitation has expired is invited again by an administrator.
  const canSignIn = user?.isActive && user.passwordHash !== undefined
  if (kind === 'reset')
    return canSignIn && user.document.email_key === folded(email)
      ? { text: 'reset', user, language: textIn(user.document.language) }
      : undefined
  if (canSignIn && user.document.email_key === folded(email))
    return { text: 'exists', user, language: textIn(user.document.language) }
  return user ? undefined : { text: 'signup', user: undefined, language }
}

async function urlOf(
  { random }: AccessContext,
  session: Session,
  { publicUrl }: LinkSettings,
  { kind, email, until, invitation }: AccountMail,
  { text, user, language }: Addressed,
): Promise<string> {
  if (text === 'exists' || isFactorMail(kind)) return `${publicUrl}/${accountPaths.signIn}`
  const secret = newLinkText(random)
  const about = { kind, userGuid: user?.guid ?? '', email, emailKey: folded(email), language }
  const link = { ...about, invitation: kind === 'invite' ? invitation : '' }
  await createLink(session, { ...link, hash: linkHash(secret) ?? '', expiry: until })
  return `${publicUrl}/${accountPaths.choose}?link=${secret}`
}

function accountMailIn(payload: JsonObject): AccountMail {
  const { kind, email, until, language, user, invitation, inviter, ip, agent } = payload
  return {
    kind: kind === 'invite' || kind === 'signup' || isFactorMail(kind) ? kind : 'reset',
    email: textIn(email),
    until: numberIn(until),
    language: textIn(language),
    user: textIn(user),
    invitation: textIn(invitation),
    inviter: textIn(inviter),
    ip: textIn(ip),
    agent: textIn(agent),
  }
}

/** The user who signs in with this address (folded): as e-mail address or, since no other user may then have it, as name. */
export async function ownerOf(session: Session, emailKey: string): Promise<UserRecord | undefined> {
  const found =
    (await findOne(session, systemStorages.users, 'email_key', emailKey)) ??
    (await findOne(session, systemStorages.users, 'username_key', emailKey))
  return found && userRecord(found)
}
