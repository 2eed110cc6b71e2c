/**
 * Recorded runs of a blueprint repeated on changed blocks and on the deployed ones, side by side. Nothing that they do stays, they are not
 * recorded, and blocks that touch the world outside give what they gave then.
 */
import { type Actor, getRecord } from '../../records/records.ts'
import type { ComparedRuns } from '../../shared/api/blueprints/runs.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import {
  type ComparedTimes,
  differenceOf,
  type Side,
  sideOf,
  slowerBlocks,
  timesOf,
} from './compared-replies.ts'
import { type BlocksState, compiledState } from './compiled-state.ts'
import { runDiscarded } from './discarding-environment.ts'
import { newestRecords } from './find-runs.ts'
import { recordedOutside } from './recorded-outside.ts'
import { type Caller, recordedStart } from './recorded-request.ts'
import type { FindCaller } from './replay.ts'
import { detailOf, isUnderWay } from './run-record.ts'
import { triggersOf } from './traced-flows.ts'
import type { AcceptedDifferences, Tracing } from './tracing.ts'

export interface RunsToCompare {
  readonly blueprint: string
  /** What is compared with the deployed blocks. */
  readonly candidate: Exclude<BlocksState, 'deployed'> | CompiledBlueprint
  readonly runs: number
  readonly accepted: readonly string[]
  /** Whether the user who compares does not hold a scope. */
  readonly lacks: (scope: string) => boolean
  /** Who accepts them until another version is deployed. */
  readonly rememberedBy?: Actor | undefined
  /** Milliseconds since 1970: runs after it are left. */
  readonly until: number
}

/** On SQLite a repeated run that writes has the one writer. */
export const MOST_COMPARED_MS = 20_000
/** Records with their details, of at most 600 KB each. */
const PAGE = 20
const MOST_LOOKED_AT = 400
const MOST_DIFFERENCES = 100
/** Keys of a blueprint. */
const MOST_REMEMBERED = 1_000

type Compiled = Awaited<ReturnType<typeof compiledState>>

/** CONFLICT where nothing is deployed, VALIDATION_FAILED for blocks that cannot run. */
export async function compareRuns(
  tracing: Tracing,
  findCaller: FindCaller,
  { blueprint, candidate: asked, runs, accepted, lacks, rememberedBy, until }: RunsToCompare,
): Promise<ComparedRuns> {
  const { clock } = tracing.environment
  const deployed = await compiledState(tracing, blueprint, 'deployed', lacks)
  const candidate =
    typeof asked === 'string'
      ? await compiledState(tracing, blueprint, asked, lacks)
      : { compiled: asked, deployment: 0 }
  const remembered = await rememberedKeys(tracing, blueprint, deployed.deployment)
  if (rememberedBy && accepted.length > 0) {
    const keys = [...new Set([...remembered, ...accepted])].slice(-MOST_REMEMBERED)
    await remember(tracing, blueprint, { deployment: deployed.deployment, keys }, rememberedBy)
  }
  const unlisted = new Set<string>()
  const differences = new Map<string, ComparedRuns['differences'][number]>()
  const skipped: ComparedRuns['skipped'][number][] = []
  let [compared, same, left] = [0, 0, 0]
  const times = new Map<string, ComparedTimes>()
  for (const record of await recordsToRepeat(tracing, deployed, blueprint, runs)) {
    if (clock() >= until) {
      left += 1
      continue
    }
    const about = { run: guidOf(record), label: textIn(record.label) }
    try {
      const repeat = await repeaterOf(tracing, findCaller, record)
      // In turns: the second one finds more in memory.
      const first = compared % 2 === 0 ? await repeat(deployed) : undefined
      const { side: is, took: takes } = await repeat(candidate)
      const { side: was, took } = first ?? (await repeat(deployed))
      for (const [side, all] of [['deployed', took] as const, ['candidate', takes] as const])
        for (const [block, us] of all) {
          const known = times.get(block) ?? { deployed: [], candidate: [] }
          known[side].push(us)
          times.set(block, known)
        }
      const found = differenceOf(about.label, was, is, was) && (await repeat(deployed)).side
      const difference = found && differenceOf(about.label, was, is, found)
      compared += 1
      if (!difference) same += 1
      else if (remembered.includes(difference.key)) unlisted.add(difference.key)
      else if (!differences.has(difference.key) && differences.size < MOST_DIFFERENCES)
        differences.set(difference.key, {
          ...{ ...difference, ...about, paths: [...difference.paths] },
          ...{ accepted: accepted.includes(difference.key), deployed: was, candidate: is },
        })
    } catch (error) {
      if (!(error instanceof QuoinError)) throw error
      skipped.push({ ...about, reason: error.message })
    }
  }
  return {
    ...{ compared, same, differences: [...differences.values()], skipped },
    ...{ remembered: unlisted.size, left, slower: slowerBlocks(times) },
  }
}

async function rememberedKeys(
  { blueprints }: Tracing,
  blueprint: string,
  deployment: number,
): Promise<readonly string[]> {
  const { accepted } = await blueprints.read(blueprint)
  return accepted.deployment === deployment ? accepted.keys : []
}

async function remember(
  { blueprints, flows }: Tracing,
  blueprint: string,
  accepted: AcceptedDifferences,
  by: Actor,
): Promise<void> {
  const session = flows.records.database.session()
  const { name } = await getRecord(session, systemStorages.blueprints, blueprint, 'blueprint')
  await blueprints.set(blueprint, textIn(name), { accepted }, by)
}

/**
 * Those of real requests, events and schedules: no replays and tries, and none that is still under way. Traced runs first, and then
 * recorded requests, as many of each trigger.
 */
async function recordsToRepeat(
  tracing: Tracing,
  { compiled }: Compiled,
  blueprint: string,
  most: number,
): Promise<JsonObject[]> {
  const triggers = [...compiled.endpoints, ...compiled.pages].map(({ flow }) => flow.trigger)
  const found: JsonObject[] = []
  for (let offset = 0; found.length < most && offset < MOST_LOOKED_AT; offset += PAGE) {
    const page = await newestRecords(tracing, blueprint, { limit: PAGE, offset })
    found.push(...page.filter((record) => record.recorded_as === 'traced' && !isUnderWay(record)))
    if (page.length < PAGE) break
  }
  const runs = found.slice(0, most)
  const known = new Set(runs.map(guidOf))
  const requests = await tracing.requests.newest(blueprint, triggers, most - runs.length)
  return [...runs, ...requests.filter((one) => !known.has(guidOf(one)))]
}

interface Repetition {
  readonly side: Side
  /** Microseconds, by block. */
  readonly took: ReadonlyMap<string, number>
}

/** Runs the record once more on blocks, and gives how it ended. Throws CONFLICT where it cannot be repeated. */
async function repeaterOf(
  tracing: Tracing,
  findCaller: FindCaller,
  record: JsonObject,
): Promise<(blocks: Compiled) => Promise<Repetition>> {
  const detail = detailOf(record)
  const userGuid = textIn(detail.user_guid)
  const caller: Caller | undefined = userGuid === '' ? undefined : await findCaller(userGuid)
  return async ({ compiled, deployment }) => {
    const trigger = triggersOf(compiled).find(({ flow }) => flow.trigger === record.trigger)
    if (!trigger)
      return {
        side: { status: null, headers: {}, body: null, error: 'The trigger is not among the blocks.' },
        took: new Map(),
      }
    let repetition: Repetition | undefined
    await runDiscarded(tracing, {
      ...{ compiled, trigger, deployment, ...recordedStart(compiled, trigger, detail, caller) },
      ...{ user: caller?.user, replayOf: guidOf(record), recordedAs: 'replay', isUnstored: true },
      outside: recordedOutside(detail),
      ended(run) {
        const { reply, result, steps } = run.detail()
        repetition = { side: sideOf({ reply, result, error: run.summary().error }), took: timesOf(steps) }
      },
    })
    if (!repetition) throw new QuoinError('CONFLICT', 'The run did not end.')
    return repetition
  }
}
