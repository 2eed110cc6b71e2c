/**
 * Sends the replies of one turn of the event loop together, at its end.
 *
 * A reply that is written wakes its client's process, and to wake a processor that sleeps costs much on a virtual machine: sending
 * took 20 to 40 µs in profiles, more than all blocks of a short flow. The turn reads the requests of many connections: answered one by one, each
 * reply wakes its client again; written one after the other, the first one does, and the others find it awake.
 * `src/http/DESIGN.md` has what it gave.
 */
import type { Timers } from '../../shared/clock.ts'

export interface TurnReplies {
  /** Before a request is worked on: sends what has waited for as long as a reply may. `now`: of the same clock. */
  begin(now: number): void
  /** Calls once: at the end of the turn, or sooner where many wait. */
  add(send: () => void): void
}

/** A reply waits for the run that goes on and no further one when this has passed. Short flows take 20 to 200 µs. */
const MOST_MS = 1
/** At 16 KiB each, 1 MiB. */
const MOST = 64

/** `now`: in milliseconds. */
export function turnReplies(timers: Pick<Timers, 'soon'>, now: () => number): TurnReplies {
  let waiting: (() => void)[] = []
  let since = 0

  function sendAll(): void {
    const sends = waiting
    waiting = []
    for (const send of sends) send()
  }

  return {
    begin(time) {
      if (waiting.length > 0 && time - since > MOST_MS) sendAll()
    },
    add(send) {
      const count = waiting.push(send)
      if (count === 1) {
        since = now()
        timers.soon(sendAll)
      } else if (count >= MOST) sendAll()
    },
  }
}
