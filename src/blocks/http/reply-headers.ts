import type { JsonObject } from '../../shared/json.ts'
import { PinError } from '../block.ts'
import { checkHeaders } from './check-headers.ts'

/**
 * Headers that reach further than one reply: they speak for the whole site (its cookies, its storage, its certificate, its
 * other addresses, where browsers report to), to the reverse proxy in front of it, or to Quoin itself. A flow may have
 * them from another server or from its client.
 */
const REFUSED = new Set([
  // Cookies are how a browser stays signed in: only the sign-in sets them.
  'set-cookie',
  'set-cookie2',
  'clear-site-data',
  'strict-transport-security',
  'public-key-pins',
  'public-key-pins-report-only',
  'expect-ct',
  'alt-svc',
  'nel',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  // A file of the proxy's machine, or an address of its network, in place of the reply.
  'x-sendfile',
  'x-lighttpd-send-file',
  'x-reproxy-url',
  'x-reproxy-file',
])
/** `access-control-`: QUOIN_CORS_ORIGINS says which origins may read. `x-accel-`: orders to nginx. */
const REFUSED_BEGINNINGS = ['access-control-', 'x-accel-', 'x-quoin-']

/** One type with its parameters. Browsers read a list with commas as its last entry, so there is none, in quotes neither. */
const JSON_TYPE =
  /^application\/(?:[a-z0-9][a-z0-9.-]*\+)?json(?:[\t ]*;[\t ]*[a-z0-9-]+=(?:[a-z0-9._-]+|"[^",;\\]*"))*$/i

/** One type with a charset at most. */
const TEXT_TYPE =
  /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*(?:[\t ]*;[\t ]*[a-z0-9-]+=(?:[a-z0-9._-]+|"[^",;\\]*"))*$/i
/** Scripts, styles and drawings that a page of this site could take for its own, and pages. XML is data: `sandbox` keeps its scripts from running. */
const RUN_PARTS = [
  'html',
  'javascript',
  'ecmascript',
  'jscript',
  'livescript',
  'svg',
  'css',
  'xsl',
  'xul',
  'wasm',
  'manifest',
]

function isRun(type: string): boolean {
  const [name = ''] = type.toLowerCase().split(';', 1)
  return /^(?:multipart|message)\//.test(name) || RUN_PARTS.some((part) => name.includes(part))
}

/**
 * The headers that a flow sets on its reply: names in lower case, values as text. Throws PinError('headers', …) naming the
 * header that it may not set. `text`: the body is a text of any type that no browser runs.
 */
export function replyHeaders(input: JsonObject | undefined, text = false): Record<string, string> {
  const headers = checkHeaders(input, isRefused)
  // Each reply has it, and a second one could weaken it.
  delete headers['x-content-type-options']
  const type = headers['content-type']
  if (type === undefined) return headers
  const shown = JSON.stringify(type)
  if (text) {
    if (!TEXT_TYPE.test(type) || isRun(type))
      throw new PinError(
        'headers',
        `must have a content-type that no browser runs, such as text/xml or text/calendar; got ${shown}`,
      )
    const charset = /;[\t ]*charset="?([^";]*)/i.exec(type)?.[1]
    if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset))
      throw new PinError('headers', `must have a content-type in UTF-8, as the text is sent; got ${shown}`)
    if (charset === undefined && /^text\//i.test(type)) headers['content-type'] = `${type}; charset=utf-8`
    return headers
  }
  // As text/html, foreign text would run as a page of this site.
  if (!JSON_TYPE.test(type))
    throw new PinError(
      'headers',
      `must keep a JSON content-type, such as application/json or application/problem+json, unless a text is sent; got ${shown}`,
    )
  return headers
}

function isRefused(name: string): boolean {
  return REFUSED.has(name) || REFUSED_BEGINNINGS.some((start) => name.startsWith(start))
}
