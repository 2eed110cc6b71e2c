/**
 * Running a recorded run again, on the blocks as they are now, and comparing the results.
 *
 * Nothing that it does stays (`discarding-environment.ts`). Blocks that touch the world outside give what they gave then.
 *
 * Secrets that are masked in the record stay masked in the replay.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Compared } from '../../shared/api/blueprints/runs.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { textIn } from '../../storage/document-fields.ts'
import { type BlocksState, compiledState } from './compiled-state.ts'
import { runDiscarded } from './discarding-environment.ts'
import { getRun, recordOf } from './find-runs.ts'
import { type PinnedReply, pinnedReplies } from './pinned-replies.ts'
import { recordedOutside } from './recorded-outside.ts'
import { type Caller, recordedStart } from './recorded-request.ts'
import { detailOf, isUnderWay } from './run-record.ts'
import { triggersOf } from './traced-flows.ts'
import type { Tracing } from './tracing.ts'

/** Undefined when the user no longer exists: the replay is then anonymous. */
export type FindCaller = (guid: string) => MaybePromise<Caller | undefined>

/** Gives the new run, as `getRun` does. CONFLICT for a run that cannot be repeated, VALIDATION_FAILED for such blocks. */
export async function replayRun(
  tracing: Tracing,
  findCaller: FindCaller,
  guid: string,
  state: BlocksState,
  lacks: (scope: string) => boolean,
  pinned: readonly PinnedReply[] = [],
): Promise<JsonObject> {
  const record = await recordOf(tracing, guid)
  if (isUnderWay(record)) throw new QuoinError('CONFLICT', 'The run has not ended yet.')
  const detail = detailOf(record)
  const pins = await pinnedReplies(tracing, textIn(record.blueprint), state, pinned)
  const { compiled, deployment } = await compiledState(tracing, textIn(record.blueprint), state, lacks)
  const trigger = triggersOf(compiled).find(({ flow }) => flow.trigger === record.trigger)
  if (!trigger) throw new QuoinError('CONFLICT', `The trigger of the run is not among the ${state} blocks.`)
  const userGuid = textIn(detail.user_guid)
  const caller = userGuid === '' ? undefined : await findCaller(userGuid)
  const start = recordedStart(compiled, trigger, detail, caller)

  const end = await runDiscarded(tracing, {
    compiled,
    trigger,
    deployment,
    ...start,
    user: caller?.user,
    replayOf: guid,
    recordedAs: 'replay',
    outside: recordedOutside(detail, pins),
    ended(run) {
      run.compared = compare({ reply: detail.reply, result: detail.result }, run.detail())
    },
  })
  return getRun(tracing, end.run)
}

/** Guids and times of new documents are never the same, so `_meta` does not count. */
function compare(was: Ended, is: Ended): Compared {
  const [before, after] = [outcomeOf(was), outcomeOf(is)]
  const same = isDeepStrictEqual(withoutMeta(before), withoutMeta(after))
  return { status: [before.status, after.status], same, before: before.body, after: after.body }
}

type Ended = Readonly<Record<'reply' | 'result', JsonValue | undefined>>
type Outcome = { readonly status: number | null; readonly body: JsonValue }

/** What was replied, or what a function returned. */
function outcomeOf({ reply, result }: Ended): Outcome {
  if (!isJsonObject(reply)) return { status: null, body: result ?? null }
  const { status } = reply
  return { status: typeof status === 'number' ? status : null, body: reply.body ?? null }
}

export function withoutMeta(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutMeta)
  if (!isJsonObject(value)) return value
  const remaining = Object.entries(value).filter(([name]) => name !== '_meta')
  return Object.fromEntries(remaining.map(([name, inner]) => [name, withoutMeta(inner)]))
}
