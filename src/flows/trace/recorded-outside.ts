/** What blocks that touch the world outside gave in a recorded run: what they give when the run is replayed. */
import { type ErrorCode, errorTable, QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import type { TracedRun } from './watched-blocks.ts'

/** Matched by the block's guid, and among the executions of one block by their order. Throws what is not recorded. */
export function recordedOutside(detail: JsonObject): NonNullable<TracedRun['replayed']> {
  const steps = Map.groupBy(objectsIn(detail.outside), ({ block }) => textIn(block))
  return (block) => {
    const step = steps.get(block)?.shift()
    if (!step)
      throw new Error(
        'A replay sends no external requests, and the recorded run did not execute this block this often.',
      )
    const { out, next, error } = step
    if (isJsonObject(error)) throw recordedError(error)
    if (!isJsonObject(out))
      throw new Error(
        'A replay sends no external requests, and the recorded result was too long to be stored.',
      )
    return { ...out, ...(typeof next === 'string' && next !== 'flow' && { next }) }
  }
}

/** What a flow sees of an error is its code, if it has one, and its message. */
function recordedError({ code, message }: JsonObject): Error {
  const text = textIn(message)
  return isErrorCode(code) && code !== 'INTERNAL' ? new QuoinError(code, text) : new Error(text)
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorTable, code)
}

/** Whether a part of the value was not kept. */
export function isCut(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.some(isCut)
  if (!isJsonObject(value)) return false
  return typeof value.$cut === 'string' || Object.values(value).some(isCut)
}
