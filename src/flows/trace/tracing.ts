/**
 * Traces of runs, for the builder of the flow: the inputs and outputs of each block.
 *
 * - `TracedBlueprints` says which blueprints are traced, on all nodes.
 * - `traced-flows` compiles their flows a second time, with a probe; only runs that are recorded use that copy: traced ones (`step-recorder`), and those that are sampled for times (`samples/`).
 * - `traced`, a stage of the pipeline of runs, has `traced-runs` run the copy where a run is to be traced, and passes every
 *   other run straight on.
 * - `run-records` stores the traces, `run-brake` pauses runs at breakpoints, `replay` runs a recorded request again.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Actor } from '../../records/records.ts'
import type { RunSummary } from '../../shared/api/blueprints/runs.ts'
import type { Clock } from '../../shared/clock.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll } from '../../shared/query.ts'
import { type Database, documentOf } from '../../storage/database.ts'
import { guidOf, numberIn, textsIn } from '../../storage/document-fields.ts'
import { findAll } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import type { Flows } from '../flows.ts'
import type { RunEnvironment } from '../run/run-environment.ts'
import type { RunEnd, RunFlow, RunStart } from '../run/run-start.ts'
import type { Steering } from './breakpoints.ts'
import { failedRuns } from './failed-runs.ts'
import { openRunEvents, type RunEvents } from './run-events.ts'
import { openRunRecords, type RunRecords } from './run-records.ts'
import { openSampledRequests, type SampledRequests } from './sampled-requests.ts'
import { type TracedFlows, tracedFlows } from './traced-flows.ts'
import { type TracedRuns, tracedRuns } from './traced-runs.ts'

// Steers paused runs from any node: they stand still in the memory of theirs.

interface RunSteering {
  /** Resolves when the run has come to a pause again or has ended, or after a second. */
  steer(run: string, steering: Steering): Promise<void>
  close(): void
}

/** What nodes tell each other under; no storage has such a name. */
const TOPIC = 'paused runs'
const PATIENCE = 1_000

function openRunSteering(
  database: Database,
  news: RunEvents,
  steerHere: (run: string, steering: Steering) => boolean,
): RunSteering {
  const unwatch = database.capabilities.changes.watch(TOPIC, (messages = []) => {
    for (const message of messages) {
      const [run = '', steering = ''] = message.split(' ')
      if (steering === 'step' || steering === 'resume' || steering === 'stop') steerHere(run, steering)
    }
  })
  return {
    async steer(run, steering) {
      const { promise: changed, resolve } = Promise.withResolvers<void>()
      const unlisten = news.listen(({ guid }) => guid === run && resolve())
      const input = new AbortController()
      try {
        if (!steerHere(run, steering))
          await database.capabilities.cluster?.notify(TOPIC, [`${run} ${steering}`])
        await Promise.race([changed, pause(PATIENCE, undefined, { signal: input.signal })])
      } finally {
        input.abort()
        unlisten()
      }
    },
    close: unwatch,
  }
}

export interface Tracing {
  /** What is traced. */
  readonly flows: Flows
  /** The stage of the pipeline: the same runs, traced where that is asked for. */
  traced(next: RunFlow): RunFlow
  /** Keeps a run that failed untraced, with what its frame still held. */
  readonly failed: (start: RunStart, end: RunEnd) => void
  readonly blueprints: TracedBlueprints
  readonly runs: TracedRuns
  readonly records: RunRecords
  /** Recorded to be repeated. */
  readonly requests: SampledRequests
  readonly news: RunEvents
  /** The flows that are traced. */
  readonly copies: TracedFlows
  /** What traced runs share. */
  readonly environment: RunEnvironment
  /** Steers a run that is paused on any node. */
  readonly steer: RunSteering['steer']
  close(): Promise<void>
}

/** A function that a traced run calls is traced with it, whatever blueprint it is of. */
function tracedEnvironment(untraced: RunEnvironment, copies: TracedFlows): RunEnvironment {
  return {
    ...untraced,
    findFunction(name, blueprint) {
      const found = untraced.findFunction(name, blueprint)
      return found && copies.functionOf(found, copies.of)
    },
  }
}

/** The stage of the pipeline. */
function tracedStage({
  flows: { live },
  blueprints,
  runs,
  requests,
  copies,
  environment,
}: Pick<
  Tracing,
  'flows' | 'blueprints' | 'runs' | 'requests' | 'copies' | 'environment'
>): Tracing['traced'] {
  /** Undefined for a run that is not to be traced, or cannot be now. */
  function runTraced(start: RunStart): MaybePromise<RunEnd> | undefined {
    const { blueprint } = start
    if (start.traced === undefined && !blueprints.of(blueprint)) return runRecorded(start)
    const found = live.table().blueprints.get(blueprint)
    const trigger = found && !runs.isFull ? copies.of(found.compiled, start.flow) : undefined
    if (!found || !trigger) return undefined
    const recordedAs: RunSummary['recorded_as'] = start.byHand ? 'by_hand' : 'traced'
    const { compiled, deployment } = found
    const about = { blueprint, trigger, blocks: compiled.blocks, deployment, replayOf: null, recordedAs }
    return runs.begin({ environment, start, about })
  }

  /** Undefined for nearly every request. */
  function runRecorded(start: RunStart): MaybePromise<RunEnd> | undefined {
    const { blueprint } = start
    const oneIn = blueprints.recordsOneIn(blueprint)
    if (oneIn === 0) return undefined
    const found = live.table().blueprints.get(blueprint)
    const copy = () => (found && !runs.isFull ? copies.soon(found.compiled, start.flow) : undefined)
    const trigger = requests.isDue(start, oneIn, () => copy() !== undefined) ? copy() : undefined
    if (!found || !trigger) return undefined
    const { compiled, deployment } = found
    const about = { blueprint, trigger, blocks: compiled.blocks, deployment, replayOf: null }
    return runs.begin({
      ...{ environment, start, about: { ...about, recordedAs: 'sampled' }, isUnstored: true },
      ended: (run, end) => void (end.again || requests.put(run, compiled)),
    })
  }

  return (next) => (start) => {
    if (blueprints.none && start.traced === undefined) return next(start)
    return runTraced(start) ?? next(start)
  }
}

export async function openTracing(flows: Flows): Promise<Tracing> {
  const { live, newGuid } = flows
  const { clock } = flows.environment
  const { database } = flows.records
  const node = database.capabilities.cluster?.self ?? newGuid()
  const blueprints = await openTracedBlueprints(database, clock)
  const news = openRunEvents(database, node)
  const { keepLast } = blueprints
  const records = await openRunRecords({ database, node, keepLast, stored: news.stored })
  const requests = await openSampledRequests(flows)
  const copies = tracedFlows(live)
  const runs = tracedRuns({ clock, node, blueprints, recorders: copies.recorders, records, news })
  const steering = openRunSteering(database, news, runs.steer)
  const unwatch = blueprints.onChange(runs.freeUntraced)

  const environment = tracedEnvironment(flows.environment, copies)

  const traced = tracedStage({ flows, blueprints, runs, requests, copies, environment })

  return {
    ...{
      flows,
      traced,
      failed: failedRuns({ flows, node, records }),
      blueprints,
      runs,
      records,
      requests,
      news,
      copies,
      environment,
    },
    steer: steering.steer,
    async close() {
      runs.release()
      unwatch()
      steering.close()
      blueprints.close()
      await records.close()
      await requests.close()
      news.close()
    },
  }
}

// Which blueprints are traced, and where their runs pause: documents of `_tracing` under the blueprint's own guid. Each
// node keeps them in memory and watches the storage: the reply to a request that turns tracing on or off is sent when all
// nodes have applied it.

export interface TracingRules {
  readonly on: boolean
  /** When it turns itself off, in milliseconds since 1970. */
  readonly until: number
  /** How many runs are kept. */
  readonly keepLast: number
  /** Guids of flow blocks. */
  readonly breakpoints: readonly string[]
  /** One in so many requests is recorded, whether runs are traced or not; 0 = none. */
  readonly recordOneIn: number
  /** Differences between the deployed blocks and a draft that are wanted, until another version is deployed. */
  readonly accepted: AcceptedDifferences
}

export interface AcceptedDifferences {
  /** Of the version that was deployed when they were accepted. */
  readonly deployment: number
  readonly keys: readonly string[]
}

export interface TracedBlueprints {
  /** Whether nothing is traced or recorded at this moment: the one question that every run costs. */
  readonly none: boolean
  /** The rules of a blueprint that is traced now. */
  of(blueprint: string): TracingRules | undefined
  /** 0 = no request is recorded. */
  recordsOneIn(blueprint: string): number
  /** How many of its runs are kept, also while it is not traced. */
  keepLast(blueprint: string): number
  /** Whether runs pause before this block, in whatever blueprint it is. */
  pausesAt(block: string): boolean
  /** What was last asked for, also if it is over. */
  read(blueprint: string): Promise<TracingRules>
  /** The other rules stay as they are. */
  set(blueprint: string, name: string, rules: Partial<TracingRules>, by: Actor): Promise<void>
  /** Told when rules have changed, on this node or another one. Gives a function that ends it. */
  onChange(listener: () => void): () => void
  close(): void
}

export const KEEP_LAST = 50
/** More blueprints than are ever traced at once; the bound limits what one request loads. */
const MOST = 1_000

/** By blueprint: all rules, those that are on, and how many requests are recorded. */
function rulesInMemory(clock: Clock) {
  const known = new Map<string, TracingRules>()
  const traced = new Map<string, TracingRules>()
  const recorded = new Map<string, number>()
  return {
    ...{ known, traced, recorded },
    keep(blueprint: string, rules: TracingRules) {
      known.set(blueprint, rules)
      if (rules.on && rules.until > clock()) traced.set(blueprint, rules)
      else traced.delete(blueprint)
      if (rules.recordOneIn > 0) recorded.set(blueprint, rules.recordOneIn)
      else recorded.delete(blueprint)
    },
    clear() {
      for (const map of [known, traced, recorded]) map.clear()
    },
  }
}

async function openTracedBlueprints(database: Database, clock: Clock): Promise<TracedBlueprints> {
  await database.ensure(systemStorages.tracing)
  const { known, traced, recorded, keep, clear } = rulesInMemory(clock)
  const listeners = new Set<() => void>()

  async function readAgain(guids: readonly string[] | undefined): Promise<void> {
    const session = database.session()
    if (guids) {
      for (const guid of guids) {
        const stored = await session.get(systemStorages.tracing, guid)
        // They are never deleted, only turned off.
        if (stored) keep(guid, rulesIn(documentOf(stored)))
      }
    } else {
      const all = await findAll(session, systemStorages.tracing, matchAll, MOST)
      clear()
      for (const document of all) keep(guidOf(document), rulesIn(document))
    }
    for (const listener of listeners) listener()
  }

  /** The rules, unless their time is over: then they are forgotten, and runs pass by again without a look. */
  function of(blueprint: string): TracingRules | undefined {
    const rules = traced.get(blueprint)
    if (rules === undefined || rules.until > clock()) return rules
    traced.delete(blueprint)
    return undefined
  }

  const unwatch = database.capabilities.changes.watch(systemStorages.tracing, readAgain)
  await readAgain(undefined)

  return {
    get none() {
      return traced.size === 0 && recorded.size === 0
    },
    of,
    recordsOneIn: (blueprint) => recorded.get(blueprint) ?? 0,
    keepLast: (blueprint) => known.get(blueprint)?.keepLast ?? KEEP_LAST,
    pausesAt: (block) => [...traced.keys()].some((blueprint) => of(blueprint)?.breakpoints.includes(block)),
    read: (blueprint) => storedRules(database, blueprint),
    async set(blueprint, name, rules, by) {
      await storeRules(database, { blueprint, name }, rules, by)
      await readAgain([blueprint])
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: unwatch,
  }
}

async function storedRules(database: Database, blueprint: string): Promise<TracingRules> {
  const stored = await database.session().get(systemStorages.tracing, blueprint)
  return rulesIn(stored ? documentOf(stored) : {})
}

/** The other rules stay. */
async function storeRules(
  database: Database,
  { blueprint, name }: { readonly blueprint: string; readonly name: string },
  { on, until, keepLast, breakpoints, recordOneIn, accepted }: Partial<TracingRules>,
  by: Actor,
): Promise<void> {
  const fields = {
    name,
    on,
    until,
    keep_last: keepLast,
    breakpoints: breakpoints && [...breakpoints],
    record_one_in: recordOneIn,
    accepted: accepted && { deployment: accepted.deployment, keys: [...accepted.keys] },
    modified_by: { ...by },
  }
  await transact(
    database,
    async (session) => {
      const update = await session.update(systemStorages.tracing, blueprint, setFields(fields))
      if (update.outcome !== 'written')
        await session.create(systemStorages.tracing, setFields(fields), { guid: blueprint })
    },
    { user: by },
  )
}

function rulesIn(document: JsonObject): TracingRules {
  const { on, until, keep_last: keepLast, breakpoints, accepted } = document
  const { deployment, keys } = isJsonObject(accepted) ? accepted : {}
  return {
    on: on === true,
    until: numberIn(until),
    keepLast: numberIn(keepLast) || KEEP_LAST,
    breakpoints: textsIn(breakpoints),
    recordOneIn: numberIn(document.record_one_in),
    accepted: { deployment: numberIn(deployment), keys: textsIn(keys) },
  }
}
