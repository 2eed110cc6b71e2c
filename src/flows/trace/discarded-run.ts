/**
 * A traced run of which nothing stays. Blocks that touch the world outside are not executed: they give what `outside` says.
 * On SQLite it has the one writer while it runs, so it has four seconds.
 */
import type { RunRequest } from '../../blocks/run-request.ts'
import type { RunSummary } from '../../shared/api/blueprints/runs.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import type { RunEnd } from '../run/run-start.ts'
import { discardingEnvironment } from './discarding-environment.ts'
import type { RunUnderWay } from './run-under-way.ts'
import type { TracedRun } from './step-recorder.ts'
import type { FlowOfTrigger } from './traced-flows.ts'
import type { Tracing } from './tracing.ts'

export interface DiscardedRun {
  readonly compiled: CompiledBlueprint
  readonly trigger: FlowOfTrigger
  readonly deployment: number
  readonly given: Readonly<Record<string, unknown>>
  readonly request?: RunRequest
  /** For whom a run without a request is. */
  readonly user?: JsonObject | undefined
  readonly replayOf: string | null
  readonly recordedAs: RunSummary['recorded_as']
  readonly outside: NonNullable<TracedRun['replayed']>
  readonly ended?: (run: RunUnderWay) => void
}

const DEADLINE = 4_000

export async function runDiscarded(tracing: Tracing, asked: DiscardedRun): Promise<RunEnd> {
  const { compiled, deployment, given, request, user, replayOf, recordedAs, outside, ended } = asked
  const { environment: shared, copies } = tracing
  const trigger = copies.of(compiled, asked.trigger.flow)
  // Without its copy it would touch the world outside.
  if (!trigger) throw new TypeError(`${asked.trigger.label} is no trigger of the blueprint.`)
  const { discard, ...nothingStays } = discardingEnvironment(shared, DEADLINE)
  try {
    return await tracing.runs.begin({
      environment: {
        ...shared,
        ...nothingStays,
        findFunction(name, owner) {
          const own = compiled.functions.get(name)
          return own ? copies.functionOf(own, copies.of, compiled) : shared.findFunction(name, owner)
        },
      },
      start: { flow: trigger.flow, blueprint: compiled.guid, given, ...(request ? { request } : { user }) },
      about: { blueprint: compiled.guid, trigger, blocks: compiled.blocks, deployment, replayOf, recordedAs },
      replayed: outside,
      ...(ended && { ended }),
    })
  } finally {
    await discard()
  }
}
