/**
 * Traces of runs, for the builder of the flow: the inputs and outputs of each block.
 *
 * - `traced-blueprints` says which blueprints are traced, on all nodes.
 * - `traced-flows` compiles their flows a second time, with a probe; only runs that are recorded use that copy: traced ones (`step-recorder`), and those that are sampled for times (`samples/`).
 * - `traced`, a stage of the pipeline of runs, has `traced-runs` run the copy where a run is to be traced, and passes every
 *   other run straight on.
 * - `run-records` stores the traces, `run-brake` pauses runs at breakpoints, `replay` runs a recorded request again.
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { RunSummary } from '../../shared/api/blueprints/runs.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import type { Database } from '../../storage/database.ts'
import type { Flows } from '../flows.ts'
import type { RunEnvironment } from '../run/run-environment.ts'
import type { RunEnd, RunFlow, RunStart } from '../run/run-start.ts'
import type { Steering } from './breakpoints.ts'
import { failedRuns } from './failed-runs.ts'
import { openRunEvents, type RunEvents } from './run-events.ts'
import { openRunRecords, type RunRecords } from './run-records.ts'
import { openTracedBlueprints, type TracedBlueprints } from './traced-blueprints.ts'
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

export async function openTracing(flows: Flows): Promise<Tracing> {
  const { live, newGuid } = flows
  const { clock } = flows.environment
  const { database } = flows.records
  const node = database.capabilities.cluster?.self ?? newGuid()
  const blueprints = await openTracedBlueprints(database, clock)
  const news = openRunEvents(database, node)
  const { keepLast } = blueprints
  const records = await openRunRecords({ database, node, keepLast, stored: news.stored })
  const copies = tracedFlows(live)
  const runs = tracedRuns({ clock, node, blueprints, recorders: copies.recorders, records, news })
  const steering = openRunSteering(database, news, runs.steer)
  const unwatch = blueprints.onChange(runs.freeUntraced)

  const environment = tracedEnvironment(flows.environment, copies)

  const traced = (next: RunFlow): RunFlow => {
    return (start) => {
      if (blueprints.none && start.traced === undefined) return next(start)
      return runTraced(start) ?? next(start)
    }
  }

  /** Undefined for a run that is not to be traced, or cannot be now. */
  function runTraced(start: RunStart): MaybePromise<RunEnd> | undefined {
    const { blueprint } = start
    if (start.traced === undefined && !blueprints.of(blueprint)) return undefined
    const found = live.table().blueprints.get(blueprint)
    const trigger = found && !runs.isFull ? copies.of(found.compiled, start.flow) : undefined
    if (!found || !trigger) return undefined
    const recordedAs: RunSummary['recorded_as'] = start.byHand ? 'by_hand' : 'traced'
    const { compiled, deployment } = found
    const about = { blueprint, trigger, blocks: compiled.blocks, deployment, replayOf: null, recordedAs }
    return runs.begin({ environment, start, about })
  }

  return {
    ...{
      flows,
      traced,
      failed: failedRuns({ flows, node, records }),
      blueprints,
      runs,
      records,
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
      news.close()
    },
  }
}
