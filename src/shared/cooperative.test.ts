import { expect, test } from 'vitest'
import { atOnce, pauses, runCooperatively, type Steps } from './cooperative.ts'

/** As long as a turn may take. */
function busy(): void {
  const began = performance.now()
  while (performance.now() - began < 11);
}

function* work(steps: number, seen: string[]): Steps<string> {
  for (let step = 1; step <= steps; step += 1) {
    busy()
    seen.push(`step ${step}`)
    yield
  }
  return 'done'
}

test('what others wait for goes on between steps that take long', async () => {
  const seen: string[] = []
  let other: NodeJS.Immediate | undefined
  const look = () => {
    seen.push('others')
    other = setImmediate(look)
  }
  look()
  const result = runCooperatively(work(3, seen))
  expect(await result).toBe('done')
  clearImmediate(other)
  for (const step of [1, 2]) {
    const between = seen.slice(seen.indexOf(`step ${step}`) + 1, seen.indexOf(`step ${step + 1}`))
    expect(between).toContain('others')
  }
})

test('at once nothing goes on between', () => {
  const seen: string[] = []
  expect(atOnce(work(2, seen))).toBe('done')
  expect(seen).toEqual(['step 1', 'step 2'])
})

test('what a step throws is thrown', async () => {
  function* bad(): Steps<never> {
    yield
    throw new Error('no')
  }
  expect(() => atOnce(bad())).toThrow('no')
  await expect(runCooperatively(bad())).rejects.toThrow('no')
})

test('a loop that waits at each step lets others run when its turn is over, until its time is up', async () => {
  let turns = 0
  let other: NodeJS.Immediate | undefined
  const look = () => {
    turns += 1
    other = setImmediate(look)
  }
  other = setImmediate(look)
  const work = async (pause: () => void | Promise<void>) => {
    const before = turns
    for (let step = 0; step < 3; step += 1) {
      busy()
      await pause()
    }
    return turns - before
  }
  expect(await work(pauses())).toBeGreaterThanOrEqual(3)
  expect(await work(pauses(0))).toBe(0)
  clearImmediate(other)
})
