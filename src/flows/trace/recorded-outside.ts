/** What blocks that touch the world outside gave in a recorded run: what they give when the run is replayed. */
import { type ErrorCode, errorTable, QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import { runPasses } from './recorded-passes.ts'
import type { TracedRun } from './step-recorder.ts'

type Replayed = NonNullable<TracedRun['replayed']>
type PinValues = Readonly<Record<string, unknown>>

/** Of a block by its guid, what it gave in a recorded run, in order. */
export type PinnedReplies = ReadonlyMap<string, readonly JsonObject[]>

const NO_PINS: PinnedReplies = new Map()

/** What blocks outside gave in a recorded run: its steps by block. */
export function outsideSteps(detail: JsonObject): Map<string, JsonObject[]> {
  return Map.groupBy(objectsIn(detail.outside), ({ block }) => textIn(block))
}

/**
 * Matched by the block's guid, and among the executions of one block by their order. Throws what is not recorded, with `absent`
 * as the message. `pinned` go first, and the last reply of a pinned block is given as often as it is asked for.
 */
export function recordedOutside(
  detail: JsonObject,
  pinned: PinnedReplies = NO_PINS,
  absent = 'A replay sends no external requests, and the recorded run did not execute this block this often.',
): Replayed {
  const recorded = outsideSteps(detail)
  const input = new Map<string, number>()
  return (step, pass) => {
    const { block } = step
    const times = input.get(block) ?? 0
    input.set(block, times + 1)
    const pins = pinned.get(block)
    if (pins) step.note = 'Pinned reply'
    const found = pins ? (pins[times] ?? pins.at(-1)) : recorded.get(block)?.[times]
    if (!found) throw new Error(absent)
    return giveAgain(found, pass)
  }
}

function giveAgain(
  { out, next, error, passes, broke }: JsonObject,
  pass: (input: PinValues) => MaybePromise<boolean>,
): MaybePromise<PinValues> {
  if (passes === null)
    throw new Error(
      'A replay sends no external requests, and the recorded passes were too many to be stored.',
    )
  return andThen(runPasses(objectsIn(passes), pass), (more) => {
    if (!more) return { next: null }
    if (broke === true)
      throw new Error('The recorded run failed in this pass, so no pass behind it is recorded.')
    if (isJsonObject(error)) throw recordedError(error, isJsonObject(out) ? out : undefined)
    if (!isJsonObject(out))
      throw new Error(
        'A replay sends no external requests, and the recorded result was too long to be stored.',
      )
    return { ...out, ...(typeof next === 'string' && next !== 'flow' && { next }) }
  })
}

/** What a flow sees of an error is its code, if it has one, and its message. */
function recordedError({ code, message }: JsonObject, gave: JsonObject | undefined): Error {
  const text = textIn(message)
  return isErrorCode(code) && code !== 'INTERNAL' ? new QuoinError(code, text, { gave }) : new Error(text)
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
