import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { parse } from 'secure-json-parse'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import { hasManyFields, type JsonValue, jsonProblem, MANY_FIELDS } from '../../shared/json.ts'
import { longNumberIn, longNumberProblem, shapeProblem } from '../../shared/numbers/exact-json.ts'

/**
 * Says where text stops being JSON. V8 gives a position for some mistakes and for others a piece of the text, which we
 * do not repeat to clients or logs, so the text is read once more; only bodies that were refused pay for it.
 *
 * The reader keeps what may come next: a value, a key, a colon, or what follows a value. `open` holds the brackets that
 * are open, so depth costs no stack.
 */
type Next = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | 'after'

const SPACE = /[ \t\n\r]*/y
const SCALAR =
  /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy

const expected: Readonly<Record<Next, string>> = {
  value: 'a value',
  'value or ]': 'a value or ]',
  key: 'a name in double quotes',
  'key or }': 'a name in double quotes or }',
  ':': 'a colon',
  after: 'a comma or the closing bracket',
}

/** "line 3, column 7: a value was expected there." Undefined when the text is JSON. */
export function syntaxErrorAt(text: string): string | undefined {
  const open: string[] = []
  let next: Next = 'value'
  // A byte order mark is skipped by the parser too.
  let at = text.startsWith('\ufeff') ? 1 : 0
  const skip = (pattern: RegExp): number => {
    pattern.lastIndex = at
    const length = pattern.exec(text)?.[0].length ?? 0
    at += length
    return length
  }
  for (;;) {
    skip(SPACE)
    const ended = next === 'after' && open.length === 0
    if (at >= text.length) return ended ? undefined : describe(text, at, 'the text ends too early.')
    if (ended) return describe(text, at, 'nothing was expected after the value.')
    const state: Next = next
    const character = text[at]
    const closing = character === open.at(-1) && (state === 'after' || state.endsWith(character ?? ''))
    if (closing) {
      open.pop()
      next = 'after'
      at += 1
    } else if (state === 'after' && character === ',') {
      next = open.at(-1) === '}' ? 'key' : 'value'
      at += 1
    } else if (state === ':' && character === ':') {
      next = 'value'
      at += 1
    } else if (state.startsWith('value') && (character === '{' || character === '[')) {
      open.push(character === '{' ? '}' : ']')
      next = character === '{' ? 'key or }' : 'value or ]'
      at += 1
    } else if (state.startsWith('value') || (state.startsWith('key') && character === '"')) {
      if (skip(SCALAR) === 0) return describe(text, at, `${expected[state]} was expected there.`)
      next = state.startsWith('key') ? ':' : 'after'
    } else return describe(text, at, `${expected[state]} was expected there.`)
  }
}

function describe(text: string, at: number, what: string): string {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const column = at - before.lastIndexOf('\n')
  return `line ${line}, column ${column} (position ${at}): ${what}`
}

/** Bytes as text. Node would turn what is not UTF-8 into U+FFFD, and a document would contain characters that no client sent. */
export function bodyText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new QuoinError('INVALID_BODY', 'The body is not UTF-8.')
  return bytes.toString('utf8')
}

/** As {@link parseJsonBody}, of what becomes one document: its fields are counted before it is parsed. */
export function parseDocumentBody(bytes: Buffer): JsonValue | undefined {
  if (isUtf8(bytes) && hasManyFields(bytes.toString('utf8')))
    throw new QuoinError('INVALID_BODY', `The document ${MANY_FIELDS}.`)
  return parseJsonBody(bytes)
}

/** A JSON body, or undefined if there is none. Throws INVALID_BODY for anything a document could not hold. */
export function parseJsonBody(bytes: Buffer): JsonValue | undefined {
  if (bytes.length === 0) return undefined
  const text = bodyText(bytes)
  const shape = shapeProblem(text)
  if (shape !== undefined) throw new QuoinError('INVALID_BODY', `The body ${shape}.`)
  let value: JsonValue
  try {
    value = parse(text, { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    const syntax = syntaxErrorAt(text)
    if (syntax === undefined)
      throw invalidField('__proto__', 'The body has a key that would change the prototype of objects.')
    throw new QuoinError('INVALID_BODY', `The body is not JSON: ${syntax}`, { cause: error })
  }
  const long = longNumberIn(text)
  if (long) {
    const message = `The body ${longNumberProblem(long)}.`
    throw long.field === '' ? new QuoinError('INVALID_BODY', message) : invalidField(long.field, message)
  }
  if (mayHoldProblem(text)) {
    const problem = jsonProblem(value)
    if (problem !== undefined) throw new QuoinError('INVALID_BODY', `The body ${problem}.`)
  }
  return value
}

/**
 * Whether the parsed value has to be walked at all. A walk costs as much as the parsing did (1.4 µs for 330 bytes), and
 * in text that is valid JSON, valid UTF-8 and not deep, with numbers that keep their digits, only U+0000 and half surrogates can be
 * wrong: they need a `\u` escape.
 */
function mayHoldProblem(text: string): boolean {
  return text.includes('\\u')
}

/** The body, whole. Rejects one that is longer than `most` bytes, and one that is not as long as it says. */
export function wholeBody(request: IncomingMessage, most: number): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? Number.NaN)
  const chunks: Buffer[] = []
  let length = 0
  return new Promise((resolve, reject) => {
    const refuse = (error: QuoinError) => {
      request.off('data', take)
      reject(error)
    }
    const take = (chunk: Buffer) => {
      length += chunk.length
      if (length > most) refuse(bodyTooLarge(most))
      else chunks.push(chunk)
    }
    if (announced > most) refuse(bodyTooLarge(most))
    else
      request
        .on('data', take)
        .on('error', () => refuse(wrongLength()))
        .on('end', () => {
          if (!Number.isNaN(announced) && announced !== length) refuse(wrongLength())
          else resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length))
        })
  })
}

/** How long the rest of a refused body is read before its connection is cut: 64 MB at 250 Mbit/s. */
const REST_MS = 2_000

/**
 * Before a reply to a request whose body was refused, and with which its connection ends. TCP resets a connection that is closed with bytes unread: a
 * client that still sends gets EPIPE then, and never reads why it was refused. So the rest is read, and dropped, before.
 */
export function dropRest(request: IncomingMessage): void {
  const { socket } = request
  // A request that a plugin or a test injects has no connection.
  if (request.complete || !(socket instanceof Socket) || socket.destroyed) return
  const destroySoon = socket.destroySoon.bind(socket)
  // Called by Node when a last reply is written.
  socket.destroySoon = () => {
    if (request.complete || request.destroyed) return destroySoon()
    socket.end()
    const late = setTimeout(() => socket.destroy(), REST_MS).unref()
    request.once('end', destroySoon).once('close', destroySoon).resume()
    socket.once('close', () => clearTimeout(late))
  }
}

/** Whether the client sends a body. GET and HEAD have none, whatever they send. */
export function sendsBody({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  if (headers['content-type'] !== undefined || headers['transfer-encoding'] !== undefined) return true
  const length = headers['content-length']
  return length !== undefined && length !== '0'
}

/**
 * Throws UNSUPPORTED_MEDIA_TYPE for a body that is packed (RFC 9110, 8.4). Read as if it were not, it would be another body here
 * than for a proxy that unpacks it; unpacked here, 1 MB could become 1 GB.
 */
export function refuseEncoded(headers: IncomingHttpHeaders): void {
  const transfer = headers['transfer-encoding']?.trim().toLowerCase()
  const packed = (headers['content-encoding'] ?? '').split(',').map((one) => one.trim().toLowerCase())
  const isPlain = packed.every((one) => one === '' || one === 'identity')
  if (isPlain && (transfer === undefined || transfer === 'chunked')) return
  throw new QuoinError(
    'UNSUPPORTED_MEDIA_TYPE',
    `${isPlain ? 'transfer-encoding must be chunked' : 'content-encoding must be identity'} or absent. Send the body without compression.`,
  )
}

function bodyTooLarge(limit: number): QuoinError {
  return new QuoinError('FILE_TOO_BIG', `The body is larger than ${limit} bytes.`)
}

function wrongLength(): QuoinError {
  return new QuoinError('INVALID_BODY', 'The length of the body differs from content-length.')
}
