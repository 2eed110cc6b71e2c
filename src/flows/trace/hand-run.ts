/**
 * Runs a trigger once because a person asks for it, with an input of their choice, and records the run.
 *
 * - `real`: the deployed flow of an active blueprint, as its event, schedule, job or caller would start it. What it does
 *   stays. Endpoints and pages have addresses for that.
 * - `discard`: saved, staged or deployed blocks, of which nothing stays (`discarding-environment.ts`). Blocks that touch the world
 *   outside give what is pinned to them, or what they gave in a recorded run, if one is named, and fail otherwise.
 *
 * As when they run by themselves, schedules and failure events have no user; functions and storage events run for the person.
 */
import type { AuditLog } from '../../records/audit-log.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import { drawnBlock } from '../compile/expand-resources.ts'
import type { RunFlow } from '../run/run-start.ts'
import { type BlocksState, compiledState } from './compiled-state.ts'
import { runDiscarded } from './discarding-environment.ts'
import { getRun, recordOf } from './find-runs.ts'
import { handStart } from './hand-input.ts'
import { type PinnedReply, pinnedReplies } from './pinned-replies.ts'
import { recordedOutside } from './recorded-outside.ts'
import { type Caller, type ManualStart, recordedStart } from './recorded-request.ts'
import { detailOf, isUnderWay } from './run-record.ts'
import { type FlowOfTrigger, triggersOf } from './traced-flows.ts'
import type { Tracing } from './tracing.ts'

/** What runs by hand need. */
export interface HandRuns {
  readonly tracing: Tracing
  /** Runs a flow through the whole pipeline. */
  readonly run: RunFlow
  readonly audit: Pick<AuditLog, 'record'>
  /** Whether a planned run of the schedule waits or runs. Undefined where nothing is planned. */
  readonly isScheduleRunning: ((schedule: string) => Promise<boolean>) | undefined
  /** Schedules that run by hand in this process, by the guids of blueprint and block. */
  readonly schedulesByHand: Set<string>
}

export interface HandRun {
  /** Guid or name of the trigger's block, or its label, such as `GET tasks`. */
  readonly trigger: string
  readonly state: BlocksState
  readonly effects: 'real' | 'discard'
  readonly input: JsonObject | undefined
  /** Guid of a run whose input and results of blocks outside are used. */
  readonly from: string | undefined
  readonly anonymous: boolean
  /** Of saved and staged blocks: what blocks outside give, without effects. */
  readonly pinned: readonly PinnedReply[]
  /** Whether the person does not hold a scope. */
  readonly lacks: (scope: string) => boolean
}

const NOTHING_OUTSIDE =
  'Tried without effects: no external requests are sent. Pin a recorded reply, run it for real, or from a recorded run.'

/** Gives the run, as `getRun` does. */
export async function runByHand(
  parts: HandRuns,
  blueprint: string,
  asked: HandRun,
  by: Caller,
): Promise<JsonObject> {
  const { tracing } = parts
  if (tracing.runs.isFull)
    throw new QuoinError('UNAVAILABLE', 'Too many runs are being recorded. Try again in a moment.')
  const detail = asked.from === undefined ? undefined : await detailFrom(tracing, asked.from, blueprint)
  const end = await (asked.effects === 'real'
    ? runReal(parts, blueprint, asked, by, detail)
    : tryOut(tracing, blueprint, asked, by, detail))
  return getRun(tracing, end.run)
}

async function runReal(
  parts: HandRuns,
  blueprint: string,
  asked: HandRun,
  by: Caller,
  detail: JsonObject | undefined,
) {
  const { tracing, run, audit } = parts
  if (asked.pinned.length > 0) throw invalidField('pinned', 'Pinned replies are for runs without effects.')
  if (asked.state !== 'deployed')
    throw new QuoinError(
      'CONFLICT',
      'Only deployed blocks run for real. Deploy them, or try them without effects.',
    )
  const found = tracing.flows.live.table().blueprints.get(blueprint)
  if (!found)
    throw new QuoinError('CONFLICT', 'The blueprint is not active. Activate it, or try it without effects.')
  const trigger = triggerNamed(found.compiled, asked.trigger)
  if (trigger.type === 'http' || trigger.type === 'page')
    throw new QuoinError(
      'CONFLICT',
      `To run ${trigger.label} for real, send a request to its address: limits and access count there.`,
    )
  const { input: inputs } = startOf(tracing, found.compiled, trigger, asked, by, detail)
  const user = isForPerson(trigger) ? by.user : undefined
  const started = async () => {
    const actor = { guid: guidOf(by.user), username: textIn(by.user.username) }
    // Before it: no run without a name beside it.
    const { database } = tracing.flows.records
    const after = { trigger: trigger.label }
    const about = { category: 'blueprints', action: 'run', guid: blueprint, name: found.name } as const
    await transact(database, (session) => audit.record(session, { ...about, before: undefined, after }), {
      user: actor,
    })
    const origin = { user: actor, ...(trigger.type === 'failure' && { afterFailure: true }) }
    return run({
      flow: trigger.flow,
      blueprint,
      input: inputs,
      user,
      origin,
      byHand: true,
      traced: () => undefined,
    })
  }
  const letGo = await holdSchedule(parts, found.compiled, trigger)
  return started().finally(letGo)
}

/**
 * A schedule that lets no runs overlap is refused while one of them waits or runs: planned on any node, or by hand on this
 * one. To wait in line as `queue` does would take as long as the other run. Gives what lets the next one begin.
 */
async function holdSchedule(
  { isScheduleRunning, schedulesByHand }: HandRuns,
  { guid, schedules }: CompiledBlueprint,
  { flow }: FlowOfTrigger,
): Promise<() => void> {
  const schedule = schedules.find((one) => one.flow === flow)
  const overlap = schedule?.listening.overlap ?? 'allow'
  if (!schedule || overlap === 'allow') return () => undefined
  const id = `${guid} ${schedule.block}`
  const refused = () =>
    new QuoinError(
      'CONFLICT',
      `The schedule is running already, and its overlap is ${overlap}. Run it when that run has ended, or set overlap to allow.`,
    )
  if (schedulesByHand.has(id)) throw refused()
  schedulesByHand.add(id)
  const letGo = () => void schedulesByHand.delete(id)
  try {
    if (await isScheduleRunning?.(id)) throw refused()
  } catch (error) {
    letGo()
    throw error
  }
  return letGo
}

async function tryOut(
  tracing: Tracing,
  blueprint: string,
  asked: HandRun,
  by: Caller,
  detail: JsonObject | undefined,
) {
  const pins = await pinnedReplies(tracing, blueprint, asked.state, asked.pinned)
  const { compiled, deployment } = await compiledState(tracing, blueprint, asked.state, asked.lacks)
  const trigger = triggerNamed(compiled, asked.trigger)
  const start = startOf(tracing, compiled, trigger, asked, by, detail)
  return runDiscarded(tracing, {
    ...{ compiled, trigger, deployment, ...start, replayOf: null, recordedAs: 'tried' },
    ...(isForPerson(trigger) && { user: by.user }),
    outside: detail ? recordedOutside(detail, pins) : recordedOutside({}, pins, NOTHING_OUTSIDE),
  })
}

function startOf(
  { flows }: Tracing,
  compiled: CompiledBlueprint,
  trigger: FlowOfTrigger,
  { input, anonymous }: HandRun,
  by: Caller,
  detail: JsonObject | undefined,
): ManualStart {
  const caller = anonymous ? undefined : by
  if (detail && input === undefined) return recordedStart(compiled, trigger, detail, caller)
  const [guid, now] = [flows.newGuid(), flows.environment.clock()]
  return handStart({ compiled, trigger, input: input ?? {}, caller, guid, now })
}

/** As in a queue: a schedule and a failure have no user. */
function isForPerson({ type }: FlowOfTrigger): boolean {
  return type === 'function' || type === 'storage'
}

function triggerNamed(compiled: CompiledBlueprint, name: string): FlowOfTrigger {
  const triggers = triggersOf(compiled)
  const names = new Map(compiled.blocks.map((block) => [block.guid, block.name]))
  const exact = triggers.filter(({ flow, label }) => flow.trigger === name || label === name)
  const found =
    exact.length > 0
      ? exact
      : triggers.filter(({ flow }) => {
          const drawn = drawnBlock(flow.trigger)
          return drawn === name || names.get(drawn) === name
        })
  const [first, second] = found
  if (first && !second) return first
  const labels = (second ? found : triggers).map(({ label }) => label).slice(0, 50)
  if (second)
    throw new QuoinError('CONFLICT', `${name} has several triggers. Name one of them: ${labels.join('; ')}.`)
  throw new QuoinError(
    'NOT_FOUND',
    `There is no trigger ${JSON.stringify(name)}. There are: ${labels.join('; ') || 'none'}.`,
  )
}

async function detailFrom(tracing: Tracing, guid: string, blueprint: string): Promise<JsonObject> {
  const record = await recordOf(tracing, guid)
  if (record.blueprint !== blueprint)
    throw new QuoinError('CONFLICT', 'The run is of another blueprint. Choose one of this blueprint.')
  if (isUnderWay(record)) throw new QuoinError('CONFLICT', 'The run has not ended yet.')
  return detailOf(record)
}
