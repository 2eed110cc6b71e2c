import { expect, test } from 'vitest'
import { oneAtATime } from './one-at-a-time.ts'

test('work with one key waits for the work before it, also when that fails, and for no other key', async () => {
  const alone = oneAtATime()
  const seen: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = alone('a', async () => {
    await gate.promise
    seen.push('first')
    throw new Error('as planned')
  })
  const second = alone('a', async () => {
    seen.push('second')
    return 2
  })
  expect(await alone('b', async () => 'b')).toBe('b')
  expect(seen).toEqual([])
  gate.resolve()
  await expect(first).rejects.toThrow('as planned')
  expect(await second).toBe(2)
  expect(seen).toEqual(['first', 'second'])
})
