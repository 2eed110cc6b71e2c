/**
 * Stores what each minute had, at its end: one small transaction a node. A minute in which no request came, no run ended and
 * all queues were empty writes nothing. What could not be stored is added to the next minute.
 */
import type { Clock } from '../../shared/clock.ts'
import type { Database } from '../../storage/database.ts'
import { periodicTask } from '../periodic-task.ts'
import { addFigures, type FigureSeries } from './figure-documents.ts'
import { type Figures, since, trimmed } from './figure-row.ts'

export interface FigureRecorder {
  /** Stores what came since the last call. */
  record(): Promise<void>
  /** Stores the minute that has begun. */
  close(): Promise<void>
}

export interface RecordedFigures {
  /** All that this node has counted since it started. */
  readonly traffic: () => Figures
  /** Whether this node is the one that speaks for the cluster. */
  readonly leads: () => Promise<boolean>
}

interface FigureRecorderOptions extends RecordedFigures {
  readonly database: Database
  readonly clock: Clock
  /** Name of this node. */
  readonly node: string
  readonly failed: (error: unknown) => void
}

const MINUTE = 60_000

export function openFigureRecorder(options: FigureRecorderOptions): FigureRecorder {
  const { database, clock, node, failed } = options
  let stored: Figures = []
  let begun = Math.floor(clock() / 1000)

  async function store(): Promise<void> {
    const now = options.traffic()
    const came = since(stored, now)
    const queues = (await options.leads()) ? await queueFigures(database, clock()) : []
    const input: (readonly [FigureSeries, Figures])[] = []
    if (came.length > 0) input.push([{ kind: 'traffic', node }, came])
    if (queues.length > 0) input.push([{ kind: 'queues', node: '' }, queues])
    if (input.length > 0) await addFigures({ database, clock }, begun, input)
    stored = now
    begun = Math.floor(clock() / 1000)
  }

  // A little behind the full minute, so that the next one has begun.
  const wait = () => MINUTE - (clock() % MINUTE) + 20
  const { run, close } = periodicTask(wait, () => store().catch(failed))
  return {
    record: run,
    async close() {
      await close()
      await run()
    },
  }
}

async function queueFigures({ capabilities }: Database, now: number): Promise<Figures> {
  let [waiting, running, dead, oldest] = [0, 0, 0, 0]
  for (const queue of await capabilities.queues.list()) {
    waiting += queue.waiting
    running += queue.running
    dead += queue.dead
    if (queue.oldest !== null) oldest = Math.max(oldest, Math.floor((now - queue.oldest) / 1000))
  }
  return trimmed([waiting, running, dead, oldest])
}
