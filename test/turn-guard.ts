/**
 * How long the event loop of this process is kept busy at a stretch: in processor time of its thread between two turns. Not
 * by the wall clock: on a busy machine a process stands still for longer than it works.
 *
 * It looks every 2 ms, so a stretch may be told up to that much too long, and what the processor's own accounting leaves out
 * (4 ms on some machines) too short.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** The largest that a request may take. */
export const LONGEST_TURN_MS = 50

const LOOK_MS = 2

export interface TurnGuard {
  /** Of all stretches since the last time it was asked, the longest, in milliseconds of processor time. */
  longest(): Promise<number>
  stop(): void
  /** The process may end while it is guarded. */
  unref(): void
}

/** `reported`: of each stretch, in milliseconds. */
export function guardTurns(reported: (milliseconds: number) => void = () => undefined): TurnGuard {
  let longest = 0
  let last = process.threadCpuUsage()
  const look = (): void => {
    const now = process.threadCpuUsage()
    const stretch = (now.user + now.system - last.user - last.system) / 1_000
    longest = Math.max(longest, stretch)
    last = now
    reported(stretch)
  }
  const timer = setInterval(look, LOOK_MS)
  return {
    async longest() {
      // The turn that is under way belongs to what was done before.
      await nextTurn()
      look()
      const found = longest
      longest = 0
      return found
    },
    stop: () => clearInterval(timer),
    unref: () => void timer.unref(),
  }
}
