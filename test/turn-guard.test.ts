import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guardTurns, LONGEST_TURN_MS, type TurnGuard } from './turn-guard.ts'

let guard: TurnGuard

beforeAll(() => {
  guard = guardTurns()
})
afterAll(() => guard.stop())

function busyFor(milliseconds: number): void {
  const end = process.threadCpuUsage()
  const used = () => {
    const { user, system } = process.threadCpuUsage(end)
    return (user + system) / 1_000
  }
  while (used() < milliseconds);
}

test('a busy loop of 80 ms is seen, in a turn of its own or in the one that asks', async () => {
  await guard.longest()
  busyFor(80)
  await sleep(5)
  expect(await guard.longest()).toBeGreaterThanOrEqual(75)
  busyFor(80)
  expect(await guard.longest()).toBeGreaterThanOrEqual(75)
})

test('the same work in slices of 10 ms is let pass, and so is waiting', async () => {
  await guard.longest()
  for (let slice = 0; slice < 8; slice++) {
    busyFor(10)
    await sleep(3)
  }
  await sleep(100)
  expect(await guard.longest()).toBeLessThan(LONGEST_TURN_MS)
})
