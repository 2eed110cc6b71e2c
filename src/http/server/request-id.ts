import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { onRequestHookHandler } from 'fastify'

/** What fits a header and a log line: no spaces, quotes or control characters. */
const FITS = /^[A-Za-z0-9._:/+=@-]{1,128}$/
/** Version, trace id, parent id, flags (W3C Trace Context). */
const TRACE_PARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/

/**
 * The id that finds a request in the log, and that its reply carries as `x-request-id`: the client's or proxy's own
 * `x-request-id`, else the trace id of `traceparent`, else a new one. A value that does not fit a log line is not used.
 */
export function requestIdOf(headers: IncomingHttpHeaders, newId: () => string): string {
  const given = headers['x-request-id']
  if (given === undefined && headers.traceparent === undefined) return newId()
  if (typeof given === 'string' && FITS.test(given)) return given
  return traceParentOf(headers)?.traceId ?? newId()
}

/** Ids that differ between nodes and starts, at the price of a counter. */
export function requestIds(): () => string {
  const start = randomBytes(6).toString('base64url')
  let count = 0
  return () => `${start}-${(++count).toString(36)}`
}

/** The caller's place in a distributed trace; undefined if it sent none that is valid. */
export function traceParentOf(
  headers: IncomingHttpHeaders,
): { readonly text: string; readonly traceId: string } | undefined {
  const { traceparent } = headers
  if (typeof traceparent !== 'string') return undefined
  const traceId = TRACE_PARENT.exec(traceparent)?.[1]
  return traceId === undefined ? undefined : { text: traceparent, traceId }
}

/** Gives replies of the framework their id, and the trace that they belong to. */
export const sendRequestId: onRequestHookHandler = (request, reply, done) => {
  reply.header('x-request-id', request.id)
  const trace = traceParentOf(request.headers)
  if (trace) reply.header('traceparent', trace.text)
  done()
}
