import { safeHref } from '../../shared/pages/page-content.ts'
import { PinError } from '../block.ts'

/** An address for a page as a builder gives it on a pin; PinError for one that must not be followed. */
export function pageHref(pin: string, address: string): string {
  const href = safeHref(address)
  if (href === undefined)
    throw new PinError(pin, 'must be a path such as /tasks or an address that begins with https://')
  return href
}
