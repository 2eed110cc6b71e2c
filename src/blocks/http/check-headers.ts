import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { LineError, PinError } from '../block.ts'

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
