/**
 * Where passkeys work. A browser binds a passkey to the host that it was made for: that of QUOIN_PUBLIC_URL. Nothing else decides it, since
 * a host that a request names could be another site.
 */
import { isIP } from 'node:net'

export interface PasskeySite {
  /** The host, without a port: the relying party of WebAuthn. */
  readonly host: string
  readonly origin: string
}

export type PasskeyProblem = 'unset' | 'ip' | 'insecure'

/** The site, or why browsers make no passkeys for it. */
export function passkeySite(publicUrl: string): PasskeySite | PasskeyProblem {
  const url = URL.parse(publicUrl)
  if (!url) return 'unset'
  const { hostname: host, origin, protocol } = url
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0) return 'ip'
  const isLocal = host === 'localhost' || host.endsWith('.localhost')
  return protocol === 'https:' || isLocal ? { host, origin } : 'insecure'
}

export const passkeyProblems: Readonly<Record<PasskeyProblem, string>> = {
  unset: 'Passkeys are bound to a host name. Set QUOIN_PUBLIC_URL to the address that users open.',
  ip: 'Passkeys are bound to a host name, and QUOIN_PUBLIC_URL has an IP address. Set it to an address with a host name.',
  insecure:
    'Browsers make passkeys over https:// only, and on localhost. Set QUOIN_PUBLIC_URL to such an address.',
}
