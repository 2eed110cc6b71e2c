/** Vectors are those of the senders' own documentation, where they publish one; the others follow their description. */
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { requestWith, runBlock } from '../../../test/run-block.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { Secret } from '../secret.ts'
import block from './check_signature.ts'

const secretOf = (value: string) => new Secret('SIGNING', () => value)

interface Sent {
  readonly pins?: JsonObject
  readonly json?: JsonValue
  readonly url?: string
  readonly sender: string
  readonly secret: string
  readonly body: string | Buffer
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** Seconds. */
  readonly now?: number
  readonly former?: string
  readonly fields?: JsonObject
  readonly tolerance?: number
}

function check(sent: Sent, wired = true) {
  const {
    sender,
    secret,
    former,
    body,
    headers,
    now = 0,
    fields,
    tolerance,
    pins,
    json,
    url = '/hook',
  } = sent
  return runBlock(block, {
    fields: { sender, ...fields },
    inputs: {
      secret: secretOf(secret),
      ...(former !== undefined && { former_secret: secretOf(former) }),
      ...(tolerance !== undefined && { tolerance }),
      ...pins,
    },
    request: requestWith({ method: 'POST', url, headers, body: json, rawBody: Buffer.from(body) }),
    publicUrl: 'https://shop.example',
    now: () => now * 1000,
    wired: wired ? ['valid', 'invalid', 'reason'] : ['valid'],
  })
}

const github: Sent = {
  sender: 'github',
  secret: ["It's a Secret to Every", 'body'].join(''),
  body: 'Hello, World!',
  headers: {
    'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
  },
}
const slack: Sent = {
  sender: 'slack',
  secret: '8f742231b10e8888abcd99yyyzzz85a5',
  body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  headers: {
    'x-slack-request-timestamp': '1531420618',
    'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  },
  now: 1_531_420_618,
}
const hmac = (
  secret: string,
  text: string,
  encoding: 'hex' | 'base64' | 'base64url' = 'hex',
  hash = 'sha256',
) => createHmac(hash, secret).update(text).digest(encoding)
const event = '{"id":"evt_1","object":"event"}'
const v1 = (secret: string) => `v1=${hmac(secret, `1492774577.${event}`)}`
const stripe: Sent = {
  sender: 'stripe',
  secret: 'whsec_test_secret',
  body: event,
  headers: { 'stripe-signature': `t=1492774577,${v1('whsec_test_secret')},v0=6ffbb59b2300aae63f27` },
  now: 1_492_774_577,
}
const shopify: Sent = {
  sender: 'shopify',
  secret: 'hush',
  body: event,
  headers: { 'x-shopify-hmac-sha256': hmac('hush', event, 'base64') },
}
const custom: Sent = {
  sender: 'custom',
  secret: 'key',
  body: event,
  headers: { 'x-signature': hmac('key', event) },
}

const withHeader = (sent: Sent, name: string, value: string | readonly string[]): Sent => ({
  ...sent,
  headers: { ...sent.headers, [name]: value },
})

describe('valid', () => {
  test.each<[string, Sent]>([
    ['the example of GitHub', github],
    [
      'the same in capitals',
      withHeader(
        github,
        'x-hub-signature-256',
        `sha256=${String(github.headers['x-hub-signature-256']).slice(7).toUpperCase()}`,
      ),
    ],
    ['the example of Slack', slack],
    ['Slack, 300 s later', { ...slack, now: 1_531_420_918 }],
    ['Stripe', stripe],
    [
      'Stripe with two signatures, the second of ours',
      withHeader(stripe, 'stripe-signature', `t=1492774577,${v1('former')},${v1('whsec_test_secret')}`),
    ],
    ['Shopify', shopify],
    ['an empty body', { ...custom, body: '', headers: { 'x-signature': hmac('key', '') } }],
    [
      'bytes that are no text',
      {
        ...custom,
        body: Buffer.from([255, 0, 254]),
        headers: {
          'x-signature': createHmac('sha256', 'key')
            .update(Buffer.from([255, 0, 254]))
            .digest('hex'),
        },
      },
    ],
    [
      'a body of 9 MB',
      {
        ...custom,
        body: 'x'.repeat(9_000_000),
        headers: { 'x-signature': hmac('key', 'x'.repeat(9_000_000)) },
      },
    ],
    ['signed with the former secret', { ...custom, secret: 'new', former: 'key' }],
    ['signed with the new one of two', { ...custom, former: 'old' }],
    [
      'all that is custom',
      {
        ...custom,
        headers: { 'x-sign': `v2 ${hmac('key', `9:${event}:end`, 'base64url', 'sha512')}==`, 'x-time': '9' },
        fields: {
          header: 'X-Sign',
          prefix: 'v2 ',
          algorithm: 'sha512',
          encoding: 'base64url',
          timestamp_header: 'X-Time',
          signed: '{timestamp}:{body}:end',
        },
      },
    ],
  ])('%s', async (_what, sent) => {
    const { next, outputs } = await check(sent)
    expect([next, outputs]).toEqual(['valid', {}])
  })
})

describe('invalid', () => {
  const slackOf = (changes: Record<string, string>) => ({
    ...slack,
    headers: { ...slack.headers, ...changes },
  })
  test.each<[string, Sent, string]>([
    ['no header', { ...github, headers: {} }, 'missing'],
    ['an empty header', withHeader(github, 'x-hub-signature-256', ''), 'missing'],
    [
      'two of the header',
      withHeader(github, 'x-hub-signature-256', [String(github.headers['x-hub-signature-256']), 'x']),
      'missing',
    ],
    [
      'no prefix',
      withHeader(github, 'x-hub-signature-256', String(github.headers['x-hub-signature-256']).slice(7)),
      'missing',
    ],
    ['one byte of the body', { ...github, body: 'Hello, World?' }, 'wrong'],
    ['another secret', { ...github, secret: "It's a secret" }, 'wrong'],
    [
      'one more digit',
      withHeader(github, 'x-hub-signature-256', `${github.headers['x-hub-signature-256']}0`),
      'wrong',
    ],
    [
      'one digit less',
      withHeader(github, 'x-hub-signature-256', String(github.headers['x-hub-signature-256']).slice(0, -1)),
      'wrong',
    ],
    ['neither of two secrets', { ...github, secret: 'a', former: 'b' }, 'wrong'],
    ['Slack, 301 s later', { ...slack, now: 1_531_420_919 }, 'too_old'],
    ['Slack, 301 s earlier', { ...slack, now: 1_531_420_317 }, 'too_old'],
    ['Slack, later than the tolerance', { ...slack, now: 1_531_420_629, tolerance: 10 }, 'too_old'],
    ['Slack with another time', { ...slackOf({ 'x-slack-request-timestamp': '1531420619' }) }, 'wrong'],
    ['Slack without a time', slackOf({ 'x-slack-request-timestamp': '' }), 'missing'],
    ['Slack with a time that is none', slackOf({ 'x-slack-request-timestamp': '1531420618.5' }), 'missing'],
    [
      'Stripe of another secret',
      withHeader(stripe, 'stripe-signature', `t=1492774577,${v1('other')}`),
      'wrong',
    ],
    [
      'Stripe with the old scheme only',
      withHeader(stripe, 'stripe-signature', `t=1492774577,${v1('whsec_test_secret').replace('v1', 'v0')}`),
      'missing',
    ],
    ['Stripe without a time', withHeader(stripe, 'stripe-signature', v1('whsec_test_secret')), 'missing'],
    [
      'Stripe with a later time',
      withHeader(stripe, 'stripe-signature', `t=1492774578,${v1('whsec_test_secret')}`),
      'wrong',
    ],
    [
      'the eleventh of eleven',
      withHeader(
        stripe,
        'stripe-signature',
        `t=1492774577,${`${v1('x')},`.repeat(10)}${v1('whsec_test_secret')}`,
      ),
      'wrong',
    ],
    [
      'Shopify in hexadecimal digits',
      withHeader(shopify, 'x-shopify-hmac-sha256', hmac('hush', event)),
      'wrong',
    ],
  ])('%s', async (_what, sent, reason) => {
    const { next, outputs } = await check(sent)
    expect([next, outputs]).toEqual(['invalid', { reason }])
  })

  test('is 401 where the way is not wired, which says no more', async () => {
    await expect(check({ ...github, secret: 'x' }, false)).rejects.toMatchObject({
      code: 'FLOW_FAILED',
      status: 401,
      message: 'The signature is not valid.',
    })
    expect((await check(github, false)).next).toBe('valid')
  })
})

const token = {
  signature: { timestamp: 1_700_000_000, token: 'abc', signature: hmac('key', '1700000000abc') },
}
const inBody: Sent = { ...custom, headers: {}, json: token, body: JSON.stringify(token) }
const calendly: Sent = {
  ...custom,
  headers: { 'calendly-webhook-signature': `t=1700000000,v1=${hmac('key', `1700000000.${event}`)}` },
  now: 1_700_000_000,
  fields: {
    header: 'Calendly-Webhook-Signature',
    timestamp_header: 'calendly-webhook-signature',
    signed: '{timestamp}.{body}',
  },
}
const webhookId = 'msg_1'
const standardKey = Buffer.from('a key of 24 bytes ......')
const standard: Sent = {
  ...custom,
  secret: `whsec_${standardKey.toString('base64')}`,
  headers: {
    'webhook-id': webhookId,
    'webhook-timestamp': '1700000000',
    'webhook-signature': `v1,bm90aGluZw== v1,${createHmac('sha256', standardKey).update(`${webhookId}.1700000000.${event}`).digest('base64')}`,
  },
  now: 1_700_000_000,
  fields: {
    header: 'webhook-signature',
    prefix: 'v1,',
    encoding: 'base64',
    secret_encoding: 'base64',
    timestamp_header: 'webhook-timestamp',
    signed: '{headers.webhook-id}.{timestamp}.{body}',
  },
}
const overUrl = `POSThttps://shop.example/hook?a=1${event}2026-01-31T09:00:00Z`

describe('senders that are in no list', () => {
  test.each<[string, Sent, string?]>([
    ['time and signature in one header', calendly],
    [
      'the same, with the prefix of the signature',
      { ...calendly, fields: { ...calendly.fields, prefix: 'v1=' } },
    ],
    [
      'with semicolons, and another time',
      {
        ...calendly,
        headers: { 'paddle-signature': `ts=1700000000;h1=${hmac('key', `1700000000:${event}`)}` },
        fields: {
          header: 'paddle-signature',
          timestamp_header: 'paddle-signature',
          signed: '{timestamp}:{body}',
        },
      },
    ],
    ['one header, too old', { ...calendly, now: 1_700_000_301 }, 'too_old'],
    ['one header, another body', { ...calendly, body: '{}' }, 'wrong'],
    [
      'one header with two times',
      { ...calendly, headers: { 'calendly-webhook-signature': 't=1700000000,t=1,v1=x' } },
      'missing',
    ],
    [
      'one header without a time',
      { ...calendly, headers: { 'calendly-webhook-signature': 'v1=x' } },
      'missing',
    ],
    ['Standard Webhooks', standard],
    [
      'Standard Webhooks of another event',
      { ...standard, headers: { ...standard.headers, 'webhook-id': 'x' } },
      'wrong',
    ],
    [
      'a signature in the body, by settings',
      {
        ...inBody,
        fields: {
          header: 'body.signature.signature',
          signed: '{body.signature.timestamp}{body.signature.token}',
        },
      },
    ],
    [
      'a signature in the body, by settings, with its time',
      {
        ...inBody,
        now: 1_700_000_301,
        fields: {
          header: 'body.signature.signature',
          timestamp_header: 'body.signature.timestamp',
          signed: '{timestamp}{body.signature.token}',
        },
      },
      'too_old',
    ],
    [
      'a body without it',
      {
        ...inBody,
        json: {},
        fields: { header: 'body.signature.signature', signed: '{body.signature.token}' },
      },
      'missing',
    ],
    [
      'expressions',
      {
        ...inBody,
        now: 1_700_000_000,
        pins: { signature: token.signature.signature, signed: '1700000000abc', time: '1700000000000' },
      },
    ],
    [
      'expressions over another text',
      { ...inBody, pins: { signature: token.signature.signature, signed: '1700000000abd' } },
      'wrong',
    ],
    [
      'an expression of an old time',
      {
        ...inBody,
        pins: { signature: token.signature.signature, signed: '1700000000abc', time: '1' },
        now: 1_000,
      },
      'too_old',
    ],
    [
      'an expression of no time',
      { ...inBody, pins: { signature: 'x', signed: 'x', time: 'soon' } },
      'missing',
    ],
    [
      'an expression for the signature alone',
      { ...custom, headers: {}, pins: { signature: hmac('key', event) } },
    ],
    [
      'method, address and an instant',
      {
        ...custom,
        url: '/hook?a=1',
        now: Date.UTC(2026, 0, 31, 9) / 1000,
        headers: { 'x-signature': hmac('key', overUrl), 'x-time': '2026-01-31T09:00:00Z' },
        fields: { timestamp_header: 'x-time', signed: '{method}{url}{body}{timestamp}' },
      },
    ],
  ])('%s', async (_what, sent, reason) => {
    const { next, outputs } = await check(sent)
    expect([next, outputs]).toEqual(reason === undefined ? ['valid', {}] : ['invalid', { reason }])
  })
})

describe('settings that could check nothing are refused when the blueprint is deployed', () => {
  const settings = {
    ...{ sender: 'custom', header: 'x-signature', prefix: '', algorithm: 'sha256', encoding: 'hex' },
    ...{ timestamp_header: '', signed: '{body}', secret_encoding: 'text' },
  } as const
  test.each<[JsonObject, string]>([
    [{ signed: '{timestamp}' }, 'signed'],
    [{ signed: '{method}{url}' }, 'signed'],
    [{ signed: 'nothing' }, 'signed'],
    [{ signed: '{body}{body}' }, 'signed'],
    [{ signed: '{body}{token}' }, 'signed'],
    [{ header: '' }, 'header'],
    [{ header: 'x signature' }, 'header'],
    [{ header: 'body.' }, 'header'],
    [{ timestamp_header: 'x:y' }, 'timestamp_header'],
  ])('%j', (changes, pin) => {
    expect(() => block.check?.({}, { ...settings, ...changes })).toThrow(expect.objectContaining({ pin }))
    expect(() => block.check?.({}, settings)).not.toThrow()
    expect(() => block.check?.({}, { ...settings, ...changes, sender: 'github' })).not.toThrow()
  })
})

describe('cannot be checked', () => {
  const inputs = { secret: secretOf('key') }
  test('without a request, or with one whose body was not kept', async () => {
    for (const request of [undefined, requestWith({ method: 'POST' })])
      await expect(
        runBlock(block, { fields: { sender: 'github' }, inputs, ...(request && { request }) }),
      ).rejects.toMatchObject({ pin: 'connection' })
  })

  test.each(['{timestamp}', '{body}{body}'])('over %j', async (signed) => {
    await expect(check({ ...custom, fields: { signed } })).rejects.toMatchObject({ pin: 'signed' })
  })
})
