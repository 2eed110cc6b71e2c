/** What every reply must be like, whatever was asked. */

import { errorTable } from '../../../src/shared/errors.ts'
import { isJsonObject, type JsonValue } from '../../../src/shared/json.ts'
import type { FuzzReply } from './fuzz-client.ts'
import type { FuzzRequest, Target } from './make-request.ts'

/** Of programs, files and databases: no client has to hear of them. */
const leaks =
  /\n\s+at |node_modules|\.[cm]?[jt]s:\d|\/tmp\/|\/home\/|\/root\/|quoin\.db|SQLITE_|sqlite|SELECT |INSERT |syntax error at|relation "|column "|TypeError|RangeError|ReferenceError|is not a function|Cannot read|ECONN|ENOENT|errno|password_hash|undefined/

/** Before a route is asked: the path or a header is hardly HTTP, longer than any, or names a type that nothing reads. */
const beforeRoutes = [400, 404, 414, 415, 431]

/**
 * What the protocol's own library makes of an error that is thrown, and what a tool says of a request that has failed. A list is what
 * the library says of parameters that do not fit, for some methods under this code too.
 */
const failedTool = /"code":-32603,"message":"(?!\[)|Refused with 50[0-2]/

/** What is wrong with a reply, in words. */
export function judge(request: FuzzRequest, reply: FuzzReply): string[] {
  const { status, text } = reply
  if (status === 'none') return [`no answer: ${text}`]
  // Headers of more than 16 KB: Node refuses them before there is a request.
  if (status === 431 && text === '') return []
  const faults: string[] = []
  if (status >= 500 && status !== 503) faults.push(`${status} ${text.slice(0, 300)}`)
  if (status === 503 && reply.headers['retry-after'] === undefined) faults.push('503 without retry-after')
  if (!lists(request.target, status) && !(request.mood !== 'good' && beforeRoutes.includes(status)))
    faults.push(`the document does not list ${status}: ${text.slice(0, 300)}`)
  // A failure inside of a tool is answered with 200.
  if (request.target.errors === 'JSON-RPC' && failedTool.test(text))
    faults.push(`500 in a message: ${text.slice(0, 300)}`)
  const value = parsed(reply)
  if (value === 'no JSON') faults.push(`the body is no JSON: ${text.slice(0, 300)}`)
  else if (status >= 400) {
    if (!isError(value, status, request)) faults.push(`an error of another shape: ${text.slice(0, 300)}`)
    const leak = leaks.exec(text)
    if (leak !== null && !quotes(request, leak[0]))
      faults.push(`an error that tells "${leak[0].trim()}": ${text.slice(0, 500)}`)
  }
  return faults
}

/** An error may say again what it was asked. */
const quotes = ({ url, body }: FuzzRequest, word: string) =>
  `${url} ${decoded(url)} ${body?.toString()}`.includes(word.trim())

/** What can be read of it: other parts of the URL may be no UTF-8. */
const decoded = (url: string) =>
  url.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escaped) => {
    try {
      return decodeURIComponent(escaped)
    } catch {
      return escaped
    }
  })

function lists({ operation }: Target, status: number): boolean {
  return String(status) in operation.responses || 'default' in operation.responses
}

/** undefined: none, or something else than JSON on purpose. */
export function parsed({ headers, text }: FuzzReply): JsonValue | undefined | 'no JSON' {
  if (text === '' || !/^application\/(?:scim\+)?json/.test(String(headers['content-type']))) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return 'no JSON'
  }
}

function isError(value: JsonValue | undefined, status: number, { target, mood }: FuzzRequest): boolean {
  if (target.errors !== undefined && isOwnError[target.errors](value)) return true
  // A path that no route takes is answered as what it might have been, a hidden endpoint or a management endpoint.
  if (isManagement(target) || (mood === 'hostile' && status === 400 && isObject(value, 'code')))
    return (
      isManagementError(value, status) ||
      (mood === 'hostile' && [400, 404].includes(status) && isCustomError(value))
    )
  // A flow may reply an error of its own; what Quoin replies in its place is this.
  return isObject(value, 'error')
    ? isCustomError(value)
    : value !== undefined && ![413, 415, 429, 503].includes(status)
}

/** Of doors that the document does not describe. A page is no JSON, and `judge` looks for what it must not tell all the same. */
const isOwnError: Readonly<Record<NonNullable<Target['errors']>, (value: JsonValue | undefined) => boolean>> =
  {
    'JSON-RPC': (value) =>
      isJsonObject(value) &&
      value.jsonrpc === '2.0' &&
      isJsonObject(value.error) &&
      typeof value.error.code === 'number' &&
      isText(value.error.message),
    OAuth: (value) => isJsonObject(value) && isText(value.error) && isText(value.error_description),
    page: (value) => value === undefined,
    SCIM: (value) => isJsonObject(value) && isText(value.detail) && isText(value.status),
  }

function isObject(value: JsonValue | undefined, name: string): boolean {
  return isJsonObject(value) && name in value
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isCustomError(value: JsonValue | undefined): boolean {
  if (!isJsonObject(value)) return false
  const { error, request: _, run: __, fields, code, details, ...more } = value
  // What the schema of a trigger refuses is told by field; the block `fail` gives a code and details.
  return (
    typeof error === 'string' &&
    (fields === undefined || (isJsonObject(fields) && Object.values(fields).every(isText))) &&
    (code === undefined || isText(code)) &&
    (details === undefined || isJsonObject(details)) &&
    Object.keys(more).length === 0
  )
}

/** Management operations say what their errors are by the shared schema; see `open-api.ts`. */
function isManagement({ operation }: Target): boolean {
  return JSON.stringify(operation.responses).includes('schemas/Error"')
}

const known = new Set(['error', 'code', 'message', 'fields', 'problems', 'details', 'request'])

function isManagementError(value: JsonValue | undefined, status: number): boolean {
  if (!isJsonObject(value)) return false
  const entry = Object.entries(errorTable).find(([code]) => code === value.error)?.[1]
  return (
    entry?.status === status &&
    value.code === status &&
    typeof value.message === 'string' &&
    value.message !== '' &&
    Object.keys(value).every((name) => known.has(name))
  )
}
