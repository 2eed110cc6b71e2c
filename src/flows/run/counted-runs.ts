/**
 * Counts runs by blueprint and by how they ended, and knows which are under way: a run may go on behind its reply, when
 * its request is long gone, and a node that stops waits for it.
 */
import { isPromise } from '../../shared/maybe-promise.ts'
import type { RunEnd, RunFlow, RunStart } from './run-start.ts'

/** `done`: to the end; `refused`: the requester's fault (4xx); `failed`: a fault of the flow or ours; `stopped`: 503. */
export type Outcome = 'done' | 'refused' | 'failed' | 'stopped'

export interface CountedRuns {
  /** The same runs, counted. */
  counted(run: RunFlow): RunFlow
  /** Ended runs by the guid of their blueprint. */
  readonly ends: ReadonlyMap<string, Readonly<Record<Outcome, number>>>
  /** Requests whose run has failed behind its reply, by the guid of their trigger. */
  readonly behindReply: ReadonlyMap<string, number>
  /** How many runs wait for something at this moment. */
  underWay(): number
  /** Resolves when no run is under way, or after so many milliseconds. Runs that start meanwhile count. */
  settled(milliseconds: number): Promise<void>
}

/** `failed` is told of runs that left values behind or failed behind their reply; nothing else of a run is looked at. */
export function countedRuns(failed?: (start: RunStart, end: RunEnd) => void): CountedRuns {
  const ends = new Map<string, Record<Outcome, number>>()
  const behindReply = new Map<string, number>()
  let underWay = 0
  const waiting = new Set<() => void>()

  function count(start: RunStart, end: RunEnd): RunEnd {
    const { blueprint } = start
    if (end.left || end.happened) failed?.(start, end)
    let counts = ends.get(blueprint)
    if (!counts) {
      counts = { done: 0, refused: 0, failed: 0, stopped: 0 }
      ends.set(blueprint, counts)
    }
    counts[outcomeOf(end)] += 1
    if (end.happened && start.request)
      behindReply.set(start.flow.trigger, (behindReply.get(start.flow.trigger) ?? 0) + 1)
    return end
  }

  return {
    counted: (run) => (start) => {
      const end = run(start)
      if (!isPromise(end)) return count(start, end)
      underWay += 1
      return end.then((ended) => {
        underWay -= 1
        if (underWay === 0) for (const resolve of waiting) resolve()
        return count(start, ended)
      })
    },
    ends,
    behindReply,
    underWay: () => underWay,
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

function outcomeOf({ error, happened }: RunEnd): Outcome {
  if (!error) return 'done'
  // Its client has another reply: no client was refused.
  if (happened && error.status < 500) return 'failed'
  if (error.status < 500) return 'refused'
  return error.code === 'INTERNAL' || error.code === 'FLOW_FAILED' ? 'failed' : 'stopped'
}
