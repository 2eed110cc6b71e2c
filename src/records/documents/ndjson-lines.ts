import { isUtf8 } from 'node:buffer'
import { atOnce, type Steps } from '../../shared/cooperative.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, MANY_FIELDS } from '../../shared/json.ts'
import { checkedJsonInSteps, hasManyFieldsInSteps } from '../../shared/numbers/exact-json.ts'

/** A document has at most 16 MiB, as exports write it; the rest is for `_meta`. */
export const LONGEST_LINE = (16 * 1024 + 64) * 1024

export interface Line {
  /** Counted from 1, empty ones too: as an editor shows it. */
  readonly number: number
  readonly bytes: Buffer
}

/**
 * Cuts bytes at line feeds. Lines of nothing but white space are left out. Holds one line and one chunk at a time. `isBeginning`: of a
 * file, whose last line may not be whole and is left out.
 */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  isBeginning = false,
): AsyncGenerator<Line, void> {
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
  const line = isBeginning ? undefined : take()
  if (line) yield line
}

/** The JSON object that a line is. Throws INVALID_BODY for anything that a document could not hold. */
export function parseLine(line: Line): JsonObject {
  return atOnce(lineInSteps(line))
}

/** The same in turns: 16 MiB take 0.2 s, and of escapes more. */
export function* lineInSteps({ number, bytes }: Line): Steps<JsonObject> {
  if (!isUtf8(bytes)) throw badLine(number, 'It is not UTF-8.')
  yield
  const text = bytes.toString('utf8')
  yield
  if (yield* hasManyFieldsInSteps(text)) throw badLine(number, `It ${MANY_FIELDS}.`)
  const read = yield* checkedJsonInSteps(text)
  // Words of the parser would quote the line, which may hold what does not belong in a log.
  if ('problem' in read) {
    const message = `It ${read.problem}.`
    throw read.field === undefined
      ? badLine(number, message)
      : atLine(number, invalidField(read.field, message))
  }
  if (!isJsonObject(read.value)) throw badLine(number, 'It is not a JSON object.')
  return read.value
}

/** The same error, with the number of the line before its words. */
export function atLine(number: number, error: unknown): unknown {
  if (!(error instanceof QuoinError)) return error
  return new QuoinError(error.code, `Line ${number}: ${error.message} Nothing was imported.`, {
    ...(error.fields && { fields: error.fields }),
    cause: error,
  })
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
