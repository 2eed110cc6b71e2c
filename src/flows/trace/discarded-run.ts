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
import type { FlowOfTrigger } from './traced-flows.ts'
import type { Tracing } from './tracing.ts'
import type { TracedRun } from './watched-blocks.ts'

export interface DiscardedRun {
  /** With the probe of traces. */
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
  const { compiled, trigger, deployment, given, request, user, replayOf, recordedAs, outside, ended } = asked
  const { environment: shared } = tracing
  const { discard, ...nothingStays } = discardingEnvironment(shared, DEADLINE)
  try {
    return await tracing.runs.begin({
      environment: {
        ...shared,
        ...nothingStays,
        findFunction: (name, owner) => compiled.functions.get(name) ?? shared.findFunction(name, owner),
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
