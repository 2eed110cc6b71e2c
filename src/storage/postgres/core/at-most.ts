/** Does a few pieces of work at the same time, the others in the order in which they come. */
import { QuoinError } from '../../../shared/errors.ts'

export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

export interface Turns {
  /** Resolves when it is the caller's turn, with a function that ends it, to be called once. */
  take(): Promise<() => void>
  /** How many wait for theirs. */
  readonly waiting: number
}

/** Who waited for `milliseconds` gets no turn: UNAVAILABLE, with this message. */
export function turns(atOnce: number, milliseconds: number, message: string): Turns {
  let running = 0
  const waiting = new Set<() => void>()

  function turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        waiting.delete(begin)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.delete(begin)
        reject(new QuoinError('UNAVAILABLE', message, { retryAfter: 1 }))
      }, milliseconds)
      waiting.add(begin)
    })
  }

  function end(): void {
    const [next] = waiting
    // The one that ends hands its place over, so `running` stays as it is.
    if (next) next()
    else running -= 1
  }

  return {
    async take() {
      if (running < atOnce) running += 1
      else await turn()
      return end
    },
    get waiting() {
      return waiting.size
    },
  }
}

/** Work that waited for `milliseconds` is not done: UNAVAILABLE, with this message. */
export function atMost(atOnce: number, milliseconds: number, message: string): InTurn {
  const { take } = turns(atOnce, milliseconds, message)
  return async (work) => {
    const end = await take()
    try {
      return await work()
    } finally {
      end()
    }
  }
}
