const EMAIL = /^[^\s@]{1,64}@[^\s@]+\.[^\s@.]+$/

/** Whether text has the form of an e-mail address. Whether it receives mail shows only when mail is sent. */
export function isEmailAddress(text: string): boolean {
  return EMAIL.test(text)
}

export interface MailAddress {
  /** Empty for none. */
  readonly name: string
  readonly address: string
}

const LONGEST_ADDRESS = 254
const LONGEST_NAME = 128
const NAMED = /^(?<name>[^<>]*)<(?<address>[^<>]*)>$/
/** Line breaks would begin further headers, and the others would begin further addresses. */
const NOT_IN_ADDRESS = /[\p{C}\s<>()[\]\\,;:"]/u

/** `a@example.com` or `Ann <a@example.com>`; undefined for text that is neither. The name has no control characters. */
export function mailAddress(text: string): MailAddress | undefined {
  const input = text.trim()
  const { name = '', address = input } = NAMED.exec(input)?.groups ?? {}
  const bare = address.trim()
  const shown = name.trim().replace(/^"(.*)"$/, '$1')
  if (bare.length > LONGEST_ADDRESS || NOT_IN_ADDRESS.test(bare) || !isEmailAddress(bare)) return undefined
  if (shown.length > LONGEST_NAME || /[\p{C}\p{Zl}\p{Zp}]/u.test(shown)) return undefined
  return { name: shown, address: bare }
}

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
