/** Work of a node that comes round again: one look after the other, and a timer from the end of one to the next. */
export interface PeriodicTask<Seen> {
  /** One more look, behind the one under way. */
  run(): Promise<Seen>
  /** Whether a look is under way. */
  isRunning(): boolean
  /** No timer begins a further look; resolves when the one under way has ended. */
  close(): Promise<void>
}

/** `wait` says for how many milliseconds, at the end of each look. `look` never rejects, and may end early once it is closed. */
export function periodicTask<Seen>(
  wait: () => number,
  look: (isClosed: () => boolean) => Promise<Seen>,
): PeriodicTask<Seen> {
  let closed = false
  let last: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout
  let looks = 0

  function run(): Promise<Seen> {
    looks += 1
    const seen = last
      .then(() => look(() => closed))
      .finally(() => {
        looks -= 1
      })
    last = seen
    return seen
  }

  function plan(): void {
    timer = setTimeout(() => {
      void run().then(() => {
        if (!closed) plan()
      })
    }, wait()).unref()
  }

  plan()
  return {
    run,
    isRunning: () => looks > 0,
    async close() {
      closed = true
      clearTimeout(timer)
      await last
    },
  }
}
