import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { stopSignal } from './run-start.ts'

test.each([
  { first: 'SIGTERM', second: 'SIGTERM', code: 143 },
  { first: 'SIGTERM', second: 'SIGINT', code: 130 },
  { first: 'SIGINT', second: 'SIGTERM', code: 143 },
] as const)('after $first, $second ends it at once with $code', async ({ first, second, code }) => {
  const source = new EventEmitter()
  const codes: number[] = []
  let now = 0
  const stopped = stopSignal(
    source,
    () => now,
    (input) => void codes.push(input),
  )
  source.emit(first)
  now += 99
  // The same signal, handed on by npm.
  source.emit(first)
  expect(await stopped).toBe(first)
  expect(codes).toEqual([])
  now += 1
  source.emit(second)
  expect(codes).toEqual([code])
})
