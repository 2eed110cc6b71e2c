import type { JsonValue } from '../../shared/json.ts'
import { MOST_RECIPIENTS } from '../../shared/mail/mail.ts'
import { type MailAddress, mailAddress } from '../../shared/mail/mail-address.ts'
import { PinError } from '../block.ts'

/** A text of addresses separated by commas, or a list of addresses. Empty for none. */
export function addressesIn(pin: string, value: JsonValue | undefined): readonly MailAddress[] {
  if (value === undefined || value === null) return []
  const texts = Array.isArray(value) ? value : typeof value === 'string' ? splitAddresses(value) : [value]
  if (texts.length > MOST_RECIPIENTS) throw new PinError(pin, `must be at most ${MOST_RECIPIENTS} addresses`)
  return texts.map((text) => addressIn(pin, text))
}

export function addressIn(pin: string, text: JsonValue): MailAddress {
  const address = typeof text === 'string' ? mailAddress(text) : undefined
  if (!address)
    throw new PinError(pin, 'must be an e-mail address such as ann@example.com or Ann <ann@example.com>')
  return address
}

/** A comma within quotes is part of a name. */
function splitAddresses(text: string): readonly string[] {
  if (text.length > 20_000) return [text]
  return (text.match(/(?:"[^"]*"|[^,"])+/g) ?? []).filter((one) => one.trim() !== '')
}

/** One line. Line breaks are refused, because they would begin further headers. */
export function subjectIn(written: string): string {
  if (written.length > 500) throw new PinError('subject', 'must be at most 500 characters')
  if (/\p{Cc}/u.test(written)) throw new PinError('subject', 'must be one line without control characters')
  return written.toWellFormed()
}
