/**
 * After a start the process holds more memory than an idle server needs: 25 of 140 MB are free space that V8 keeps for later
 * work. One garbage collection, of 25 ms, frees it, and half a minute later V8 returns it to the machine by itself, in parts of
 * 8 ms; without the first one it never does. A collection that returns all of it at once takes 45 ms, on a busy machine 67.
 */
import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { eventLoopLoad } from '../workers/event-loop-load.ts'

const CHECK_MS = 5_000
/** Of the time since the last look. A busy server uses what it has room for. */
const MOST_AT_REST = 0.05

export interface Settling {
  /** The part of the time since it was last asked in which this process did something, 0 to 1. */
  readonly load: () => number
  readonly collect: () => void
}

/** Collects once, when the process has had next to nothing to do for five seconds. Gives a function that calls it off. */
export function settleAfterStart(
  { load, collect }: Settling = { load: eventLoopLoad(), collect: giveBack },
): () => void {
  const timer = setInterval(() => {
    if (load() > MOST_AT_REST) return
    clearInterval(timer)
    collect()
  }, CHECK_MS).unref()
  return () => clearInterval(timer)
}

export function giveBack(): void {
  // What was compiled is kept for the next start here and not only at the end, which a kill would cut off.
  flushCompileCache()
  // The flag gives new contexts a function to collect with; it is out of reach again at once.
  setFlagsFromString('--expose-gc')
  const collect: NodeJS.GCFunction = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync', flavor: 'regular' })
}
