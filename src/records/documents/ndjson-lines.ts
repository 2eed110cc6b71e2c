import { isUtf8 } from 'node:buffer'
import { atOnce, type Steps } from '../../shared/cooperative.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import {
  hasManyFields,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonProblem,
  MANY_FIELDS,
} from '../../shared/json.ts'
import { jsonInSteps } from '../../shared/json-in-steps.ts'
import { longNumberInSteps, longNumberProblem, shapeProblemInSteps } from '../../shared/numbers/exact-json.ts'

/** A document has at most 16 MiB, as exports write it; the rest is for `_meta`. */
export const LONGEST_LINE = (16 * 1024 + 64) * 1024

export interface Line {
  /** Counted from 1, empty ones too: as an editor shows it. */
  readonly number: number
  readonly bytes: Buffer
}

/** Cuts bytes at line feeds. Lines of nothing but white space are left out. Holds one line and one chunk at a time. */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line, void> {
  let number = 1
  let begun: Buffer[] = []
  let length = 0
  const add = (bytes: Buffer): void => {
    begun.push(bytes)
    length += bytes.length
    if (length > LONGEST_LINE) throw atLine(number, tooLong())
  }
  const take = (): Line | undefined => {
    const bytes = Buffer.concat(begun, length)
    begun = []
    length = 0
    return isBlank(bytes) ? undefined : { number, bytes }
  }
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      add(chunk.subarray(from, end))
      const line = take()
      if (line) yield line
      number += 1
      from = end + 1
    }
    add(chunk.subarray(from))
  }
  const line = take()
  if (line) yield line
}

/** The JSON object that a line is. Throws INVALID_BODY for anything that a document could not hold. */
export function parseLine(line: Line): JsonObject {
  return atOnce(lineInSteps(line))
}

/** The same in turns: 16 MiB take 0.2 s, and of escapes more. */
export function* lineInSteps({ number, bytes }: Line): Steps<JsonObject> {
  if (!isUtf8(bytes)) throw badLine(number, 'It is not UTF-8.')
  const text = bytes.toString('utf8')
  yield
  if (hasManyFields(text)) throw badLine(number, `It ${MANY_FIELDS}.`)
  yield
  const shape = yield* shapeProblemInSteps(text)
  if (shape !== undefined) throw badLine(number, `It ${shape}.`)
  const { value, problem } = yield* parsed(number, text)
  const long = yield* longNumberInSteps(text)
  if (long) throw atLine(number, invalidField(long.field, `It ${longNumberProblem(long)}.`))
  if (!isJsonObject(value)) throw badLine(number, 'It is not a JSON object.')
  if (problem) throw badLine(number, `It ${problem}.`)
  if (mayNameConstructor(text) && (yield* hasPrototype(value))) throw badLine(number, 'It is not JSON.')
  return value
}

/** The same error, with the number of the line before its words. */
export function atLine(number: number, error: unknown): unknown {
  if (!(error instanceof QuoinError)) return error
  return new QuoinError(error.code, `Line ${number}: ${error.message} Nothing was imported.`, {
    ...(error.fields && { fields: error.fields }),
    cause: error,
  })
}

function* parsed(number: number, text: string) {
  let problem: string | undefined
  const look = (piece: JsonValue, depth: number) => {
    problem ??= jsonProblem(piece, depth)
  }
  try {
    const whole = text.startsWith('\ufeff') ? text.slice(1) : text
    return { value: yield* jsonInSteps(whole, { look }), problem }
  } catch {
    // The parser's words quote the line, which may hold what does not belong in a log.
    throw badLine(number, 'It is not JSON.')
  }
}

/** Also where letters of the name are escapes. */
function mayNameConstructor(text: string): boolean {
  return text.includes('"constructor"') || text.includes('\\u00')
}

const LOOKED = 10_000

/** Whether an object has a `constructor` with a `prototype`, which would change other objects where the document is merged into one. */
function* hasPrototype(whole: JsonValue): Steps<boolean> {
  const open: JsonValue[] = [whole]
  for (let looked = 1; ; looked += 1) {
    const value = open.pop()
    if (value === undefined) return false
    if (looked % LOOKED === 0) yield
    if (value === null || typeof value !== 'object') continue
    if (isJsonObject(value) && Object.hasOwn(value, 'constructor')) {
      const { constructor: made } = value
      if (isJsonObject(made) && Object.hasOwn(made, 'prototype')) return true
    }
    for (const item of Object.values(value)) open.push(item)
  }
}

function badLine(number: number, message: string): unknown {
  return atLine(number, new QuoinError('INVALID_BODY', message))
}

function tooLong(): QuoinError {
  return new QuoinError(
    'INVALID_BODY',
    `It is longer than ${LONGEST_LINE} bytes, and a document has at most 16 MiB. Store large content as an asset.`,
  )
}

function isBlank(bytes: Buffer): boolean {
  return bytes.length === 0 || (bytes.length < 64 && bytes.toString('latin1').trim() === '')
}
