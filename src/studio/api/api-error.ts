import type { Problem } from '../../shared/api/blueprints/blueprints.ts'
import { apiTexts } from '../texts/sign-in.ts'

interface ErrorParts {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly fields?: readonly string[]
  readonly problems?: readonly Problem[]
  readonly request?: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** What the server said when it refused, or that it could not be reached (status 0, code `UNREACHABLE`). */
export class ApiError extends Error {
  readonly status: number
  /** A code of the error table, such as `CONFLICT`. */
  readonly code: string
  /** Dotted names of body fields to change. */
  readonly fields: readonly string[]
  readonly problems: readonly Problem[]
  /** What an endpoint adds to its error, such as the lines of a refused import. */
  readonly details: Readonly<Record<string, unknown>>
  /** Finds the request in the server's log; empty if there is nothing to find. */
  readonly request: string

  constructor({ status, code, message, fields = [], problems = [], request = '', details = {} }: ErrorParts) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.fields = fields
    this.problems = problems
    this.request = request
    this.details = details
  }
}

/** Reads the body of an error reply, whichever of our shapes it has, or none. */
export function errorFromReply(status: number, text: string): ApiError {
  const body = parsed(text)
  const message = stringIn(body, 'message') ?? stringIn(body, 'error') ?? withoutBody(status)
  const code = stringIn(body, 'message') === undefined ? `HTTP_${status}` : (stringIn(body, 'error') ?? '')
  const request = stringIn(body, 'request') ?? stringIn(body, 'run')
  return new ApiError({
    status,
    code,
    message,
    fields: textsIn(body.fields),
    problems: problemsIn(body.problems),
    details: isFields(body.details) ? body.details : {},
    ...(request === undefined ? {} : { request }),
  })
}

export function messageOf(error: unknown): string {
  if (isPartMissing(error)) return apiTexts.partMissing
  return error instanceof Error ? error.message : String(error)
}

/** A file of the studio could not be fetched: the server did not answer, or an update has taken it away. */
export function isPartMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    /dynamically imported module|Importing a module script failed|Unable to preload CSS/i.test(error.message)
  )
}

export function unreachable(): ApiError {
  return new ApiError({
    status: 0,
    code: 'UNREACHABLE',
    message: apiTexts.unreachable,
  })
}

function withoutBody(status: number): string {
  return status >= 502 && status <= 504 ? apiTexts.proxyFailed(status) : apiTexts.failedWithoutReason(status)
}

type Fields = Readonly<Record<string, unknown>>

function parsed(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : {}
  } catch {
    return {}
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function stringIn(body: Fields, key: string): string | undefined {
  const value = body[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
}

function problemsIn(value: unknown): Problem[] {
  if (!Array.isArray(value)) return []
  return value.filter(isFields).map((item) => {
    const pin = stringIn(item, 'pin')
    return {
      block: stringIn(item, 'block') ?? '',
      message: stringIn(item, 'message') ?? '',
      ...(pin === undefined ? {} : { pin }),
    }
  })
}
