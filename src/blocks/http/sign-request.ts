/** Signs a request as its sender would, so that a builder can try an endpoint that checks signatures. */
import { createHmac } from 'node:crypto'
import type { RunRequest } from '../run-request.ts'
import { type Algorithm, type Encoding, isAlgorithm, isEncoding } from './signature-schemes.ts'
import { BODY, placedText, type SignedPart, signedParts } from './signed-text.ts'

/** Of the block `check_signature`. */
export interface SigningSettings {
  readonly sender: string
  readonly header: string
  readonly prefix: string
  readonly algorithm: string
  readonly encoding: string
  readonly timestamp_header: string
  readonly signed: string
  readonly secret_encoding: string
}

export interface Signing {
  readonly secret: string
  /** Milliseconds since 1970. */
  readonly now: number
  readonly publicUrl: string
}

export type Signed =
  | { readonly headers: Readonly<Record<string, string>> }
  /** Finishes "The request cannot be signed: …". */
  | { readonly problem: string }

/** `request`: without a signature. `body`: as it will be sent. */
export function signRequest(
  settings: SigningSettings,
  request: RunRequest,
  body: Uint8Array,
  signing: Signing,
): Signed {
  const time = String(Math.floor(signing.now / 1000))
  const usual = (algorithm: Algorithm, encoding: Encoding, ...parts: readonly SignedPart[]) =>
    digest(signing.secret, algorithm, encoding, parts, body)
  switch (settings.sender) {
    case 'github':
      return { headers: { 'x-hub-signature-256': `sha256=${usual('sha256', 'hex', BODY)}` } }
    case 'shopify':
      return { headers: { 'x-shopify-hmac-sha256': usual('sha256', 'base64', BODY) } }
    case 'stripe':
      return {
        headers: { 'stripe-signature': `t=${time},v1=${usual('sha256', 'hex', `${time}.`, BODY)}` },
      }
    case 'slack':
      return {
        headers: {
          'x-slack-request-timestamp': time,
          'x-slack-signature': `v0=${usual('sha256', 'hex', `v0:${time}:`, BODY)}`,
        },
      }
    default:
      return signedByCustom(settings, request, body, signing, time)
  }
}

function signedByCustom(
  settings: SigningSettings,
  request: RunRequest,
  body: Uint8Array,
  { secret, publicUrl }: Signing,
  now: string,
): Signed {
  const { header, prefix, timestamp_header: timeHeader, signed: template } = settings
  if (!isHeader(header))
    return { problem: `the block expects the signature in ${header}, which is no header` }
  const isShared = timeHeader.toLowerCase() === header.toLowerCase()
  const ownTime = timeHeader !== '' && !isHeader(timeHeader) ? placedText(timeHeader, request) : now
  if (ownTime === undefined) return { problem: `the request has no ${timeHeader}, the time of signing` }
  const sentTime =
    timeHeader !== '' && isHeader(timeHeader) && !isShared ? { [bare(timeHeader)]: ownTime } : {}
  const whole = { ...request, headers: { ...request.headers, ...sentTime } }
  const parts = signedParts(template, {
    request: whole,
    timestamp: timeHeader === '' ? '' : ownTime,
    publicUrl,
  })
  if (!parts) return { problem: `the request lacks a part of what is signed, ${template}` }
  const algorithm = isAlgorithm(settings.algorithm) ? settings.algorithm : 'sha256'
  const encoding = isEncoding(settings.encoding) ? settings.encoding : 'hex'
  const signature = digest(asKey(secret, settings.secret_encoding), algorithm, encoding, parts, body)
  const value = isShared
    ? `t=${ownTime},${prefix === '' ? 'v1=' : prefix}${signature}`
    : `${prefix}${signature}`
  return { headers: { ...sentTime, [bare(header)]: value } }
}

function digest(
  key: string | Uint8Array,
  algorithm: Algorithm,
  encoding: Encoding,
  parts: readonly SignedPart[],
  body: Uint8Array,
): string {
  const hmac = createHmac(algorithm, key)
  for (const part of parts) hmac.update(part === BODY ? body : part)
  return hmac.digest(encoding)
}

function isHeader(place: string): boolean {
  return !place.startsWith('body.') && !place.startsWith('query.')
}

function bare(header: string): string {
  return header.toLowerCase().replace(/^headers\./, '')
}

/** How the secret of a custom sender is written; base64 also behind `whsec_`, as Standard Webhooks have it. */
export function asKey(secret: string, encoding: string): string | Uint8Array {
  if (encoding === 'base64') return Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return encoding === 'hex' ? Buffer.from(secret, 'hex') : secret
}
