import { safeHref } from '../shared/pages/page-content.ts'

/** The attributes of a link: none for an address that must not be followed, so that only its text is left. */
export function linkTo(address: string): { href?: string; rel?: string } {
  const href = safeHref(address)
  if (href === undefined) return {}
  // The other site neither learns the address of this document nor gets access to the window.
  return /^https?:/i.test(href) ? { href, rel: 'noopener noreferrer' } : { href }
}

/** An address for an image: of our own, http or https. */
export function imageSource(address: string): string | undefined {
  const href = safeHref(address)
  return href === undefined || /^(?:mailto|tel):/i.test(href) ? undefined : href
}
