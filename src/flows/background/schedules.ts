import type { Listening } from '../../blocks/block.ts'
import type { JobRetries } from '../../storage/job.ts'
import type { CompiledFlow } from '../compile/frame.ts'
import type { Flows } from '../flows.ts'
import type { RunFlow } from '../run/run-start.ts'
import type { Runs } from '../run-pipeline.ts'

/** One schedule of an active blueprint, as the scheduler needs it to plan its ticks. */
export interface Schedule {
  /** The blueprint's guid, a space and the block's guid. */
  readonly id: string
  readonly blueprint: string
  readonly block: string
  /** For people. */
  readonly title: string
  /** Of `cron`, `every` and `nextRun` there is exactly one. */
  readonly cron?: string
  /** A number and its unit: s, m, h or d. */
  readonly every?: string
  /** When it runs next, in milliseconds; undefined for never, and when it cannot be worked out, which the log says. */
  readonly nextRun?: () => Promise<number | undefined>
  /** Milliseconds. */
  readonly startAt?: number
  /** IANA. */
  readonly timeZone: string
  readonly overlap: Listening['schedule']['overlap']
  readonly catchUp: Listening['schedule']['catchUp']
  readonly retries?: JobRetries | undefined
}

/** All schedules that are active now. Cheap: worked out once for each change of what is active. */
export function liveSchedules(
  { live }: Pick<Flows, 'live'>,
  { run }: Pick<Runs, 'run'>,
): () => readonly Schedule[] {
  let version = -1
  let schedules: readonly Schedule[] = []
  return () => {
    const table = live.table()
    if (table.version === version) return schedules
    version = table.version
    schedules = [...table.blueprints].flatMap(([blueprint, { compiled, name }]) =>
      compiled.schedules.map(({ block, listening, nextRun }): Schedule => {
        const drawn = compiled.blocks.find(({ guid }) => guid === block)
        const title = [drawn?.title || drawn?.name, name].filter(Boolean).join(' · ')
        const { cron, every, startAt, timeZone, overlap, catchUp, retries } = listening
        const id = `${blueprint} ${block}`
        return {
          ...{ id, blueprint, block, title, timeZone, overlap, catchUp },
          ...(retries && { retries }),
          ...(cron !== undefined && { cron }),
          ...(every !== undefined && { every }),
          ...(nextRun && { nextRun: () => timeOf(run, nextRun, blueprint) }),
          ...(startAt && { startAt: startAt.getTime() }),
        }
      }),
    )
    return schedules
  }
}

/** A run of its own, so that what the pin depends on is bounded and logged like everything else. */
async function timeOf(run: RunFlow, flow: CompiledFlow, blueprint: string): Promise<number | undefined> {
  const { result } = await run({ flow, blueprint, input: {} })
  return typeof result === 'string' ? Date.parse(result) : undefined
}
