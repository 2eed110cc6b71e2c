import { QuoinError } from '../../shared/errors.ts'
import { defineFlow, PinError } from '../block.ts'
import type { RunRequest } from '../run-request.ts'
import { fittingSignature } from './fitting-signature.ts'
import {
  type Algorithm,
  customScheme,
  type Encoding,
  github,
  type SignatureScheme,
  shopify,
  slack,
  stripe,
} from './signature-schemes.ts'

const presets: ReadonlyMap<string, SignatureScheme> = new Map([
  ['github', github],
  ['stripe', stripe],
  ['shopify', shopify],
  ['slack', slack],
])
const algorithms: readonly Algorithm[] = ['sha256', 'sha1', 'sha384', 'sha512']
const encodings: readonly Encoding[] = ['hex', 'base64', 'base64url']

/** Why a request is refused, for the flow: the client hears nothing of it. */
type Refusal = 'missing' | 'too_old' | 'wrong'

export default defineFlow({
  identifier: 'check_signature',
  title: 'Check signature',
  words: 'Check signature with {secret}',
  summary:
    'Checks that the request was signed with a secret: an HMAC over the body as it was sent. Where invalid is not wired, the client gets 401.',
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
    header: { kind: 'text', default: 'x-signature', help: 'custom: header with the signature.' },
    prefix: {
      kind: 'text',
      default: '',
      help: 'custom: text before the signature in the header, such as sha256=.',
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
      help: 'custom: header with the time of signing, in seconds since 1970. Empty: the time is not checked.',
    },
    signed: {
      kind: 'text',
      default: '{body}',
      help: 'custom: what is signed. {body} is the body as it was sent, {timestamp} the header of the time, such as {timestamp}.{body}.',
    },
  },
  async run({ connection, secret, former_secret: former, tolerance }, context) {
    const { settings } = context
    const { request, body } = withRawBody(connection ?? context.request)
    const scheme = presets.get(settings.sender) ?? custom(settings)
    const secrets = [secret.reveal(), ...(former ? [former.reveal()] : [])]
    const reason = await refusal(scheme, request, body, { secrets, tolerance, now: context.now() })
    if (reason === undefined) return { next: 'valid' }
    if (context.wired('invalid')) return { next: 'invalid', reason }
    throw new QuoinError('FLOW_FAILED', 'The signature is not valid.', {
      flow: { status: 401, code: 'INVALID_SIGNATURE', details: undefined },
    })
  },
})

interface Check {
  readonly secrets: readonly string[]
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
): Promise<Refusal | undefined> {
  const sent = scheme.read(request)
  if (!sent) return 'missing'
  if (sent.timestamp !== undefined && Math.abs(now / 1000 - sent.timestamp) > tolerance) return 'too_old'
  return (await fittingSignature(scheme, sent, body, secrets)) ? undefined : 'wrong'
}

function withRawBody(request: RunRequest | undefined) {
  if (request?.rawBody) return { request, body: request.rawBody }
  throw new PinError(
    'connection',
    'must be a request to an endpoint of the same blueprint: only there the body is present as it was sent',
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

function custom({ header, prefix, timestamp_header: timestampHeader, signed, ...written }: CustomSettings) {
  if (signed.split('{body}').length !== 2)
    throw new PinError('signed', 'must have {body} once: a signature that leaves the body out proves nothing')
  const algorithm = algorithms.find((one) => one === written.algorithm) ?? 'sha256'
  const encoding = encodings.find((one) => one === written.encoding) ?? 'hex'
  return customScheme({ header, prefix, algorithm, encoding, timestampHeader, signed })
}
