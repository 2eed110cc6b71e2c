import type { JsonObject } from '../../shared/json.ts'
import type { Mail } from '../../shared/mail/mail.ts'
import type { AccessContext } from '../access-context.ts'
import type { Identity } from '../identity-cache.ts'
import type { Sender } from '../user-log.ts'
import { accountMail } from './account-mail.ts'
import { askForLink, type LinkRequest } from './ask-for-link.ts'
import { followLink, type OpenedLink, openLink } from './follow-link.ts'
import { inviteAgain, inviteUser, withdrawInvitation } from './invite-user.ts'

/** What users do by links in mails. */
export interface AccountLinks {
  /** Whether links are sent at all: a mail server and a public address are set. */
  readonly sent: boolean
  /** Whether users may create an account by themselves. */
  readonly signUp: boolean
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
  /** See `invite-user.ts`. */
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
  return {
    sent: links !== undefined,
    signUp: links?.signUp !== undefined,
    askReset: (request) => during(() => askForLink(context, 'reset', request)),
    askSignUp: (request) => during(() => askForLink(context, 'signup', request)),
    open: (link) => during(() => openLink(context, link)),
    follow: (link, password, sender) => during(() => followLink(context, link, password, sender)),
    invite: (input, by) => during(() => inviteUser(context, input, by)),
    inviteAgain: (guid, by) => during(() => inviteAgain(context, guid, by)),
    withdraw: (guid, by) => during(() => withdrawInvitation(context, guid, by)),
    mailOf: (account) => during(() => accountMail(context, account)),
  }
}
