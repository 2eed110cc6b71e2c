/**
 * What another server sends back of the secret that signed a request is masked before a flow sees it: as it is, and as servers
 * usually write it again (base64, hexadecimal, in URLs, JSON and HTML). It costs 2 ms of processor time a MiB, 41 where every character is
 * written as an escape, and the event loop turns between pieces. The forms live as long as the request.
 */
import { setImmediate as turn } from 'node:timers/promises'

const MASK = '***'
/** Shorter texts are in many replies by chance. The mask is no longer than what it replaces. */
const SHORTEST = 4
/** Of encoded forms: a part of a group of four characters says little. */
const SHORTEST_ENCODED = 6

export interface ReplyMask {
  text(text: string): string
  /** Names and values. */
  headers<T extends string | string[] | undefined>(headers: Readonly<Record<string, T>>): Record<string, T>
  /** Pieces of any size, in order. Also a form that two pieces share is found. */
  pieces(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer>
  /** In a whole body: also within texts of JSON that write single characters as escapes. */
  escapes(bytes: Uint8Array): Promise<Uint8Array>
}

/** `texts`: secrets as they were sent. Undefined where none is long enough. */
export function replyMask(texts: readonly string[]): ReplyMask | undefined {
  const forms = [...new Set(texts.filter(({ length }) => length >= SHORTEST).flatMap(formsOf))]
  if (forms.length === 0) return undefined
  // The longest first: a form may hold another one.
  forms.sort((one, other) => other.length - one.length)
  const needles = texts.flatMap(rareBytesOf).concat(forms.map((form) => Buffer.from(form)))
  const longest = Math.max(...needles.map(({ byteLength }) => byteLength))
  const text = (input: string) =>
    forms.reduce((now, form) => (now.includes(form) ? now.replaceAll(form, MASK) : now), input)
  return {
    text,
    headers: (input) =>
      Object.fromEntries(
        Object.entries(input).map(([name, value]) => [text(name), maskedValue(value, text)]),
      ),
    async *pieces(body) {
      let rest: Buffer = Buffer.alloc(0)
      for await (const piece of body) {
        const whole = rest.byteLength === 0 ? piece : Buffer.concat([rest, piece])
        const found = placesOf(whole, needles)
        // A form that begins behind this place may go on in the next piece.
        const last = Math.max(0, whole.byteLength - longest + 1)
        const cut = found.find(({ start, end }) => start < last && end > last)?.end ?? last
        yield masked(
          whole.subarray(0, cut),
          found.filter(({ start }) => start < cut),
        )
        rest = whole.subarray(cut)
      }
      if (rest.byteLength > 0) yield masked(rest, placesOf(rest, needles))
    },
    escapes: (bytes) => unescapedMasked(bytes, longest, text),
  }
}

function maskedValue<T extends string | string[] | undefined>(value: T, text: (text: string) => string): T
function maskedValue(value: string | string[] | undefined, text: (text: string) => string) {
  if (value === undefined) return undefined
  return typeof value === 'string' ? text(value) : value.map(text)
}

interface Place {
  readonly start: number
  readonly end: number
}

/** In order, none over another one. */
function placesOf(bytes: Buffer, needles: readonly Buffer[]): Place[] {
  const found: { start: number; end: number }[] = []
  for (const needle of needles)
    for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + needle.byteLength))
      found.push({ start: at, end: at + needle.byteLength })
  found.sort((one, other) => one.start - other.start)
  const merged: { start: number; end: number }[] = []
  for (const place of found) {
    const before = merged.at(-1)
    if (before && place.start < before.end) before.end = Math.max(before.end, place.end)
    else merged.push(place)
  }
  return merged
}

function masked(bytes: Buffer, places: readonly Place[]): Buffer {
  if (places.length === 0) return bytes
  const parts: Uint8Array[] = []
  let at = 0
  for (const { start, end } of places) {
    parts.push(bytes.subarray(at, start), Buffer.from(MASK))
    at = end
  }
  return Buffer.concat([...parts, bytes.subarray(at)])
}

function formsOf(secret: string): string[] {
  const texts = [...new Set([secret, secret.trim()])].filter(({ length }) => length >= SHORTEST)
  return texts.flatMap((text) => [
    text,
    ...encodedForms(text).filter(({ length }) => length >= SHORTEST_ENCODED),
  ])
}

function encodedForms(text: string): string[] {
  const bytes = Buffer.from(text)
  const json = JSON.stringify(text).slice(1, -1)
  const html = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return [
    ...percentForms(text).flatMap((one) => [one, one.replace(/%../g, (code) => code.toLowerCase())]),
    ...[json, json.replaceAll('/', '\\/')],
    ...[html, html.replaceAll('"', '&quot;').replaceAll("'", '&#39;')],
    ...[
      html.replaceAll('"', '&#34;').replaceAll("'", '&#39;'),
      html.replaceAll('"', '&quot;').replaceAll("'", '&#x27;'),
      html.replaceAll('"', '&quot;').replaceAll("'", '&apos;'),
    ],
    ...[bytes.toString('hex'), bytes.toString('hex').toUpperCase()],
    ...(['base64', 'base64url'] as const).flatMap((code) =>
      [0, 1, 2].map((before) => base64Part(bytes, before, code)),
    ),
  ]
}

/** What the encoders of addresses and forms leave as it is, beside letters and digits. The names are of those that do. */
const UNCHANGED = {
  encodeURIComponent: "-_.~!'()*",
  encodeURI: "-_.~!'()*;,/?:@&=+$#",
  'rawurlencode of PHP': '-_.~',
  'encodeURIComponent between slashes': "-_.~!'()*/",
  'quote of Python': '-_.~/',
  'Query of Go': '-_.~ ',
  'urlencode of PHP': '-_. ',
  URLSearchParams: '*-_. ',
  'a query of an address': '-_.~!()*;,/?:@&=+$[]\\^`{|}',
  'a path of an address': "-_.~!'()*;,/:@&=+$[]\\^|",
}

/** A space that is left as it is becomes a plus sign. Last: each byte. */
function percentForms(text: string): string[] {
  const encoded = (unchanged: string) =>
    [...text].map((one) => (unchanged.includes(one) || /[a-z0-9]/i.test(one) ? one : percent(one))).join('')
  const forms = Object.values(UNCHANGED).map((unchanged) => encoded(unchanged).replaceAll(' ', '+'))
  return [...forms, percent(text)]
}

function percent(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

/** What is always in the base64 of a text that holds these bytes, with so many bytes (of three) before them. */
function base64Part(bytes: Buffer, before: number, code: 'base64' | 'base64url'): string {
  const written = Buffer.concat([Buffer.alloc(before), bytes])
    .toString(code)
    .replaceAll('=', '')
  const [first, rest] = [before === 0 ? 0 : before + 1, (before + bytes.byteLength) % 3]
  return written.slice(first, rest === 0 ? undefined : -1)
}

/** As bytes of encodings other than UTF-8. */
function rareBytesOf(secret: string): Buffer[] {
  if (secret.length < SHORTEST) return []
  const wide = Buffer.from(secret, 'utf16le')
  const latin = Buffer.from(secret, 'latin1')
  const isOther = latin.byteLength !== Buffer.byteLength(secret) && latin.toString('latin1') === secret
  return [wide, Buffer.from(wide).swap16(), ...(isOther ? [latin] : [])]
}

const SLICE = 256 * 1024
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g

async function unescapedMasked(bytes: Uint8Array, longest: number, mask: (text: string) => string) {
  if (!bytes.includes(0x5c) || !(await hasEscaped(Buffer.from(bytes), longest, mask))) return bytes
  const text = Buffer.from(bytes).toString('utf8')
  const parts: string[] = []
  let done = 0
  let rested = 0
  for (let from = text.indexOf('"'); from !== -1; from = text.indexOf('"', done)) {
    const end = endOfLiteral(text, from)
    if (end === undefined) break
    // A server that sends the secret back may send a million texts with it.
    if (end - rested > SLICE) {
      rested = end
      await turn()
    }
    const value = read(text.slice(from, end))
    const shown = value === undefined ? undefined : mask(value)
    parts.push(text.slice(done, from), shown === value ? text.slice(from, end) : JSON.stringify(shown))
    done = end
  }
  return Buffer.from(parts.join('') + text.slice(done))
}

/** Behind the quotation mark that ends it. Undefined where none does. */
function endOfLiteral(text: string, from: number): number | undefined {
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === '"') return at + 1
    if (text[at] === '\\') at += 1
  }
  return undefined
}

/** Nearly never: so all is looked through first, a slice at a time. One character may be written as six. */
async function hasEscaped(bytes: Buffer, longest: number, mask: (text: string) => string): Promise<boolean> {
  for (let at = 0; at < bytes.byteLength; at += SLICE) {
    if (at > 0) await turn()
    const slice = bytes.toString('utf8', at, at + SLICE + 6 * longest)
    const plain = slice.replace(ESCAPE, (_whole, code, letter) =>
      code === undefined ? letter : String.fromCharCode(Number.parseInt(code, 16)),
    )
    if (mask(plain) !== plain) return true
  }
  return false
}

function read(literal: string): string | undefined {
  try {
    return JSON.parse(literal)
  } catch {
    return undefined
  }
}
