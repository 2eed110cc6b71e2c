import { setImmediate as nextTurn } from 'node:timers/promises'

/** Work that can be left off between two steps. */
export type Steps<Result> = Generator<undefined, Result, undefined>

/** Milliseconds of work in one turn of the event loop; a step more may come on top. */
const TURN_MS = 10

/** Does all steps before anything else happens. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Does a few steps in one turn of the event loop, and lets other work run between the turns. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    const began = performance.now()
    do {
      const { done, value } = steps.next()
      if (done) return value
    } while (performance.now() - began < TURN_MS)
    await nextTurn()
  }
}
