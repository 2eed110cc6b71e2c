/** Pins and settings of the blocks that send requests to other servers. */
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
    help: 'The address, starting with https:// or http://; with a connection a path below its base address. Private addresses must be allowed by QUOIN_ALLOWED_HOSTS.',
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

export const retrySettings = {
  retries: {
    kind: 'number',
    default: 0,
    min: 0,
    max: 5,
    help: 'Further attempts within the timeout, with growing pauses or as retry-after asks: after 429 and 503; without a reply, and after 502 and 504, only for GET, HEAD, OPTIONS, PUT, DELETE and requests with an idempotency-key.',
  },
} as const satisfies Settings
