import { expect, test } from 'vitest'
import type { Timers } from '../../../shared/clock.ts'
import { rowTurns } from './row-turns.ts'

/** Timers that the test lets run out. */
function heldTimers() {
  const due: { readonly ms: number; readonly call: () => void }[] = []
  const after: Timers['after'] = (ms, call) => {
    const one = { ms, call }
    due.push(one)
    const end = () => void (due.includes(one) && due.splice(due.indexOf(one), 1))
    return { end, refresh: () => undefined, ref: () => undefined, unref: () => undefined }
  }
  return { after, due }
}

test('one session after the other has a row, in the order in which they came', async () => {
  const turns = rowTurns()
  const order: number[] = []
  const end = turns.take('a', 1_000)
  if (typeof end !== 'function') throw new TypeError('The row is free.')
  const others = [1, 2].map(async (number) => {
    const over = await turns.take('a', 1_000)
    order.push(number)
    over()
  })
  expect(typeof turns.take('b', 1_000)).toBe('function')
  expect(order).toEqual([])
  end()
  end()
  await Promise.all(others)
  expect(order).toEqual([1, 2])
})

test('a session that waited too long is refused and leaves the row to those behind it', async () => {
  const { after, due } = heldTimers()
  const turns = rowTurns({ after })
  const end = turns.take('a', 1_000)
  if (typeof end !== 'function') throw new TypeError('The row is free.')
  const second = Promise.resolve(turns.take('a', 700))
  const third = Promise.resolve(turns.take('a', 900))
  expect(due.map(({ ms }) => ms)).toEqual([700, 900])
  due.shift()?.call()
  await expect(second).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfter: 1 })
  end()
  const last = await third
  // Its wait is over, and so is its timer.
  expect(due).toEqual([])
  last()
  expect(turns.size).toBe(0)
})
