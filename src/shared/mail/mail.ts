import type { MailAddress } from './mail-address.ts'

/** Of one mail: to, cc and bcc together. */
export const MOST_RECIPIENTS = 50
export const MOST_ATTACHMENTS = 20
/** Bytes of all attachments together; a mail is a third larger when it is sent. */
export const MOST_ATTACHED = 20 * 1024 * 1024

/** A file of an asset. */
export interface MailAttachment {
  /** Guid. */
  readonly asset: string
  readonly name: string
}

/** One mail, checked. */
export interface Mail {
  /** The cluster's sender without it. */
  readonly from?: MailAddress
  readonly to: readonly MailAddress[]
  readonly cc: readonly MailAddress[]
  readonly bcc: readonly MailAddress[]
  readonly replyTo?: MailAddress
  /** One line. */
  readonly subject: string
  /** At least one of text and html. */
  readonly text?: string
  readonly html?: string
  readonly attachments: readonly MailAttachment[]
  /** Names the mail: see the pin `key` of `send_mail`. */
  readonly key?: string
}
