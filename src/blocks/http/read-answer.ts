/** What a block gives of an answer. */
import { QuoinError } from '../../shared/errors.ts'
import { type JsonObject, type JsonValue, jsonProblem } from '../../shared/json.ts'
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

/** Parsed if it is JSON, else text. Undefined without a body. */
export function readBody({ headers, bytes }: Answer): JsonValue | undefined {
  if (bytes.byteLength === 0) return undefined
  refuseCompressed(headers)
  const type = String(headers['content-type'] ?? '')
  const text = decoderFor(type).decode(bytes)
  const value = JSON_TYPE.test(type) ? parsed(text) : undefined
  return value === undefined ? text : value
}

/** Requests accept none: bounds count bytes. */
export function refuseCompressed(headers: AnswerHead['headers']): void {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    throw new QuoinError('INTERNAL', 'the other server sent a compressed reply although none was accepted')
}

/** undefined for text that is no JSON, or JSON that Quoin could not store. */
function parsed(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text)
    return jsonProblem(value) === undefined ? value : undefined
  } catch {
    return undefined
  }
}

function decoderFor(type: string): TextDecoder {
  const charset = /;\s*charset="?([\w-]+)"?/i.exec(type)?.[1]
  try {
    return new TextDecoder(charset ?? 'utf-8')
  } catch {
    return new TextDecoder()
  }
}
