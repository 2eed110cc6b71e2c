import { expect, test } from 'vitest'
import type { RunRequest } from '../run-request.ts'
import { fittingSignature } from './check_signature.ts'
import { asKey, type SigningSettings, signRequest } from './sign-request.ts'
import { customScheme, github, type SignatureScheme, shopify, slack, stripe } from './signature-schemes.ts'

const custom: SigningSettings = {
  sender: 'custom',
  header: 'x-signature',
  prefix: '',
  algorithm: 'sha256',
  encoding: 'hex',
  timestamp_header: '',
  signed: '{body}',
  secret_encoding: 'text',
}
const body = { amount: 5, at: '2026-03-01T09:00:00Z' }
const raw = Buffer.from(JSON.stringify(body))
const signing = { secret: 'whsec_c2VjcmV0', now: 1_774_000_000_000, publicUrl: 'https://app.example' }
const request: RunRequest = {
  method: 'POST',
  url: '/api/v1/hook?n=1',
  headers: { 'webhook-id': 'msg_1' },
  ip: '',
  query: { n: '1' },
  path: {},
  body,
  user: undefined,
}

function schemeOf(settings: SigningSettings): SignatureScheme {
  return customScheme({
    ...{ header: settings.header, prefix: settings.prefix, signed: settings.signed, pins: {} },
    ...{
      algorithm: 'sha512',
      encoding: 'base64',
      ...(settings.algorithm === 'sha256' && { algorithm: 'sha256' }),
    },
    ...(settings.encoding === 'hex' && { encoding: 'hex' as const }),
    timestampHeader: settings.timestamp_header,
    publicUrl: signing.publicUrl,
  })
}

test.each<[string, Partial<SigningSettings>, SignatureScheme?]>([
  ['GitHub', { sender: 'github' }, github],
  ['Shopify', { sender: 'shopify' }, shopify],
  ['Stripe', { sender: 'stripe' }, stripe],
  ['Slack', { sender: 'slack' }, slack],
  ['a header of its own', {}],
  ['a prefix', { prefix: 'sha256=' }],
  ['base64 and SHA-512', { algorithm: 'sha512', encoding: 'base64' }],
  [
    'Standard Webhooks',
    {
      ...{ header: 'webhook-signature', prefix: 'v1,', timestamp_header: 'webhook-timestamp' },
      ...{ signed: '{headers.webhook-id}.{timestamp}.{body}', secret_encoding: 'base64' },
    },
  ],
  ['a time beside the signature', { timestamp_header: 'x-signature', signed: '{timestamp}.{body}' }],
  [
    'a time and a prefix in one header',
    {
      ...{ header: 'paddle-signature', timestamp_header: 'paddle-signature', prefix: 'h1=' },
      signed: '{timestamp}:{body}',
    },
  ],
  ['the time of the body', { timestamp_header: 'body.at', signed: '{timestamp}.{body}' }],
  ['method, address and query', { signed: '{method} {url} {query.n} {body}' }],
])('a request is signed as the check of %s takes it', async (_what, input, preset) => {
  const settings = { ...custom, ...input }
  const signed = signRequest(settings, request, raw, signing)
  if ('problem' in signed) throw new Error(signed.problem)
  const sent = { ...request, headers: { ...request.headers, ...signed.headers } }
  const scheme = preset ?? schemeOf(settings)
  const read = scheme.read(sent)
  const key = asKey(signing.secret, settings.secret_encoding)
  expect(read && (await fittingSignature(scheme, read, raw, [key]))).toBe(true)
  // Not with another secret, and the secret is in no header.
  expect(read && (await fittingSignature(scheme, read, raw, ['another']))).toBe(false)
  expect(JSON.stringify(signed)).not.toContain(signing.secret)
})

test.each<[string, Partial<SigningSettings>, RegExp]>([
  ['in the body', { header: 'body.signature' }, /expects the signature in body.signature/],
  ['over what is not there', { signed: '{headers.x-none}.{body}' }, /lacks a part of what is signed/],
  ['at a time that is not there', { timestamp_header: 'body.gone' }, /has no body.gone/],
])('a signature %s is said not to be possible', (_what, input, problem) => {
  expect(signRequest({ ...custom, ...input }, request, raw, signing)).toEqual({
    problem: expect.stringMatching(problem),
  })
})
