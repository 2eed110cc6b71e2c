/**
 * A mail as a job: `{ function, mail, user?, depth, message?, only? }`. `message` names the mail where it is not the job's
 * own guid, `only` lists the recipients that are left.
 *
 * It is a job of the kind `function` in a queue of its own, and its function has a name that no builder can give. A node
 * of a version without mail fails such a job, and it waits for a node that can send it; a new kind would be dropped there.
 */
import type { JsonObject } from '../../shared/json.ts'
import type { Mail } from '../../shared/mail/mail.ts'
import type { JobRetries, NewJob } from '../../storage/job.ts'

const mailQueue = '_mail'
const FUNCTION = '(send mail)'
/** With the back-off of the queue: about a day. */
const MAIL_ATTEMPTS = 40

/** What a job of {@link mailJob} says. */
export interface WaitingMail {
  readonly mail: Mail
  /** The guid that its Message-ID has, if not the job's. */
  readonly message: string | undefined
  /** The addresses that have not got it; undefined for all. */
  readonly only: readonly string[] | undefined
}

/** `origin`: as payloads of jobs have it. `left`: of a mail that some recipients have got. */
export function mailJob(
  mail: Mail,
  origin: JsonObject,
  retries: JobRetries = {},
  left?: { message: string; only: string[] },
): NewJob {
  const plain: JsonObject = JSON.parse(JSON.stringify(mail))
  return {
    queue: mailQueue,
    kind: 'function',
    title: titleOf(mail),
    payload: { function: FUNCTION, mail: plain, ...origin, ...left },
    attempts: MAIL_ATTEMPTS,
    ...retries,
    // What is left of a mail waits beside the job that it comes from.
    ...(mail.key !== undefined && !left && { dedupeKey: `mail ${mail.key}` }),
  }
}

/** A mail that is only written when it is sent: see `access/links`. Its link is then in no job that managers can read. */
export function accountMailJob(account: JsonObject, title: string): NewJob {
  return {
    queue: mailQueue,
    kind: 'function',
    title,
    payload: { function: FUNCTION, account },
    attempts: MAIL_ATTEMPTS,
  }
}

export function isMailJob({ payload }: { readonly payload: JsonObject }): boolean {
  return payload.function === FUNCTION
}

export function mailIn(payload: JsonObject): WaitingMail {
  const written: { mail: Mail; message?: string; only?: string[] } = JSON.parse(JSON.stringify(payload))
  return { mail: written.mail, message: written.message, only: written.only }
}

function titleOf({ to, cc, bcc, subject }: Mail): string {
  const [first, ...more] = [...to, ...cc, ...bcc]
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  return `${first?.address}${others}: ${subject}`
}
