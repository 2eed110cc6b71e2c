import { vi } from 'vitest'

/** From now on each step in turns of the event loop takes a turn, however fast the machine is. `vi.restoreAllMocks` ends it. */
export function slowSteps(): void {
  let now = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 20
    return now
  })
}

/** How often other work had its turn of the event loop meanwhile. */
export async function turnsDuring(work: () => unknown): Promise<number> {
  let turns = 0
  let next: NodeJS.Immediate | undefined
  const look = () => {
    turns += 1
    next = setImmediate(look)
  }
  look()
  await work()
  clearImmediate(next)
  return turns
}
