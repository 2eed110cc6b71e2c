/** Milliseconds since 1970. An argument everywhere, so that schedules, expiry and runs can be tested without waiting. */
export type Clock = () => number

/** Whether so many milliseconds are over. A time that is still to come was noted before the clock was set back: waiting for it could take hours. */
export function hasPassed(ms: number, since: number, now: number): boolean {
  return now - since >= ms || now < since
}

/** Calls later. An argument, as the clock is, so that a simulation decides in which order things happen. */
export interface Timers {
  /** Calls once, after so many milliseconds. */
  after(ms: number, call: () => void): Timer
  /** Calls again and again. */
  every(ms: number, call: () => void): Timer
  /** Calls at the end of this turn of the event loop. */
  soon(call: () => void): void
}

export interface Timer {
  end(): void
  /** Counts its milliseconds from now on. */
  refresh(): void
  /** Keeps the process running until it has called, as it does at first. */
  ref(): void
  unref(): void
}

export const processTimers: Timers = {
  after: (ms, call) => timerOf(setTimeout(call, ms)),
  every: (ms, call) => timerOf(setInterval(call, ms)),
  soon: (call) => void setImmediate(call),
}

function timerOf(timeout: NodeJS.Timeout): Timer {
  return {
    end: () => clearTimeout(timeout),
    refresh: () => void timeout.refresh(),
    ref: () => void timeout.ref(),
    unref: () => void timeout.unref(),
  }
}
