import { isUnreached } from '../../storage/unreached.ts'
import { type Attempts, mayTryAgain } from '../outside-attempts.ts'

/**
 * The bytes of a file from `start` to `end`, both included. Where the store fails in between, the next attempt continues after the last
 * byte that came, so no byte is given twice. The attempts count for the whole file.
 */
export async function* readWithAttempts(
  attempts: Attempts,
  { start, end }: { readonly start: number; readonly end: number },
  read: (start: number, end: number) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  let next = start
  for (let done = 1; next <= end; done += 1) {
    try {
      for await (const piece of read(next, end)) {
        next += piece.length
        yield piece
      }
      return
    } catch (error) {
      if (!isUnreached(error) || !(await mayTryAgain(attempts, done))) throw error
    }
  }
}
