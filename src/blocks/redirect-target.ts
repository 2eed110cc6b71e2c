import { safeHref } from '../shared/pages/page-content.ts'
import { PinError } from './block.ts'

/** Where a browser may be sent: a path of our own or an http(s) address. Throws PinError for the pin. */
export function redirectTarget(pin: string, written: string): string {
  const to = safeHref(written)
  if (to === undefined || /^(?:mailto|tel):/i.test(to))
    throw new PinError(pin, 'must be a path such as /tasks or an address that begins with https://')
  return to
}
