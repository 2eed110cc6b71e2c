import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { LineError, PinError } from '../block.ts'

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

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** What may stand in a header's value: a line break here would start a forged header or reply. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const MAX_VALUE = 8192
const MAX_HEADERS = 100

/** They belong to the connection and are written by the server or client itself. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Headers that a builder gave, with names in lower case and values as text; empty ones are left out. `refused` tells
 * more that this place does not take, by lower-case name. Throws PinError('headers', …).
 */
export function checkHeaders(
  input: JsonObject | undefined,
  refused: (name: string) => boolean,
): Record<string, string> {
  const headers: Record<string, string> = {}
  const entries = Object.entries(input ?? {})
  if (entries.length > MAX_HEADERS) throw new PinError('headers', `must be at most ${MAX_HEADERS}`)
  for (const [written, value] of entries) {
    const name = written.toLowerCase()
    const called = JSON.stringify(written)
    if (!TOKEN.test(name) || name === '__proto__')
      throw new LineError('headers', `may not have the name ${called}`)
    if (OF_THE_CONNECTION.has(name) || refused(name))
      throw new PinError('headers', `may not set ${called} here; leave it out`)
    const text = textOf(value)
    if (text === undefined) throw new PinError('headers', `must give text for ${called}`)
    if (!VALUE.test(text) || text.length > MAX_VALUE)
      throw new LineError('headers', `must give ${called} one line of at most ${MAX_VALUE} Latin characters`)
    if (value !== null) headers[name] = text
  }
  return headers
}

function textOf(value: JsonValue): string | undefined {
  if (value === null) return ''
  return typeof value === 'object' ? undefined : String(value)
}

// The parts of a header that other servers send, such as `link` and `content-disposition`: read character by character, so
// that no header takes longer than its length.

/** Splits at the separator where it is neither between `"` nor between `<` and `>`. Parts are trimmed. */
export function headerParts(text: string, separator: ',' | ';'): readonly string[] {
  const parts: string[] = []
  let inside: '"' | '>' | undefined
  let start = 0
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]
    if (inside === '"' && char === '\\') at += 1
    else if (inside !== undefined) inside = char === inside ? undefined : inside
    else if (char === '"') inside = '"'
    else if (char === '<') inside = '>'
    else if (char === separator) {
      parts.push(text.slice(start, at).trim())
      start = at + 1
    }
  }
  return [...parts, text.slice(start).trim()]
}

/** Values of `name=value` and `name="value"`, by lower-case name. The first one of a name counts. */
export function headerParameters(parts: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const part of parts) {
    const equals = part.indexOf('=')
    const name = part.slice(0, equals).trim().toLowerCase()
    if (equals > 0 && !values.has(name)) values.set(name, unquoted(part.slice(equals + 1).trim()))
  }
  return values
}

function unquoted(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"')
    ? text.slice(1, -1).replace(/\\(.)/g, '$1')
    : text
}
