import { QuoinError } from './errors.ts'

export interface QueueBounds {
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
export type BoundedQueue = <T>(work: () => Promise<T>) => Promise<T>

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
