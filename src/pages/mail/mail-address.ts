import { safeHref } from '../../shared/pages/page-content.ts'

/** Whether an address only means something beside the address of the cluster. */
export function isRelative(href: string): boolean {
  return !/^[a-z][a-z0-9+.-]*:/i.test(href.trim())
}

/**
 * The whole address of a link in a mail. `site`: the address at which users reach the cluster, without a slash at its end; empty
 * for none. undefined for an address that must not be followed, or that is relative while there is no site.
 */
export function wholeAddress(href: string, site: string): string | undefined {
  const safe = safeHref(href)
  if (safe === undefined || !isRelative(safe)) return safe
  // A mail has no places to jump to.
  if (site === '' || safe.startsWith('#')) return undefined
  return safe.startsWith('/') ? `${site}${safe}` : `${site}/${safe}`
}
