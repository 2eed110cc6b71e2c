import { safeHref } from '../shared/pages/page-content.ts'
import { isOneLine } from '../shared/texts/one-line.ts'
import { LineError, PinError } from './block.ts'

/** Where a browser may be sent: a path of our own or an http(s) address. Throws PinError for the pin. */
export function redirectTarget(pin: string, written: string): string {
  const to = safeHref(written)
  if (to === undefined || /^(?:mailto|tel):/i.test(to))
    throw new (isOneLine(written.trim()) ? PinError : LineError)(
      pin,
      'must be a path such as /tasks or an address that begins with https://',
    )
  return to
}
