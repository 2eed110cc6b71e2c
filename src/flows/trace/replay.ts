/**
 * Running a recorded run again, on the blocks as they are now, and comparing the results.
 *
 * Nothing that it does stays: its session never commits and is rolled back at the end, whatever happens, and with it the
 * jobs, events and history that its writes would cause. Blocks that touch the world outside give what they gave then. It
 * has a cache of its own and writes no log. On SQLite it has the one writer while it runs, so it has four seconds.
 *
 * Secrets that are masked in the record stay masked in the replay.
 */

import { isDeepStrictEqual } from 'node:util'
import type { RunRequest } from '../../blocks/run-request.ts'
import { getRecord } from '../../records/records.ts'
import type { Compared } from '../../shared/api/runs.ts'
import type { Block } from '../../shared/blueprint.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { numberIn, textIn } from '../../storage/document-fields.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { candidateBlocks } from '../blueprints/block-staging.ts'
import { type CompiledBlueprint, compileBlueprint } from '../compile/compile-blueprint.ts'
import { getVersion } from '../live/versions.ts'
import { runCache } from '../run/run-cache.ts'
import type { RunEnvironment } from '../run/run-environment.ts'
import { DiscardingSession } from './discarding-session.ts'
import { getRun, recordOf } from './find-runs.ts'
import { readGiven } from './plain-given.ts'
import { recordedOutside } from './recorded-outside.ts'
import { type Caller, readRequest } from './recorded-request.ts'
import { detailOf, isUnderWay } from './run-record.ts'
import { type FlowOfTrigger, triggersOf } from './traced-flows.ts'
import type { Tracing } from './tracing.ts'

export type ReplayedState = 'saved' | 'deployed' | 'staged'

/** Undefined when the user no longer exists: the replay is then anonymous. */
export type FindCaller = (guid: string) => MaybePromise<Caller | undefined>

const DEADLINE = 4_000

/** Gives the new run, as `getRun` does. CONFLICT for a run that cannot be repeated, VALIDATION_FAILED for such blocks. */
export async function replayRun(
  tracing: Tracing,
  findCaller: FindCaller,
  guid: string,
  state: ReplayedState,
): Promise<JsonObject> {
  const record = await recordOf(tracing, guid)
  if (isUnderWay(record)) throw new QuoinError('CONFLICT', 'The run has not ended yet.')
  const detail = detailOf(record)
  const { blocks, deployment } = await blocksOf(tracing, textIn(record.blueprint), state)
  const compiled = compile(tracing, textIn(record.blueprint), blocks)
  const trigger = triggersOf(compiled).find(({ flow }) => flow.trigger === record.trigger)
  if (!trigger) throw new QuoinError('CONFLICT', `The trigger of the run is not among the ${state} blocks.`)
  const userGuid = textIn(detail.user_guid)
  const caller = userGuid === '' ? undefined : await findCaller(userGuid)
  const request = isJsonObject(detail.request) ? readRequest(detail.request, trigger.type, caller) : undefined
  const given = givenAgain(compiled, trigger, request, detail)

  let session: DiscardingSession | undefined
  const environment: RunEnvironment = {
    ...tracing.environment,
    database: {
      session(origin) {
        session = new DiscardingSession(tracing.environment.database.session(origin))
        return session
      },
    },
    cache: runCache(tracing.environment.clock),
    limits: {
      ...tracing.environment.limits,
      deadline: Math.min(DEADLINE, tracing.environment.limits.deadline),
    },
    log: () => undefined,
    publish: () => undefined,
    findFunction: (name, owner) =>
      compiled.functions.get(name) ?? tracing.environment.findFunction(name, owner),
  }
  try {
    const end = await tracing.runs.begin({
      environment,
      start: {
        flow: trigger.flow,
        blueprint: compiled.guid,
        given,
        ...(request ? { request } : { user: caller?.user }),
      },
      about: { blueprint: compiled.guid, trigger, deployment, replayOf: guid },
      replayed: recordedOutside(detail),
      ended(run) {
        run.compared = compare({ reply: detail.reply, result: detail.result }, run.detail())
      },
    })
    await session?.rollback()
    return await getRun(tracing, end.run)
  } finally {
    await session?.rollback()
  }
}

async function blocksOf(
  { flows: { records } }: Tracing,
  blueprint: string,
  state: ReplayedState,
): Promise<{ blocks: readonly Block[]; deployment: number }> {
  const record = await getRecord(records.database.session(), ownStorages.blueprints, blueprint, 'blueprint')
  if (state !== 'deployed') return { blocks: await candidateBlocks(records, blueprint, state), deployment: 0 }
  const deployment = numberIn(record.version)
  if (deployment === 0) throw new QuoinError('CONFLICT', 'The blueprint was never deployed.')
  return { blocks: (await getVersion(records, blueprint, deployment)).blocks, deployment }
}

function compile(
  { flows: { catalogue }, probe }: Tracing,
  guid: string,
  blocks: readonly Block[],
): CompiledBlueprint {
  const { blueprint, problems } = compileBlueprint(guid, blocks, catalogue, probe)
  if (blueprint) return blueprint
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
  throw new QuoinError('VALIDATION_FAILED', `The blueprint cannot run: ${count}.`, { problems })
}

function givenAgain(
  compiled: CompiledBlueprint,
  { flow, type }: FlowOfTrigger,
  request: RunRequest | undefined,
  detail: JsonObject,
): Readonly<Record<string, unknown>> {
  const trigger = [...compiled.endpoints, ...compiled.pages].find((one) => one.flow === flow)
  if (trigger && request) return trigger.start(request)
  const given = type === 'http' || type === 'page' ? undefined : readGiven(detail.given)
  if (given) return given
  throw new QuoinError('CONFLICT', 'The input of the run was too long to be recorded.')
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

function withoutMeta(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutMeta)
  if (!isJsonObject(value)) return value
  const kept = Object.entries(value).filter(([name]) => name !== '_meta')
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutMeta(inner)]))
}
