/**
 * Every error a client can see, once. A code is never reused for something else and its status never changes.
 * Messages say what was wrong, where, and what to do; the cause stays in the log.
 */
export const errorTable = {
  INVALID_BODY: { status: 400, summary: 'The body does not fit. `fields` names what to change.' },
  NO_BODY_GIVEN: { status: 400, summary: 'The request needs a JSON body and has none.' },
  INVALID_QUERY: { status: 400, summary: 'A search, filter, sort or query parameter cannot be understood.' },
  INVALID_CREDENTIALS: { status: 401, summary: 'User name or password is wrong.' },
  INVALID_ACCESS_TOKEN: {
    status: 401,
    summary: 'The access token is missing, unknown, expired or contradicted.',
  },
  INSUFFICIENT_PERMISSIONS: {
    status: 403,
    summary: 'The caller is known and lacks the scope that is named.',
  },
  NOT_FOUND: { status: 404, summary: 'There is nothing at this path or under this guid.' },
  CONFLICT: { status: 409, summary: 'Somebody else changed it first, or the name or URI is taken.' },
  FILE_TOO_BIG: { status: 413, summary: 'The body or file is larger than the limit that is named.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, summary: 'The content type is not one that this path reads.' },
  VALIDATION_FAILED: {
    status: 422,
    summary: 'The blueprint cannot run. `problems` lists each block and pin.',
  },
  TOO_MANY_LOGIN_ATTEMPTS: { status: 429, summary: 'The user or the address is locked for a while.' },
  RATE_LIMITED: { status: 429, summary: 'Too many requests from one address. See `retry-after`.' },
  INTERNAL: { status: 500, summary: 'Something failed here. The id finds it in the system log.' },
  UNAVAILABLE: { status: 503, summary: 'It could not be done in time, or not now. Try again.' },
  STORAGE_FULL: { status: 507, summary: 'The disk is full. Nothing was stored.' },
} as const satisfies Record<string, { status: number; summary: string }>

export type ErrorCode = keyof typeof errorTable

/** One thing that is wrong with a blueprint: which block, which pin, and what to do. */
export interface Problem {
  readonly block: string
  readonly pin?: string
  readonly message: string
}

interface ErrorDetails {
  /** Names of the body fields at fault, dotted. Only with INVALID_BODY. */
  readonly fields?: readonly string[]
  /** Only with VALIDATION_FAILED. */
  readonly problems?: readonly Problem[]
  /** Seconds; becomes the header `retry-after`. */
  readonly retryAfter?: number
  /** Kept for the log, never sent. */
  readonly cause?: unknown
}

/** The only error that crosses rooms on purpose. Whatever else is thrown is a fault of ours and becomes INTERNAL. */
export class QuoinError extends Error {
  readonly code: ErrorCode
  readonly fields: readonly string[] | undefined
  readonly problems: readonly Problem[] | undefined
  readonly retryAfter: number | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'QuoinError'
    this.code = code
    this.fields = details.fields
    this.problems = details.problems
    this.retryAfter = details.retryAfter
  }

  get status(): number {
    return errorTable[this.code].status
  }
}

/** A body or document field that does not fit: 400, naming the field. */
export function invalidField(field: string, message: string): QuoinError {
  return new QuoinError('INVALID_BODY', message, { fields: [field] })
}
