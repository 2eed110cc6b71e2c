import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import {
  type MailAddress,
  type MailAttachment,
  MOST_ATTACHED,
  MOST_ATTACHMENTS,
  MOST_RECIPIENTS,
  mailAddress,
} from '../../shared/mail/mail.ts'
import { isOneLine, ONE_LINE } from '../../shared/texts/one-line.ts'
import type { Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { assetNamed, assetRecord } from '../asset-record.ts'
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

const LONGEST_NAME = 255

/** Assets by guid, name or `{ guid, name }`: one of them, or a list. They are looked up now and read when the mail is sent. */
export async function attachmentsIn(
  value: JsonValue | undefined,
  session: Session,
): Promise<readonly MailAttachment[]> {
  if (value === undefined || value === null || value === '') return []
  const input = Array.isArray(value) ? value : [value]
  if (input.length > MOST_ATTACHMENTS)
    throw new PinError('attachments', `must be at most ${MOST_ATTACHMENTS} assets`)
  const found: MailAttachment[] = []
  let bytes = 0
  for (const one of input) {
    const record = await assetRecord('attachments', assetNamed('attachments', one), session)
    bytes += Number(record.size)
    found.push({ asset: guidOf(record), name: nameIn(one) ?? textIn(record.name) })
  }
  if (bytes > MOST_ATTACHED)
    throw new PinError('attachments', `must have at most ${MOST_ATTACHED} bytes together; they have ${bytes}`)
  return found
}

/** The name that the recipient sees. */
function nameIn(one: JsonValue): string | undefined {
  const name = isJsonObject(one) ? one.name : undefined
  if (name === undefined || name === null || name === '') return undefined
  if (typeof name === 'string' && !isOneLine(name))
    throw new LineError('attachments', `must have names that are one line`)
  if (typeof name !== 'string' || name.length > LONGEST_NAME || /[\p{C}/\\]/u.test(name))
    throw new PinError('attachments', `must have names of 1 to ${LONGEST_NAME} characters without slashes`)
  return name
}
