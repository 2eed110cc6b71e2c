/**
 * Sees from a thread of its own whether the event loop still turns: nothing in a stuck thread can. See
 * `quoin/watchdog-thread.ts`. The thread takes 7 MB of memory, and this one a timer a second.
 */
import { url as inspectorUrl } from 'node:inspector'
import { performance } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import { type RunningFlow, TURNS_CELL } from '../flows/run/running-flow.ts'
import type { WatchdogTask } from '../flows/watchdog/stuck-flows.ts'

export interface WatchdogOptions {
  readonly running: RunningFlow
  /** 0: none. */
  readonly seconds: number
  readonly directory: string
  /** The thread has ended by itself: nothing watches any more. */
  readonly lost: (error: unknown) => void
}

/**
 * Gives what ends it. For when everything is open: a migration may hold the loop for as long as it likes. The thread begins with the
 * first run of a flow, which it watches already: it needs nothing of a stuck loop to begin.
 */
export function startWatchdog(options: WatchdogOptions): () => void {
  // At a breakpoint of a debugger nothing turns either.
  if (options.seconds === 0 || inspectorUrl() !== undefined) return () => undefined
  const { running } = options
  let watching: ReturnType<typeof watch> | undefined
  running.follow((number, name) => {
    watching ??= watch(options)
    watching.thread.postMessage({ number, name })
  })
  return () => {
    running.follow(() => undefined)
    watching?.end()
  }
}

function watch({ running: { cells }, seconds, directory, lost }: WatchdogOptions) {
  const timer = setInterval(() => Atomics.add(cells, TURNS_CELL, 1), Math.min(1, seconds / 4) * 1000)
  const task: WatchdogTask = { cells, seconds, directory }
  const thread = new Worker(new URL('./watchdog-thread.ts', import.meta.url), {
    workerData: task,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  })
  timer.unref()
  thread.unref()
  thread.once('error', lost)
  const end = () => {
    clearInterval(timer)
    void thread.terminate()
  }
  return { thread, end }
}

/** Gives, each time, in which share of the time since the last call the event loop was busy: 0 to 1, two digits. */
export function eventLoopLoad(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return Math.round(utilization * 100) / 100
  }
}
