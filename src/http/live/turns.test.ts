import { expect, test } from 'vitest'
import { openTurns } from './turns.ts'

test('tasks are done in their order, and one that throws keeps no other from it', async () => {
  const failed: unknown[] = []
  const turns = openTurns((error) => failed.push(error))
  const done: number[] = []
  turns.add(() => done.push(1))
  turns.add(() => {
    throw new Error('no')
  })
  turns.add(() => {
    done.push(2)
    turns.add(() => done.push(3))
  })
  expect(done).toEqual([])
  await expect.poll(() => done, { timeout: 30_000 }).toEqual([1, 2, 3])
  expect(failed).toHaveLength(1)
})

test('other work is done between many tasks', async () => {
  const turns = openTurns(() => undefined)
  let left = 20
  let turned = 0
  const slow = () => {
    const until = performance.now() + 5
    while (performance.now() < until);
    left -= 1
  }
  for (let at = 0; at < 20; at += 1) turns.add(slow)
  const other = () => {
    turned += 1
    if (left > 0) setImmediate(other)
  }
  setImmediate(other)
  await expect.poll(() => left, { timeout: 30_000 }).toBe(0)
  expect(turned).toBeGreaterThan(5)
})

test('what is not done when it closes is not done', async () => {
  const turns = openTurns(() => undefined)
  let done = false
  turns.add(() => {
    done = true
  })
  turns.close()
  await new Promise((resolve) => setImmediate(resolve))
  expect(done).toBe(false)
})
