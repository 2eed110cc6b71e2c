import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { parse } from 'secure-json-parse'
import { atOnce, runCooperatively, type Steps } from '../../shared/cooperative.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import { type JsonValue, jsonProblem, MANY_FIELDS, PROTOTYPE_KEY } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import {
  CHANGES_PROTOTYPE,
  checkedJsonInSteps,
  hasManyFields,
  hasManyFieldsInSteps,
  longNumberIn,
  longNumberProblem,
  NOT_JSON,
  shapeProblem,
} from '../../shared/numbers/exact-json.ts'

/**
 * Says where text stops being JSON. V8 gives a position for some mistakes and for others a piece of the text, which we
 * do not repeat to clients or logs, so the text is read once more; only bodies that were refused pay for it.
 *
 * The reader keeps what may come next: a value, a key, a colon, or what follows a value. `open` holds the brackets that
 * are open, so depth costs no stack.
 */
type Next = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | 'after'

const SPACE = /[ \t\n\r]{0,65536}/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const CHARACTERS = /(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){0,65536}/uy

const expected: Readonly<Record<Next, string>> = {
  value: 'a value',
  'value or ]': 'a value or ]',
  key: 'a name in double quotes',
  'key or }': 'a name in double quotes or }',
  ':': 'a colon',
  after: 'a comma or the closing bracket',
}

/** Characters of one step. */
const PIECE = 65_536

/** "line 3, column 7: a value was expected there." Undefined when the text is JSON. */
export function syntaxErrorAt(text: string): string | undefined {
  return atOnce(syntaxErrorInSteps(text))
}

function* syntaxErrorInSteps(text: string): Steps<string | undefined> {
  const open: string[] = []
  let next: Next = 'value'
  // A byte order mark is skipped by the parser too.
  let at = text.startsWith('\ufeff') ? 1 : 0
  let rested = at
  for (;;) {
    if (at - rested > PIECE) {
      rested = at
      yield
    }
    at = yield* behind(SPACE, text, at)
    const ended = next === 'after' && open.length === 0
    if (at >= text.length) return ended ? undefined : yield* described(text, at, 'the text ends too early.')
    if (ended) return yield* described(text, at, 'nothing was expected after the value.')
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
      const end = yield* behindScalar(text, at)
      if (end === at) return yield* described(text, at, `${expected[state]} was expected there.`)
      at = end
      next = state.startsWith('key') ? ':' : 'after'
    } else return yield* described(text, at, `${expected[state]} was expected there.`)
  }
}

/** Behind the string, number or word that begins there; the same place if none does. */
function* behindScalar(text: string, from: number): Steps<number> {
  if (text[from] !== '"') return yield* behind(SCALAR, text, from)
  const end = yield* behind(CHARACTERS, text, from + 1)
  return text[end] === '"' ? end + 1 : from
}

/** Behind as much as the pattern takes there, which takes so many characters at once. */
function* behind(pattern: RegExp, text: string, from: number): Steps<number> {
  for (let at = from; ; ) {
    pattern.lastIndex = at
    const length = pattern.exec(text)?.[0].length ?? 0
    at += length
    if (length < PIECE) return at
    yield
  }
}

function* described(text: string, at: number, what: string): Steps<string> {
  let line = 1
  let begin = 0
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', begin)) {
    begin = end + 1
    line += 1
    if (line % PIECE === 0) yield
  }
  return `line ${line}, column ${at - begin + 1} (position ${at}): ${what}`
}

/** Bytes as text. Node would turn what is not UTF-8 into U+FFFD, and a document would contain characters that no client sent. */
export function bodyText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw notUtf8()
  return bytes.toString('utf8')
}

/** Bytes of a body that is parsed in one turn of the event loop, which takes up to 45 ms. */
const LARGE_BODY = 1_048_576

/** As {@link readJsonBody}, of what becomes one document: its fields are counted before it is parsed. */
export function readDocumentBody(bytes: Buffer): MaybePromise<JsonValue | undefined> {
  if (bytes.length > LARGE_BODY) return runCooperatively(jsonBodyInSteps(bytes, { isDocument: true }))
  if (isUtf8(bytes) && hasManyFields(bytes.toString('utf8'))) throw tooManyFields()
  return parseJsonBody(bytes)
}

/** A JSON body, or undefined if there is none: a large one in turns. Throws INVALID_BODY for anything a document could not hold. */
export function readJsonBody(bytes: Buffer): MaybePromise<JsonValue | undefined> {
  if (bytes.length <= LARGE_BODY) return parseJsonBody(bytes)
  return runCooperatively(jsonBodyInSteps(bytes, { isDocument: false }))
}

export function* jsonBodyInSteps(
  bytes: Buffer,
  { isDocument }: { readonly isDocument: boolean },
): Steps<JsonValue> {
  if (!isUtf8(bytes)) throw notUtf8()
  yield
  const text = bytes.toString('utf8')
  yield
  if (isDocument && (yield* hasManyFieldsInSteps(text))) throw tooManyFields()
  const read = yield* checkedJsonInSteps(text)
  if ('value' in read) return read.value
  const { problem, field } = read
  if (problem === CHANGES_PROTOTYPE || problem === PROTOTYPE_KEY) throw changesPrototype()
  if (problem === NOT_JSON) throw notJson((yield* syntaxErrorInSteps(text)) ?? 'it cannot be read.')
  const message = `The body ${problem}.`
  throw field === undefined ? new QuoinError('INVALID_BODY', message) : invalidField(field, message)
}

/** The same of a body of at most a megabyte, or of none. */
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
    throw syntax === undefined ? changesPrototype() : notJson(syntax, error)
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

const notUtf8 = () => new QuoinError('INVALID_BODY', 'The body is not UTF-8.')
const tooManyFields = () => new QuoinError('INVALID_BODY', `The document ${MANY_FIELDS}.`)
const changesPrototype = () => invalidField('__proto__', `The body ${CHANGES_PROTOTYPE}.`)
const notJson = (syntax: string, cause?: unknown) =>
  new QuoinError('INVALID_BODY', `The body is not JSON: ${syntax}`, { cause })

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
