/** What a block gives of an answer. */
import { runCooperatively, type Steps } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import {
  longNumberInSteps,
  longNumberProblem,
  longNumbersAsTextsInSteps,
  readJson,
  readJsonInSteps,
} from '../../shared/numbers/exact-json.ts'
import type { Settings } from '../setting.ts'
import type { Answer, AnswerHead } from './send-request.ts'

const JSON_TYPE = /^(?:application|text)\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i

export function headersOf(answer: AnswerHead): JsonObject {
  const headers: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(answer.headers)) {
    // The other server chooses the names.
    if (value !== undefined && name !== '__proto__') headers[name] = value
  }
  return headers
}

/** What happens to numbers in JSON that would not keep their digits. */
export const longNumberSetting = {
  long_numbers: {
    kind: 'choice',
    options: ['refuse', 'text'],
    default: 'refuse',
    help: 'Numbers of the reply with more digits than a number keeps, such as ids beyond 2^53. refuse: the block fails and names the field. text: they become texts.',
  },
} as const satisfies Settings

/** A record of a run shows less. */
const MOST_RECORDED = 64 * 1024

/** What pins would have given of a reply that is an error of its block: for the record of the run. */
export function recordedReply({ code, headers, bytes, url }: Answer): JsonObject {
  const beginning = isCompressed(headers) ? new Uint8Array() : bytes.subarray(0, MOST_RECORDED)
  const text = decoderFor(String(headers['content-type'] ?? '')).decode(beginning)
  const read = readJson(text)
  const body = 'value' in read ? read.value : text
  // The body says why it failed: before the headers, it is seen without scrolling.
  return { code, ...(bytes.byteLength > 0 && { body }), headers: headersOf({ code, headers, url }) }
}

/** A client learns the status only; who looks at the run sees the whole reply. */
export function refusedReply(answer: Answer, about = ''): QuoinError {
  return new QuoinError('UNAVAILABLE', `the other server replied with status ${answer.code}${about}`, {
    gave: recordedReply(answer),
  })
}

/** The beginning of a body whose status is an error. What arrives too late, or not at all, is left out. */
export async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      size += chunk.byteLength
      if (size >= MOST_RECORDED) break
    }
  } catch {
    // The status is what failed.
  }
  return Buffer.concat(chunks, size)
}

/** Parsed if it is JSON, else text. Undefined without a body. In turns: 10 MiB of a server that means harm took a second. */
export function readBody(answer: Answer, longNumbers: string): Promise<JsonValue | undefined> {
  return runCooperatively(bodyInSteps(answer, longNumbers))
}

function* bodyInSteps(answer: Answer, longNumbers: string): Steps<JsonValue | undefined> {
  const { headers, bytes } = answer
  if (bytes.byteLength === 0) return undefined
  refuseCompressed(headers)
  const type = String(headers['content-type'] ?? '')
  const text = yield* decoded(bytes, decoderFor(type))
  const value = JSON_TYPE.test(type) ? yield* parsed(text, longNumbers, answer) : undefined
  return value === undefined ? text : value
}

/** Bytes of one step: character sets other than UTF-8 take some 10 ms for a megabyte. */
const DECODED = 1024 * 1024

function* decoded(bytes: Uint8Array, decoder: TextDecoder): Steps<string> {
  let text = ''
  for (let at = 0; at < bytes.byteLength; at += DECODED) {
    if (at > 0) yield
    text += decoder.decode(bytes.subarray(at, at + DECODED), { stream: true })
  }
  return text + decoder.decode()
}

/** Requests accept none: bounds count bytes. */
export function refuseCompressed(headers: AnswerHead['headers']): void {
  if (isCompressed(headers))
    throw new QuoinError('INTERNAL', 'the other server sent a compressed reply although none was accepted')
}

function isCompressed({ 'content-encoding': encoding }: AnswerHead['headers']): boolean {
  return encoding !== undefined && encoding !== 'identity'
}

/** undefined for text that is no JSON, or JSON that Quoin could not store. */
function* parsed(text: string, longNumbers: string, answer: Answer): Steps<JsonValue | undefined> {
  const read = yield* readJsonInSteps(text)
  if ('value' in read) return read.value
  // Only of JSON: other text has no fields.
  const long = read.field === undefined ? undefined : yield* longNumberInSteps(text)
  if (!long) return undefined
  if (longNumbers !== 'text')
    throw new QuoinError('INTERNAL', `the reply ${longNumberProblem(long)}, or set long_numbers to text`, {
      gave: recordedReply(answer),
    })
  const texts = yield* readJsonInSteps(yield* longNumbersAsTextsInSteps(text))
  return 'value' in texts ? texts.value : undefined
}

function decoderFor(type: string): TextDecoder {
  const charset = /;\s*charset="?([\w-]+)"?/i.exec(type)?.[1]
  try {
    return new TextDecoder(charset ?? 'utf-8')
  } catch {
    return new TextDecoder()
  }
}
