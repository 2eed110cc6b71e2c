import { QuoinError } from './errors.ts'
import type { MaybePromise } from './maybe-promise.ts'

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
export function yieldToEventLoop(): Promise<void> {
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

/** Work that can be left off between two steps. */
export type Steps<Result> = Generator<undefined, Result, undefined>

/** Called between two steps: gives a promise when the turn has lasted long enough, and other work runs until it resolves. */
export type Pause = () => MaybePromise<void>

/** Milliseconds of work in one turn of the event loop; a step more may come on top. */
const TURN_MS = 10

/** `within`: milliseconds from now after which there are no more pauses, for work that must not be open for too long. */
export function pauses(within = Number.POSITIVE_INFINITY): Pause {
  let began = performance.now()
  const until = began + within
  return () => {
    const now = performance.now()
    if (now - began < TURN_MS || now >= until) return undefined
    return yieldToEventLoop().then(() => {
      began = performance.now()
    })
  }
}

/** Does all steps before anything else happens. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Does a few steps in one turn of the event loop, and lets other work run between the turns. */
export async function runCooperatively<Result>(
  steps: Steps<Result>,
  pause: Pause = pauses(),
): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    const paused = pause()
    if (paused) await paused
  }
}

/**
 * The same pieces, the first of which is there: what goes wrong before it is thrown here, while a reply can still be an error. Behind the
 * head of a reply the connection could only be cut.
 */
export async function begun<T>(source: AsyncGenerator<T, void>): Promise<AsyncGenerator<T, void>> {
  const first = await source.next()
  return (async function* () {
    try {
      if (first.done) return
      yield first.value
      yield* source
    } finally {
      // Where the reader stops early.
      await source.return()
    }
  })()
}

interface QueueBounds {
  /** How many pieces of work run at the same time. */
  readonly atOnce: number
  /** How many may wait for their turn; the next is refused with UNAVAILABLE. */
  readonly waiting: number
  /** Seconds after which a refused caller is told to come back. */
  readonly retryAfter: number
  /** What the refused caller reads. */
  readonly refusal: string
}

/** Runs a piece of work when it is its turn, first come first served. */
type BoundedQueue = <T>(work: () => Promise<T>) => Promise<T>

export function boundedQueue(bounds: QueueBounds): BoundedQueue {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running < bounds.atOnce) running += 1
    else if (waiting.length >= bounds.waiting)
      throw new QuoinError('UNAVAILABLE', bounds.refusal, {
        retryAfter: bounds.retryAfter,
      })
    // Who waited takes over the place of who finished, so `running` stays as it is.
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}

/** Work with the same key is done one after the other, in the order in which it was asked for, whether or not it fails. */
export function oneAtATime(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const next = (last.get(key) ?? Promise.resolve()).then(work, work)
    last.set(key, next)
    const over = () => {
      if (last.get(key) === next) last.delete(key)
    }
    next.then(over, over)
    return next
  }
}
