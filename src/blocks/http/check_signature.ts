import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto'
import { yieldToEventLoop } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import { defineFlow, PinError } from '../block.ts'
import type { RunRequest, SignatureFinding, SignatureRefusal } from '../run-request.ts'
import { asKey } from './sign-request.ts'
import {
  algorithms,
  customScheme,
  type Encoding,
  encodings,
  github,
  isAlgorithm,
  isEncoding,
  type SentSignature,
  type SignatureScheme,
  shopify,
  slack,
  stripe,
} from './signature-schemes.ts'
import { BODY, placeProblem, templateProblem } from './signed-text.ts'

/** Hashed in one turn: 2.3 ms with SHA-256, 4.9 ms with SHA-512. */
const A_TURN = 4 * 1024 * 1024

/** Whether one of the signatures is of this body and one of the secrets. Compared in constant time. */
export async function fittingSignature(
  { algorithm, encoding }: Pick<SignatureScheme, 'algorithm' | 'encoding'>,
  { signatures, signed }: SentSignature,
  body: Uint8Array,
  secrets: readonly (string | Uint8Array)[],
): Promise<boolean> {
  const sent = signatures.map((one) => written(one, encoding))
  let fits = false
  for (const secret of secrets) {
    const hmac = createHmac(algorithm, secret)
    for (const part of signed)
      if (part === BODY) await update(hmac, body)
      else hmac.update(part)
    const expected = Buffer.from(hmac.digest(encoding))
    // All are compared, so that the time does not say which one was near.
    for (const one of sent)
      if (one.byteLength === expected.byteLength && timingSafeEqual(one, expected)) fits = true
  }
  return fits
}

async function update(hmac: Hmac, body: Uint8Array): Promise<void> {
  for (let at = 0; at < body.byteLength; at += A_TURN) {
    hmac.update(body.subarray(at, at + A_TURN))
    if (at + A_TURN < body.byteLength) await yieldToEventLoop()
  }
}

/** As our digests are written: digits in lower case, base64url without padding. */
function written(signature: string, encoding: Encoding): Buffer {
  if (encoding === 'hex') return Buffer.from(signature.toLowerCase())
  return Buffer.from(encoding === 'base64url' ? signature.replace(/(?<!=)=+$/, '') : signature)
}

const presets: ReadonlyMap<string, SignatureScheme> = new Map([
  ['github', github],
  ['stripe', stripe],
  ['shopify', shopify],
  ['slack', slack],
])

/** Further ones are not recorded. */
const MOST_RECORDED = 100

export default defineFlow({
  identifier: 'check_signature',
  title: 'Check signature',
  words: 'Check signature with {secret}',
  summary:
    'Checks that the request was signed with a secret: an HMAC over the body as it was sent. The secret is sent nowhere. Where invalid is not wired, the client gets 401.',
  ends: true,
  readsRawBody: true,
  in: {
    connection: {
      type: 'connection',
      help: 'The request to check. Default: the one that started the flow.',
    },
    secret: { type: 'secret', required: true, help: 'Name of the secret that the sender signs with.' },
    former_secret: {
      type: 'secret',
      help: 'Name of a second secret that is accepted too, while the sender changes its secret.',
    },
    signature: {
      type: 'value',
      help: 'custom: the signature, such as =body.signature.signature. Empty: as the settings header and prefix say.',
    },
    signed: {
      type: 'value',
      help: 'custom: the signed text, such as =body.signature.timestamp + body.signature.token. Empty: as the setting signed says, which knows the body as it was sent.',
    },
    time: {
      type: 'value',
      help: 'custom: the time of signing, such as =body.signature.timestamp: seconds or milliseconds since 1970, or an instant. Empty: as the setting timestamp_header says.',
    },
    tolerance: {
      type: 'number',
      default: 300,
      min: 1,
      max: 86_400,
      help: 'Maximum seconds between the signed time and now, where the sender signs the time.',
    },
  },
  out: {
    valid: { type: 'flow', help: 'Taken when the signature is valid.' },
    invalid: { type: 'flow', help: 'Taken when it is not. Not wired: the run fails with 401.' },
    reason: {
      type: 'value',
      help: 'Why it is invalid: missing (a header is not there or malformed), too_old (the signed time) or wrong.',
    },
  },
  settings: {
    sender: {
      kind: 'choice',
      options: ['github', 'stripe', 'shopify', 'slack', 'custom'],
      required: true,
      help: 'Who signs: the headers and the form of the signature follow from it. custom: as the further settings say.',
    },
    header: {
      kind: 'text',
      default: 'x-signature',
      help: 'custom: where the signature is: a header, or body.field or query.name.',
    },
    prefix: {
      kind: 'text',
      default: '',
      help: 'custom: text before the signature, such as sha256=, or v1= where a header has several values, such as t=…,v1=….',
    },
    algorithm: { kind: 'choice', options: algorithms, default: 'sha256', help: 'custom: hash of the HMAC.' },
    encoding: {
      kind: 'choice',
      options: encodings,
      default: 'hex',
      help: 'custom: how the signature is written.',
    },
    timestamp_header: {
      kind: 'text',
      default: '',
      help: 'custom: where the time of signing is: a header, or body.field or query.name. Its value, or the value named t, ts, time or timestamp in it, is in seconds or milliseconds since 1970, or an instant. Empty: the time is not checked.',
    },
    signed: {
      kind: 'text',
      default: '{body}',
      help: 'custom: what is signed, such as {timestamp}.{body}. {body} is the body as it was sent, {timestamp} the time as it was sent; also {body.field}, {headers.name}, {query.name}, {method}, {path} with its query, and {url}.',
    },
    secret_encoding: {
      kind: 'choice',
      options: ['text', 'base64', 'hex'],
      default: 'text',
      help: 'custom: how the secret is written. base64: after whsec_ if it begins so, as Standard Webhooks do.',
    },
  },
  check({ signed }, settings) {
    if (settings.sender !== 'custom') return
    const { header, timestamp_header: time, signed: template } = settings
    const wrong = (pin: string, problem: string | undefined) => {
      if (problem !== undefined) throw new PinError(pin, problem)
    }
    wrong('header', placeProblem(header))
    if (time !== '') wrong('timestamp_header', placeProblem(time))
    if (signed === undefined) wrong('signed', templateProblem(template))
  },
  async run({ connection, secret, former_secret: former, tolerance, ...input }, context) {
    const { settings, publicUrl } = context
    const asked = connection ?? context.request
    const found = foundBy(asked, context.block ?? '')
    const check = () => {
      const { request, body } = withRawBody(asked)
      const scheme = presets.get(settings.sender) ?? custom(settings, publicUrl, input)
      const written = settings.sender === 'custom' ? settings.secret_encoding : 'text'
      const secrets = [secret, ...(former ? [former] : [])].map((one) =>
        asKey(one.revealToCompare(), written),
      )
      const now = request.received ?? context.now()
      return refusal(scheme, request, body, { secrets, tolerance, now })
    }
    const finding = found.recorded ?? (await check()) ?? 'valid'
    found.note(finding)
    if (finding === 'valid') return { next: 'valid' }
    if (context.wired('invalid')) return { next: 'invalid', reason: finding }
    throw new QuoinError('FLOW_FAILED', 'The signature is not valid.', {
      flow: { status: 401, code: 'INVALID_SIGNATURE', details: undefined },
    })
  },
})

/** What this block found in the run that is repeated; undefined = it did not check then. The last one counts for further checks. */
function foundBy(request: RunRequest | undefined, block: string) {
  const { found = {}, recorded = {} } = request?.signatures ?? {}
  const ours = found[block] ?? []
  const before = recorded[block]
  return {
    recorded: before?.[ours.length] ?? before?.at(-1),
    note(finding: SignatureFinding) {
      if (ours.length < MOST_RECORDED) found[block] = [...ours, finding]
    },
  }
}

interface Check {
  readonly secrets: readonly (string | Uint8Array)[]
  /** Seconds. */
  readonly tolerance: number
  /** Milliseconds since 1970. */
  readonly now: number
}

async function refusal(
  scheme: SignatureScheme,
  request: RunRequest,
  body: Uint8Array,
  { secrets, tolerance, now }: Check,
): Promise<SignatureRefusal | undefined> {
  const sent = scheme.read(request)
  if (!sent) return 'missing'
  if (sent.timestamp !== undefined && Math.abs(now / 1000 - sent.timestamp) > tolerance) return 'too_old'
  return (await fittingSignature(scheme, sent, body, secrets)) ? undefined : 'wrong'
}

function withRawBody(request: RunRequest | undefined) {
  if (request?.rawBody) return { request, body: request.rawBody }
  throw new PinError(
    'connection',
    'must be a request to an endpoint of the same blueprint: only there the body is present as it was sent. A record of a run leaves out bodies that are too long or hold secrets',
  )
}

interface CustomSettings {
  readonly header: string
  readonly prefix: string
  readonly algorithm: string
  readonly encoding: string
  readonly timestamp_header: string
  readonly signed: string
}

/** What pins say instead of settings. */
interface PinValues {
  readonly signature?: string | undefined
  readonly signed?: string | undefined
  readonly time?: string | undefined
}

function custom(settings: CustomSettings, publicUrl: string, input: PinValues): SignatureScheme {
  const { header, prefix, timestamp_header: timestampHeader, signed: template } = settings
  const problem = input.signed === undefined ? templateProblem(template) : undefined
  if (problem !== undefined) throw new PinError('signed', problem)
  const algorithm = isAlgorithm(settings.algorithm) ? settings.algorithm : 'sha256'
  const encoding = isEncoding(settings.encoding) ? settings.encoding : 'hex'
  const pins = { signature: input.signature, text: input.signed, time: input.time }
  return customScheme({
    header,
    prefix,
    algorithm,
    encoding,
    timestampHeader,
    signed: template,
    publicUrl,
    pins,
  })
}
