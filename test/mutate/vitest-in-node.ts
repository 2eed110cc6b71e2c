/** What scenarios take from Vitest, for a process that Node runs by itself: loaded in its place by swap-modules.ts. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect as original, vi as originalVi } from 'vitest'

/** Most milliseconds to wait for what should happen: under a change it usually never does. */
const LONGEST_WAIT = 4_000

function poll(look: () => unknown, { interval = 50 }: { readonly interval?: number } = {}) {
  const until = async (holds: (seen: unknown) => void): Promise<void> => {
    const end = performance.now() + LONGEST_WAIT
    for (;;) {
      try {
        return holds(await look())
      } catch (error) {
        if (performance.now() > end) throw error
      }
      await sleep(interval)
    }
  }
  return {
    toEqual: (expected: unknown) => until((seen) => original(seen).toEqual(expected)),
    toMatchObject: (expected: object) => until((seen) => original(seen).toMatchObject(expected)),
    toBe: (expected: unknown) => until((seen) => original(seen).toBe(expected)),
  }
}

export const expect = new Proxy(original, {
  get: (target, name) => (name === 'poll' ? poll : Reflect.get(target, name)),
})

export const inject = () => 'sqlite'

export const vi = originalVi
