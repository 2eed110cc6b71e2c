import type { JsonValue } from '../../shared/json.ts'
import { MOST_RECIPIENTS } from '../../shared/mail/mail.ts'
import { type MailAddress, mailAddress } from '../../shared/mail/mail-address.ts'
import { isOneLine, ONE_LINE } from '../../shared/texts/one-line.ts'
import { LineError, PinError } from '../block.ts'

/** A text of addresses separated by commas, or a list of addresses. Empty for none. */
export function addressesIn(pin: string, value: JsonValue | undefined): readonly MailAddress[] {
  if (value === undefined || value === null) return []
  const texts = Array.isArray(value) ? value : typeof value === 'string' ? splitAddresses(value) : [value]
  if (texts.length > MOST_RECIPIENTS) throw new PinError(pin, `must be at most ${MOST_RECIPIENTS} addresses`)
  return texts.map((text) => addressIn(pin, text))
}

export function addressIn(pin: string, text: JsonValue): MailAddress {
  const address = typeof text === 'string' ? mailAddress(text) : undefined
  if (typeof text === 'string' && !isOneLine(text.trim())) throw new LineError(pin, ONE_LINE)
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
  if (!isOneLine(written)) throw new LineError('subject', ONE_LINE)
  return written.toWellFormed()
}
