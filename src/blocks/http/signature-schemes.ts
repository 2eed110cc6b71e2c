/** How senders of webhooks sign: where the signature is, what of the request it covers, how it is written. */
import { instantOf } from '../../shared/fields/value-forms.ts'
import type { RunRequest } from '../run-request.ts'
import { BODY, placedText, type SignedPart, signedParts } from './signed-text.ts'

export const algorithms = ['sha256', 'sha1', 'sha384', 'sha512'] as const
export type Algorithm = (typeof algorithms)[number]
export const encodings = ['hex', 'base64', 'base64url'] as const
export type Encoding = (typeof encodings)[number]

export function isAlgorithm(text: string): text is Algorithm {
  return algorithms.some((one) => one === text)
}

export function isEncoding(text: string): text is Encoding {
  return encodings.some((one) => one === text)
}

export interface SignatureScheme {
  readonly algorithm: Algorithm
  readonly encoding: Encoding
  /** Undefined where the request lacks something that the sender always sends. */
  read(request: RunRequest): SentSignature | undefined
}

export interface SentSignature {
  /** As they were sent, without what stands before them. Any may fit: a sender changes its secret. */
  readonly signatures: readonly string[]
  /** What is signed. */
  readonly signed: readonly SignedPart[]
  /** Seconds since 1970, where the sender signs the time. */
  readonly timestamp: number | undefined
}

export interface CustomScheme {
  /** Where the signature is. */
  readonly header: string
  readonly algorithm: Algorithm
  readonly encoding: Encoding
  readonly prefix: string
  /** Empty for none. */
  readonly timestampHeader: string
  /** A template. */
  readonly signed: string
  readonly publicUrl: string
  /** What pins say instead. */
  readonly pins: {
    readonly signature?: string | undefined
    /** That is signed. */
    readonly text?: string | undefined
    readonly time?: string | undefined
  }
}

/** Signatures of one header that are compared. */
const MOST = 10
const SECONDS = /^\d{1,12}$/

const plain = { signed: [BODY], timestamp: undefined } as const

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
    return { signatures, signed: [`${time}.`, BODY], timestamp: Number(time) }
  },
}

export const slack: SignatureScheme = {
  algorithm: 'sha256',
  encoding: 'hex',
  read(request) {
    const time = headerOf(request, 'x-slack-request-timestamp') ?? ''
    const signature = afterPrefix(headerOf(request, 'x-slack-signature'), 'v0=')
    if (!SECONDS.test(time) || signature === undefined) return undefined
    return { signatures: [signature], signed: [`v0:${time}:`, BODY], timestamp: Number(time) }
  },
}

export function customScheme(input: CustomScheme): SignatureScheme {
  const { algorithm, encoding, prefix, header, timestampHeader, publicUrl } = input
  return {
    algorithm,
    encoding,
    read(request) {
      const { signature, text } = input.pins
      const hasTime = input.pins.time !== undefined || timestampHeader !== ''
      const time = hasTime ? timeIn(input.pins.time ?? placedText(timestampHeader, request) ?? '') : undefined
      if (hasTime && time === undefined) return undefined
      const isShared = timestampHeader.toLowerCase() === header.toLowerCase()
      const sent = signature ?? placedText(header, request) ?? ''
      const signatures = signature === undefined ? signaturesIn(sent, prefix, isShared) : [signature.trim()]
      const signed =
        text === undefined
          ? signedParts(input.signed, { request, timestamp: time?.text ?? '', publicUrl })
          : [text]
      if (sent === '' || signatures.length === 0 || !signed) return undefined
      return { signatures, signed, timestamp: time?.seconds }
    },
  }
}

/** Names of the time beside a signature: `t` of Calendly, `ts` of Paddle. */
const TIMES = new Set(['t', 'ts', 'time', 'timestamp'])

/** What a value between commas or semicolons says: `t=1492774577`. */
function pairsIn(text: string): readonly (readonly [name: string, value: string])[] {
  return text.split(/[,;]/, 4 * MOST).flatMap((part) => {
    const at = part.indexOf('=')
    return at < 1 ? [] : [[part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim()] as const]
  })
}

/** The time of signing as it was sent, which is what is signed, and in seconds. Of several values it is the one that is named so. */
function timeIn(text: string): { readonly text: string; readonly seconds: number } | undefined {
  const alone = secondsOf(text)
  if (alone !== undefined) return { text, seconds: alone }
  const times = pairsIn(text).filter(([name]) => TIMES.has(name))
  const [, value = ''] = times[0] ?? []
  const seconds = times.length === 1 ? secondsOf(value) : undefined
  return seconds === undefined ? undefined : { text: value, seconds }
}

/** Seconds since 1970, milliseconds, or a time such as 2026-01-31T09:00:00Z. */
function secondsOf(text: string): number | undefined {
  if (SECONDS.test(text)) return Number(text)
  if (/^\d{13}$/.test(text)) return Number(text) / 1000
  const instant = instantOf(text)
  return instant === undefined ? undefined : instant / 1000
}

/**
 * Behind the prefix; where several come in one header (`t=1,v1=…`, or `v1,… v1,…` with spaces), each that has the prefix. Without one,
 * each value that is not the time.
 */
function signaturesIn(sent: string, prefix: string, isShared: boolean): readonly string[] {
  const alone = afterPrefix(sent, prefix)
  if (prefix === '') {
    const named = isShared ? pairsIn(sent).filter(([name]) => !TIMES.has(name)) : []
    return isShared ? named.map(([, value]) => value).slice(0, MOST) : [sent]
  }
  const parts = [...sent.split(/\s+/, 4 * MOST), ...sent.split(/[,;]/, 4 * MOST)]
  const found = parts.flatMap((part) => afterPrefix(part.trim(), prefix) ?? [])
  return [...new Set([...(alone === undefined ? [] : [alone]), ...found])].slice(0, MOST)
}

/** Undefined for a header that is not sent, or more than once. */
function headerOf({ headers }: RunRequest, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value.trim() : undefined
}

function afterPrefix(text: string | undefined, prefix: string): string | undefined {
  return text?.startsWith(prefix) ? text.slice(prefix.length) : undefined
}
