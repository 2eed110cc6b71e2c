import { getHeapStatistics } from 'node:v8'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { giveBack, settleAfterStart } from './run-start.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('collects once, and not before the process has rested', () => {
  const loads = [0.9, 0.06, 0.01, 0]
  let collected = 0
  settleAfterStart({ load: () => loads.shift() ?? 0, collect: () => void collected++ })
  vi.advanceTimersByTime(14_999)
  expect(collected).toBe(0)
  vi.advanceTimersByTime(1)
  expect(collected).toBe(1)
  vi.advanceTimersByTime(60_000)
  expect(collected).toBe(1)
  expect(loads).toEqual([0])
})

test('called off, it never collects', () => {
  let collected = 0
  const off = settleAfterStart({ load: () => 0, collect: () => void collected++ })
  off()
  vi.advanceTimersByTime(60_000)
  expect(collected).toBe(0)
})

test('what V8 kept room for is given back, and no way to ask for that is left behind', () => {
  vi.useRealTimers()
  const MIB = 1024 * 1024
  const fixture = () => getHeapStatistics().total_heap_size
  let kept: unknown[] = []
  // Some 70 MiB, so that other suites of the process make no difference.
  while (kept.length < 2_000_000) kept.push({ number: kept.length })
  kept = []
  const before = fixture()
  giveBack()
  expect(fixture()).toBeLessThan(before - 8 * MIB)
  expect(kept).toEqual([])
  expect('gc' in globalThis).toBe(false)
})
