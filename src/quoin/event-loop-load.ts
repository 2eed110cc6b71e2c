import { performance } from 'node:perf_hooks'

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
