/**
 * Counts runs by blueprint and by how they ended, and knows which are under way: a run may go on behind its reply, when
 * its request is long gone, and whoever stops a node waits for it.
 */
import type { Flows } from '../../flows/flows.ts'
import type { RunEnd } from '../../flows/run/run.ts'
import { isPromise } from '../../shared/maybe-promise.ts'
import type { Metric } from './prometheus-text.ts'

export interface MeasuredRuns {
  /** The engine, counted. Whatever starts runs is given this one. */
  readonly flows: Flows
  metrics(): Metric[]
  /** Resolves when no run is under way, or after so many milliseconds. Runs that start meanwhile count. */
  settled(milliseconds: number): Promise<void>
}

/** `done`: to the end; `refused`: the requester's fault (4xx); `failed`: a fault of the flow or ours; `stopped`: 503. */
type Outcome = 'done' | 'refused' | 'failed' | 'stopped'

export function measureRuns(flows: Flows): MeasuredRuns {
  const runs = new Map<string, Record<Outcome, number>>()
  let underWay = 0
  const waiting = new Set<() => void>()

  function count(blueprint: string, end: RunEnd): RunEnd {
    let counts = runs.get(blueprint)
    if (!counts) {
      counts = { done: 0, refused: 0, failed: 0, stopped: 0 }
      runs.set(blueprint, counts)
    }
    counts[outcomeOf(end)] += 1
    return end
  }

  return {
    flows: {
      ...flows,
      run(start) {
        const end = flows.run(start)
        if (!isPromise(end)) return count(start.blueprint, end)
        underWay += 1
        return end.then((ended) => {
          underWay -= 1
          if (underWay === 0) for (const resolve of waiting) resolve()
          return count(start.blueprint, ended)
        })
      },
    },
    metrics() {
      const { blueprints } = flows.live.table()
      return [
        {
          name: 'quoin_runs_total',
          help: 'Ended runs by blueprint and outcome: done, refused (4xx), failed (500), stopped (503).',
          type: 'counter',
          samples: [...runs].flatMap(([blueprint, counts]) =>
            Object.entries(counts).map(([outcome, value]) => ({
              labels: { blueprint, name: blueprints.get(blueprint)?.name ?? '', outcome },
              value,
            })),
          ),
        },
        {
          name: 'quoin_runs_under_way',
          help: 'Runs that are waiting for something at this moment.',
          type: 'gauge',
          samples: [{ value: underWay }],
        },
      ]
    },
    settled(milliseconds) {
      if (underWay === 0) return Promise.resolve()
      return new Promise((resolve) => {
        const settle = () => {
          clearTimeout(late)
          waiting.delete(settle)
          resolve()
        }
        const late = setTimeout(settle, milliseconds)
        waiting.add(settle)
      })
    },
  }
}

function outcomeOf({ error }: RunEnd): Outcome {
  if (!error) return 'done'
  if (error.status < 500) return 'refused'
  return error.code === 'INTERNAL' ? 'failed' : 'stopped'
}
