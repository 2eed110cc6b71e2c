/** Pins and settings of the blocks that send requests to other servers. */

import { attemptPins } from '../outside-attempts.ts'
import type { InPins } from '../pin.ts'
import type { Settings } from '../setting.ts'
import { bodyKinds } from './request-body.ts'

export const addressPins = {
  connection: {
    type: 'http_connection',
    help: 'Name of a connection: its base address, headers and sign-in. A status code outside of 200 to 299 is then an error of the block, unless failed is wired.',
  },
  url: {
    type: 'value',
    required: true,
    help: 'The address, starting with https:// or http://; with a connection a path below its base address. Private addresses must be allowed under Operate → Settings (QUOIN_ALLOWED_HOSTS).',
  },
} as const satisfies InPins

export const headPins = {
  headers: { type: 'object', help: 'Headers by name, such as authorization.' },
  query: { type: 'object', help: 'Added to the address: name and value; a list is sent as several.' },
} as const satisfies InPins

export const bodyPin = { type: 'any', raw: true, help: 'Body, written as body_as says.' } as const

export const bodySettings = {
  body_as: {
    kind: 'choice',
    options: bodyKinds,
    default: 'auto',
    help: 'How the body is sent. auto: objects and lists as JSON, other values as text. form: fields of an object. multipart: the same, and files as { file_name, type, text } or with base64. base64: the bytes that the text means.',
  },
} as const satisfies Settings

/** How long the reply may take, and how large it may be. */
export const replyLimitPins = {
  timeout: {
    type: 'number',
    default: 10,
    min: 0.1,
    max: 600,
    help: 'Maximum seconds until the reply is complete, over all attempts.',
  },
  max_size: {
    type: 'number',
    default: 10_485_760,
    min: 0,
    max: 104_857_600,
    integer: true,
    help: 'Maximum bytes of the reply; a larger one is an error. 10 MiB if not set, 100 MiB at most.',
  },
} as const satisfies InPins

export const requestAttemptPins = {
  attempts: {
    ...attemptPins.attempts,
    help: 'Maximum number of attempts within the timeout, at most 10. 1 if empty. Sent again after 429 and 503; without a reply, and after 502 and 504, only where that is safe: GET, HEAD, OPTIONS, PUT, DELETE and requests with an idempotency-key.',
  },
  back_off: { ...attemptPins.back_off, help: `${attemptPins.back_off.help} A retry-after goes first.` },
} as const satisfies InPins

export const retrySettings = {
  retries: {
    kind: 'number',
    default: 0,
    min: 0,
    max: 5,
    help: 'Further attempts, where the pin attempts is empty: the former way to set it.',
  },
} as const satisfies Settings

export const repeatSettings = {
  repeat: {
    kind: 'choice',
    options: ['safe', 'always'],
    default: 'safe',
    help: 'Which requests further attempts send again without a reply and after 502 and 504. always: also POST and PATCH without an idempotency-key, which the other server may then carry out twice.',
  },
} as const satisfies Settings
