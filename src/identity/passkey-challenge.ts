/**
 * Where passkeys work, and the challenges that they sign. A browser binds a passkey to the host that it was made for: that of
 * QUOIN_PUBLIC_URL. Nothing else decides it, since a host that a request names could be another site. A challenge is signed by this cluster and says until when it works; nothing is stored for a visitor who
 * only opens the sign-in page. What it is for and to whom it belongs is signed too: a challenge of another browser, session or
 * purpose is refused. One that was used is stored until it expires, so that it works once on all nodes.
 */
import { isIP } from 'node:net'
import type { SigningSecret } from '../records/secrets/signing-secret.ts'
import type { Random } from '../shared/guid.ts'

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

/** As long as a sign-in at a provider: the sign-in page may be open for a while before a passkey is chosen. */
export const PASSKEY_SECONDS = 900

/** `sign-in`: belongs to a browser. `factor`, `setup`: to the challenge of a password. `confirm`, `add`: to a session. */
export type PasskeyPurpose = 'sign-in' | 'factor' | 'setup' | 'confirm' | 'add'

export interface PasskeyUse {
  readonly purpose: PasskeyPurpose
  /** The browser's cookie, the challenge or the session that it belongs to. */
  readonly owner: string
}

interface Signing {
  readonly secret: SigningSecret
  readonly random: Random
}

export function newPasskeyChallenge({ secret, random }: Signing, use: PasskeyUse, now: number): string {
  const name = Buffer.alloc(16)
  random(name)
  const text = `${now + PASSKEY_SECONDS}.${name.toString('base64url')}`
  return Buffer.from(`${text}.${signatureOf(secret, use, text)}`).toString('base64url')
}

export interface PasskeyChallenge {
  /** As the browser sent it. */
  readonly text: string
  /** Unix seconds. */
  readonly expiry: number
}

/** The challenge that a browser has signed; undefined unless this cluster made it, for this use, and it has not expired. */
export function challengeIn(
  secret: SigningSecret,
  use: PasskeyUse,
  clientData: string,
  now: number,
): PasskeyChallenge | undefined {
  const text = signedChallenge(clientData)
  if (text === undefined) return undefined
  const [expiry = '', name = '', signature = ''] = Buffer.from(text, 'base64url')
    .toString('latin1')
    .split('.')
  if (!secret.verify(purposeOf(use), `${expiry}.${name}`, signature)) return undefined
  return Number(expiry) > now ? { text, expiry: Number(expiry) } : undefined
}

function signedChallenge(clientData: string): string | undefined {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientData, 'base64url').toString('utf8'))
    const { challenge } = Object(data)
    return typeof challenge === 'string' && challenge.length <= 256 ? challenge : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function signatureOf(secret: SigningSecret, use: PasskeyUse, text: string): string {
  return secret.sign(purposeOf(use), text)
}

function purposeOf({ purpose, owner }: PasskeyUse): string {
  return `passkey ${purpose} ${owner}`
}
