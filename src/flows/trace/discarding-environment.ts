/**
 * What a run leaves nothing with: its sessions never commit, and with them go the jobs, events and history that their
 * writes would cause. It has a cache of its own, writes no log and publishes nothing.
 */

import type { RunRequest } from '../../blocks/run-request.ts'
import type { RunSummary } from '../../shared/api/blueprints/runs.ts'
import type { JsonObject } from '../../shared/json.ts'
import { TransparentSession } from '../../storage/wrapped-session.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import { runCache } from '../run/read-set.ts'
import type { RunEnvironment } from '../run/run-environment.ts'
import type { RunEnd } from '../run/run-start.ts'
import type { RunUnderWay } from './run-under-way.ts'
import type { TracedRun } from './step-recorder.ts'
import type { FlowOfTrigger } from './traced-flows.ts'
import type { Tracing } from './tracing.ts'

// A session whose writes only itself can see: its commits do nothing, and the replay that opened it rolls it back at the
// end. Jobs, events and history are in the same transaction and are undone with it.
// Once it has written it holds the same locks as any other session with writes (`database.ts`): on SQLite the one writer.

class DiscardingSession extends TransparentSession {
  override commit(): undefined {
    return undefined
  }
}

/** In place of the same parts of an environment. */
export interface DiscardingEnvironment
  extends Pick<RunEnvironment, 'database' | 'cache' | 'limits' | 'log' | 'publish'> {
  /** Undoes what was written. To be called whatever happens: on SQLite a session that has written holds the one writer. */
  discard(): Promise<void>
}

/** `deadline`: milliseconds at most, for the same reason. */
export function discardingEnvironment(
  { database, clock, limits }: Pick<RunEnvironment, 'database' | 'clock' | 'limits'>,
  deadline: number,
): DiscardingEnvironment {
  const sessions: DiscardingSession[] = []
  return {
    database: {
      session(origin) {
        const session = new DiscardingSession(database.session(origin))
        sessions.push(session)
        return session
      },
    },
    cache: runCache(clock),
    limits: { ...limits, deadline: Math.min(deadline, limits.deadline) },
    log: () => undefined,
    publish: () => undefined,
    async discard() {
      for (const session of sessions) await session.transaction.rollback()
    },
  }
}

// A traced run of which nothing stays. Blocks that touch the world outside are not executed: they give what `outside` says.
// On SQLite it has the one writer while it runs, so it has four seconds.

export interface DiscardedRun {
  readonly compiled: CompiledBlueprint
  readonly trigger: FlowOfTrigger
  readonly deployment: number
  readonly input: Readonly<Record<string, unknown>>
  readonly request?: RunRequest
  /** For whom a run without a request is. */
  readonly user?: JsonObject | undefined
  readonly replayOf: string | null
  readonly recordedAs: RunSummary['recorded_as']
  readonly outside: NonNullable<TracedRun['replayed']>
  readonly ended?: (run: RunUnderWay) => void
  readonly isUnstored?: boolean
}

const DEADLINE = 4_000

export async function runDiscarded(tracing: Tracing, asked: DiscardedRun): Promise<RunEnd> {
  const { compiled, deployment, input, request, user, replayOf, recordedAs, outside, ended } = asked
  const { isUnstored = false } = asked
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
      start: {
        flow: trigger.flow,
        blueprint: compiled.guid,
        input,
        ...(request ? { request } : { user }),
      },
      about: { blueprint: compiled.guid, trigger, blocks: compiled.blocks, deployment, replayOf, recordedAs },
      replayed: outside,
      ...(ended && { ended }),
      isUnstored,
    })
  } finally {
    await discard()
  }
}
