import { hash } from 'node:crypto'
import { accountMailJob } from '../../records/mail/mail-job.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { type Mail, mailAddress } from '../../shared/mail/mail.ts'
import { setFields } from '../../shared/mutation.ts'
import { isOneLine } from '../../shared/texts/one-line.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, numberIn, textIn } from '../../storage/document-fields.ts'
import { findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { type AccessContext, type Sender, unixSeconds } from '../access-context.ts'
import { deleteExpired } from '../identify.ts'
import type { Identity } from '../identity-cache.ts'
import { requirePerson } from '../keys/allowed-endpoints.ts'
import { addressKey } from '../known-addresses.ts'
import { retryContested } from '../retry-on-conflict.ts'
import { userInput } from '../user-input.ts'
import { changeUser, createUserWith } from '../users.ts'
import { folded } from '../visible-text.ts'
import {
  type AccountMail,
  accountMail,
  INVITE_SECONDS,
  newLinkText,
  RESET_SECONDS,
  SIGN_UP_SECONDS,
} from './account-mail.ts'
import { followLink, type OpenedLink, openLink } from './follow-link.ts'
import { deleteLinksOf } from './link-record.ts'
import { type ProvenForm, proofOfWork } from './proof-of-work.ts'

/** What users do by links in mails. */
export interface AccountLinks {
  /** Whether links are sent at all: a mail server and a public address are set. */
  readonly sent: boolean
  /** Whether users may create an account by themselves. */
  readonly signUp: boolean
  /** What a browser has to solve before it sends a form; undefined while few are sent. */
  challenge(form: ProvenForm): string | undefined
  /**
   * Sends a link to a new password if a user has the address; no reply and no time tells whether. INVALID_BODY,
   * RATE_LIMITED.
   */
  askReset(request: LinkRequest): Promise<void>
  /** Sends a link to a new account, or to sign in where the address has one. As `askReset`. */
  askSignUp(request: LinkRequest): Promise<void>
  /** What a link is for; undefined if it cannot be used. Changes nothing. */
  open(link: string): Promise<OpenedLink | undefined>
  /** Sets the password, signs the user out everywhere and ends all links. INVALID_BODY, NOT_FOUND. */
  follow(link: string, password: string, sender: Sender): Promise<{ readonly username: string }>
  invite(input: JsonObject, by: Identity): Promise<JsonObject>
  inviteAgain(guid: string, by: Identity): Promise<JsonObject>
  withdraw(guid: string, by: Identity): Promise<JsonObject>
  /** The mail of a job that one of the above has enqueued; undefined if there is none to send any more. */
  readonly mailOf: (account: JsonObject) => Promise<Mail | undefined>
}

/** `during`: keeps the room open while the work is under way. */
export function accountLinks(
  context: AccessContext,
  during: <T>(work: () => Promise<T>) => Promise<T>,
): AccountLinks {
  const { links } = context.settings
  const proofs = proofOfWork(context)
  const ask = async (kind: 'reset' | 'signup', request: LinkRequest) => {
    const address = requestedAddress(context, kind, request.email)
    await proofs.require(kind === 'reset' ? 'forgot' : kind, request.proof ?? '')
    await askForLink(context, kind, address, request)
  }
  return {
    challenge: (form) => proofs.challenge(form),
    sent: links !== undefined,
    signUp: links?.signUp !== undefined,
    askReset: (request) => during(() => ask('reset', request)),
    askSignUp: (request) => during(() => ask('signup', request)),
    open: (link) => during(() => openLink(context, link)),
    follow: (link, password, sender) => during(() => followLink(context, link, password, sender)),
    invite: (input, by) => during(() => inviteUser(context, input, by)),
    inviteAgain: (guid, by) => during(() => inviteAgain(context, guid, by)),
    withdraw: (guid, by) => during(() => withdrawInvitation(context, guid, by)),
    mailOf: (account) => during(() => accountMail(context, account)),
  }
}

// Anonymous callers ask for a link here. The work is the same whether or not a user has the address: two counters and a
// job (`account-mail.ts` says what the job does). A client address that asked too often is refused; for an e-mail address
// that was named too often nothing is sent, and the caller is told the same as ever.

// How often links may be asked for, counted in the database, so that all nodes agree: so many by one client address in an
// hour, and so many for one e-mail address, whether or not a user has it. The hour begins with the first request.

const WINDOW_SECONDS = 3_600

interface Counted {
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
interface LinkRequest extends Sender {
  readonly email: string
  /** Of the page: a mail to a user who signs up is written in it. */
  readonly language: string
  /** What solves the challenge of the form. */
  readonly proof?: string
}

/** INVALID_BODY for text that is no address, NOT_FOUND where nothing is set up. */
function requestedAddress({ settings }: AccessContext, kind: 'reset' | 'signup', email: string): string {
  const { links } = settings
  if (!links || (kind === 'signup' && !links.signUp))
    throw new QuoinError('NOT_FOUND', 'Links by mail are not set up. An administrator has to do it.')
  const address = mailAddress(email)?.address
  if (address === undefined) throw invalidField('email', 'email must look like name@example.com.')
  userInput({ email: address })
  return address
}

/** RATE_LIMITED (with `retryAfter`). */
async function askForLink(
  context: AccessContext,
  kind: 'reset' | 'signup',
  address: string,
  { language, ip, agent = '' }: LinkRequest,
): Promise<void> {
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

/**
 * Users who are made without a password and set it by a link in a mail. An invitation works for a week; inviting again
 * ends the links of before. The caller needs the same scopes as to create the user: see `permitted-change.ts`.
 */
const LONGEST_NAME = 64

/**
 * Fields as of a new user, without a password; `email` is required, and `username` is the address if not given. INVALID_BODY,
 * CONFLICT (name or address taken, or mail is not set up), INSUFFICIENT_PERMISSIONS (scope not held).
 */
async function inviteUser(context: AccessContext, input: JsonObject, by: Identity): Promise<JsonObject> {
  requirePerson(by)
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
async function inviteAgain(context: AccessContext, guid: string, by: Identity): Promise<JsonObject> {
  requirePerson(by)
  requireMail(context)
  return changeUser(context, guid, by, async (session, user) => {
    if (user.passwordHash !== undefined)
      throw new QuoinError('CONFLICT', 'The user has set a password. Only users without one can be invited.')
    if (user.isService) throw new QuoinError('CONFLICT', 'A service account sets no password.')
    if (!user.isActive) throw new QuoinError('CONFLICT', 'The user is not active. Activate the user first.')
    await deleteLinksOf(session, guid)
    return invite(context, session, user.document, by)
  })
}

/** Ends the invitation: its links stop working, and the user stays without a password. */
async function withdrawInvitation(context: AccessContext, guid: string, by: Identity): Promise<JsonObject> {
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
