import { isEmailAddress } from '../email-address.ts'

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
  const given = text.trim()
  const { name = '', address = given } = NAMED.exec(given)?.groups ?? {}
  const bare = address.trim()
  const shown = name.trim().replace(/^"(.*)"$/, '$1')
  if (bare.length > LONGEST_ADDRESS || NOT_IN_ADDRESS.test(bare) || !isEmailAddress(bare)) return undefined
  if (shown.length > LONGEST_NAME || /[\p{C}\p{Zl}\p{Zp}]/u.test(shown)) return undefined
  return { name: shown, address: bare }
}
