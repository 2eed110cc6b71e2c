/** How senders of webhooks sign: where the signature is, what of the request it covers, how it is written. */
import type { RunRequest } from '../run-request.ts'

export type Algorithm = 'sha1' | 'sha256' | 'sha384' | 'sha512'
export type Encoding = 'hex' | 'base64' | 'base64url'

export interface SignatureScheme {
  readonly algorithm: Algorithm
  readonly encoding: Encoding
  /** Undefined where the request lacks something that the sender always sends. */
  read(request: RunRequest): SentSignature | undefined
}

export interface SentSignature {
  /** As they were sent, without what stands before them. Any may fit: a sender changes its secret. */
  readonly signatures: readonly string[]
  /** What is signed: this, and then the body as it was sent, and then `after`. */
  readonly before: string
  readonly after: string
  /** Seconds since 1970, where the sender signs the time. */
  readonly timestamp: number | undefined
}

export interface CustomScheme {
  readonly header: string
  readonly algorithm: Algorithm
  readonly encoding: Encoding
  readonly prefix: string
  /** Empty for none. */
  readonly timestampHeader: string
  /** With {body} and perhaps {timestamp}. */
  readonly signed: string
}

/** Signatures of one header that are compared. */
const MOST = 10
const SECONDS = /^\d{1,12}$/

const plain = { before: '', after: '', timestamp: undefined } as const

/** `sha256=` and hexadecimal digits. */
export const github: SignatureScheme = {
  algorithm: 'sha256',
  encoding: 'hex',
  read(request) {
    const signature = afterPrefix(headerOf(request, 'x-hub-signature-256'), 'sha256=')
    return signature === undefined ? undefined : { signatures: [signature], ...plain }
  },
}

export const shopify: SignatureScheme = {
  algorithm: 'sha256',
  encoding: 'base64',
  read(request) {
    const signature = headerOf(request, 'x-shopify-hmac-sha256')
    return signature === undefined ? undefined : { signatures: [signature], ...plain }
  },
}

/** `t=` seconds, and one `v1=` for each secret that the sender signs with. */
export const stripe: SignatureScheme = {
  algorithm: 'sha256',
  encoding: 'hex',
  read(request) {
    const parts = (headerOf(request, 'stripe-signature') ?? '').split(',', 4 * MOST)
    const named = (name: string) => parts.flatMap((part) => afterPrefix(part.trim(), `${name}=`) ?? [])
    const [time = ''] = named('t')
    const signatures = named('v1').slice(0, MOST)
    if (!SECONDS.test(time) || signatures.length === 0) return undefined
    return { signatures, before: `${time}.`, after: '', timestamp: Number(time) }
  },
}

export const slack: SignatureScheme = {
  algorithm: 'sha256',
  encoding: 'hex',
  read(request) {
    const time = headerOf(request, 'x-slack-request-timestamp') ?? ''
    const signature = afterPrefix(headerOf(request, 'x-slack-signature'), 'v0=')
    if (!SECONDS.test(time) || signature === undefined) return undefined
    return { signatures: [signature], before: `v0:${time}:`, after: '', timestamp: Number(time) }
  },
}

export function customScheme(given: CustomScheme): SignatureScheme {
  const { algorithm, encoding, prefix, timestampHeader } = given
  const [before = '', after = ''] = given.signed.split('{body}')
  return {
    algorithm,
    encoding,
    read(request) {
      const signature = afterPrefix(headerOf(request, given.header.toLowerCase()), prefix)
      const time = timestampHeader === '' ? undefined : headerOf(request, timestampHeader.toLowerCase())
      if (signature === undefined || (timestampHeader !== '' && !SECONDS.test(time ?? ''))) return undefined
      const filled = (text: string) => text.replaceAll('{timestamp}', time ?? '')
      return {
        signatures: [signature],
        before: filled(before),
        after: filled(after),
        timestamp: time === undefined ? undefined : Number(time),
      }
    },
  }
}

/** Undefined for a header that is not sent, or more than once. */
function headerOf({ headers }: RunRequest, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value.trim() : undefined
}

function afterPrefix(text: string | undefined, prefix: string): string | undefined {
  return text?.startsWith(prefix) ? text.slice(prefix.length) : undefined
}
