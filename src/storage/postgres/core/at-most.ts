/** Does a few pieces of work at the same time, the others in the order in which they come. */
import { QuoinError } from '../../../shared/errors.ts'

export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

/** Work that waited for `milliseconds` is not done: UNAVAILABLE, with this message. */
export function atMost(atOnce: number, milliseconds: number, message: string): InTurn {
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

  return async (work) => {
    if (running < atOnce) running += 1
    // The work that ends hands its place over, so `running` stays as it is.
    else await turn()
    try {
      return await work()
    } finally {
      const [next] = waiting
      if (next) next()
      else running -= 1
    }
  }
}
