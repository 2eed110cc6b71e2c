import { EventEmitter } from 'node:events'
import { getHeapStatistics } from 'node:v8'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { giveBack, settleAfterStart, watchFaults } from './run-start.ts'

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

test('a failure that is handled nowhere is reported once a minute, and only an exception ends the process', async () => {
  const source = new EventEmitter()
  const said: string[] = []
  let now = 1_000_000
  const faults = watchFaults(
    source,
    () => now,
    (message) => said.push(message),
  )
  let isBroken = false
  void faults.broken.then(() => {
    isBroken = true
  })
  expect(faults.happened()).toBe(false)
  for (const error of [new Error('first'), 'second', undefined]) source.emit('unhandledRejection', error)
  now += 59_999
  source.emit('unhandledRejection', new Error('third'))
  expect(said).toEqual([
    expect.stringMatching(/^A failure was handled nowhere\. The process goes on\. .*Error: first\n +at /),
  ])
  expect([faults.happened(), isBroken]).toEqual([true, false])
  now += 1
  source.emit('unhandledRejection', 'x'.repeat(10_000))
  expect(said[1]).toMatch(/one of 4 errors since the last report.*: x{2000}$/)
  // Within the minute too.
  now += 1
  source.emit('uncaughtException', new TypeError('last'))
  await faults.broken
  expect(said.slice(2)).toEqual([
    expect.stringContaining('The process ends. Please report it: TypeError: last'),
  ])
})
