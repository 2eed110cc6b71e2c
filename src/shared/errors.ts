import type { JsonObject } from './json.ts'

/**
 * Every error a client can see, once. A code is never reused for something else and its status never changes.
 * Messages say what was wrong, where, and what to do; the cause stays in the log.
 */
export const errorTable = {
  INVALID_BODY: { status: 400, summary: 'The body is invalid. `fields` lists what to change.' },
  NO_BODY_GIVEN: { status: 400, summary: 'The request requires a JSON body and has none.' },
  INVALID_QUERY: {
    status: 400,
    summary: 'A search, filter, sort or parameter is invalid. `fields` lists what to change.',
  },
  INVALID_CREDENTIALS: { status: 401, summary: 'User name or password is wrong.' },
  SECOND_FACTOR_REQUIRED: {
    status: 401,
    summary:
      'The password is right and the account needs a code. `details` has the challenge to send with it.',
  },
  INVALID_ACCESS_TOKEN: {
    status: 401,
    summary: 'The access token is missing, unknown or expired, or the request has two different ones.',
  },
  INSUFFICIENT_PERMISSIONS: {
    status: 403,
    summary: 'The caller is signed in and lacks the named scope.',
  },
  CONFIRMATION_REQUIRED: {
    status: 403,
    summary:
      'The last sign-in or confirmation of the session is too old (`QUOIN_CONFIRM_SECONDS`). Confirm it, or sign in again.',
  },
  DENIED_BY_RULE: {
    status: 403,
    summary:
      'The caller may not do this with the document or the field: a permission of the storage refuses it.',
  },
  NOT_FOUND: { status: 404, summary: 'No resource has this path or guid.' },
  NOT_ACCEPTABLE: {
    status: 406,
    summary: 'The reply cannot be sent as what `accept` asks for.',
  },
  CONFLICT: {
    status: 409,
    summary: 'The record was changed by another user, or the name, URI or unique value is taken.',
  },
  PRECONDITION_FAILED: {
    status: 412,
    summary: 'The resource is not the version that `if-match` names. Read it again.',
  },
  FILE_TOO_BIG: { status: 413, summary: 'The body or file is larger than the named limit.' },
  FLOW_FAILED: {
    status: 400,
    summary: 'A block "Fail" ended the flow. The status is the one that the block names, from 400 to 599.',
  },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, summary: 'The path does not accept this content type.' },
  VALIDATION_FAILED: {
    status: 422,
    summary: 'The blueprint cannot run. `problems` lists each block and pin.',
  },
  SEARCH_TOO_COSTLY: {
    status: 422,
    summary: 'A search or figure would look at more than it may. The message says what to narrow.',
  },
  TOO_MANY_LOGIN_ATTEMPTS: { status: 429, summary: 'The user or the address is temporarily locked.' },
  RATE_LIMITED: {
    status: 429,
    summary: 'Too many requests from one address, or for one key of a block Limit. See `retry-after`.',
  },
  INTERNAL: { status: 500, summary: 'Internal error. Find it in the system log by its id.' },
  UNAVAILABLE: { status: 503, summary: 'The request could not be served in time, or not now. Retry.' },
  LOOP_DETECTED: {
    status: 508,
    summary: 'Tools call each other in a circle. The message says how many led here.',
  },
  QUOTA_EXCEEDED: {
    status: 507,
    summary: 'The space has reached a quota, which the message names. Nothing was stored.',
  },
  STORAGE_FULL: { status: 507, summary: 'The disk is full. Nothing was stored.' },
} as const satisfies Record<string, { status: number; summary: string }>

export type ErrorCode = keyof typeof errorTable

/** One thing that is wrong with a blueprint: which block, which pin, and what to do. */
export interface Problem {
  readonly block: string
  readonly pin?: string
  /** Of the pin's expression; the first is 1. */
  readonly column?: number
  readonly message: string
}

/** `block.pin: what is wrong`. Blocks have the names that the problem has: guids, or what took their place. */
export function problemLine({ block, pin, message }: Problem): string {
  if (block === '') return message
  return `${pin === undefined ? block : `${block}.${pin}`}: ${message}`
}

/** What a flow that ended itself tells its client besides a message. */
export interface FlowFailure {
  readonly status: number
  /** A word for programs, such as OUT_OF_STOCK. */
  readonly code: string | undefined
  readonly details: JsonObject | undefined
}

interface ErrorDetails {
  /** Names of what is at fault, dotted: fields of the body, parameters of path and query, fields whose unique value is taken. */
  readonly fields?: readonly string[] | undefined
  /** Only with INVALID_BODY and FLOW_FAILED: what is wrong with each field of a request, by name. */
  readonly reasons?: Readonly<Record<string, string>> | undefined
  /** Only with VALIDATION_FAILED. */
  readonly problems?: readonly Problem[] | undefined
  /** Seconds; becomes the header `retry-after`. */
  readonly retryAfter?: number | undefined
  /** What the message is about, for programs. */
  readonly details?: JsonObject | undefined
  /** Only with FLOW_FAILED: what the flow says of its failure. */
  readonly flow?: FlowFailure | undefined
  /** What who calls an endpoint or opens a page hears in place of the message, which shows the inside of an expression. */
  readonly outside?: string | undefined
  /** Kept for the record of a run, never sent: what the block would have given on its pins. */
  readonly gave?: Readonly<Record<string, unknown>> | undefined
  /** Kept for the log, never sent. */
  readonly cause?: unknown
}

/** The only error that crosses rooms on purpose. Whatever else is thrown is a fault of ours and becomes INTERNAL. */
export class QuoinError extends Error {
  readonly code: ErrorCode
  readonly fields: readonly string[] | undefined
  readonly reasons: Readonly<Record<string, string>> | undefined
  readonly problems: readonly Problem[] | undefined
  readonly retryAfter: number | undefined
  readonly details: JsonObject | undefined
  readonly flow: FlowFailure | undefined
  readonly outside: string | undefined
  readonly gave: Readonly<Record<string, unknown>> | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'QuoinError'
    this.code = code
    this.fields = details.fields
    this.reasons = details.reasons
    this.problems = details.problems
    this.retryAfter = details.retryAfter
    this.details = details.details
    this.flow = details.flow
    this.outside = details.outside
    this.gave = details.gave
  }

  get status(): number {
    return this.flow?.status ?? errorTable[this.code].status
  }
}

/** A body or document field that does not fit: 400, naming the field. */
export function invalidField(field: string, message: string): QuoinError {
  return new QuoinError('INVALID_BODY', message, { fields: [field] })
}
