declare global {
  interface Performance {
    /** Node's, which its own types have only in a module. */
    readonly nodeTiming: { readonly uvMetricsInfo: { readonly events: number } }
  }
}

/** Most milliseconds that others have before the work goes on: they would have it wait for as long as they are busy. */
const OTHERS_MS = 10

/**
 * Others have their turn: the event loop goes round until nothing waits in it any more, or for 10 ms. One round is not enough for them: Node
 * accepts one connection in each, so of 32 clients that came during 10 ms of work after 10 ms of work the last waited for 32 of those.
 * A round without events takes 2 µs and upwards.
 */
export function othersTurn(): Promise<void> {
  return new Promise((resolve) => {
    const until = performance.now() + OTHERS_MS
    let events = eventsOfLoop()
    const round = () => {
      const now = eventsOfLoop()
      if (now === events || performance.now() >= until) return resolve()
      events = now
      setImmediate(round)
    }
    // The first may come before the loop has looked for events, if this is called by one.
    setImmediate(() => setImmediate(round))
  })
}

/** How many the loop has seen since it began. */
function eventsOfLoop(): number {
  return performance.nodeTiming.uvMetricsInfo.events
}
