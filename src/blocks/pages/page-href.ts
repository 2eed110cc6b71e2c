import { safeHref } from '../../shared/pages/page-content.ts'
import { isOneLine } from '../../shared/texts/one-line.ts'
import { LineError, PinError } from '../block.ts'

/** An address for a page as a builder gives it on a pin; PinError for one that must not be followed. */
export function pageHref(pin: string, address: string): string {
  const href = safeHref(address)
  if (href === undefined)
    throw new (isOneLine(address.trim()) ? PinError : LineError)(
      pin,
      'must be a path such as /tasks or an address that begins with https://',
    )
  return href
}
