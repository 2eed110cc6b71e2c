import { expect, test } from 'vitest'
import { periodicTask } from './periodic-task.ts'

/** Looks that end when the test says so. */
function heldLooks() {
  const begun: { readonly isClosed: () => boolean; readonly end: (seen: number) => void }[] = []
  const look = (isClosed: () => boolean) =>
    new Promise<number>((end) => {
      begun.push({ isClosed, end })
    })
  return { begun, look }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a timer begins each look when the one before has ended', async () => {
  const { begun, look } = heldLooks()
  const repeated = periodicTask(() => 1, look)
  for (const count of [1, 2, 3]) {
    await expect.poll(() => begun.length).toBe(count)
    begun[count - 1]?.end(0)
  }
  await expect.poll(() => begun.length).toBe(4)
  begun[3]?.end(0)
  await repeated.close()
})

test('one that is asked for waits for the one under way, and gives what it has seen', async () => {
  const { begun, look } = heldLooks()
  const repeated = periodicTask(() => 60_000, look)
  const both = Promise.all([repeated.run(), repeated.run()])
  await turn()
  expect(begun.length).toBe(1)
  begun[0]?.end(7)
  await turn()
  expect(begun.length).toBe(2)
  begun[1]?.end(8)
  expect(await both).toEqual([7, 8])
  await repeated.close()
})

test('close tells the look under way, waits for it, and no further one begins', async () => {
  const { begun, look } = heldLooks()
  const repeated = periodicTask(() => 1, look)
  await expect.poll(() => begun.length).toBe(1)
  expect(begun[0]?.isClosed()).toBe(false)
  let closed = false
  const closing = repeated.close().then(() => {
    closed = true
  })
  await turn()
  expect([begun[0]?.isClosed(), closed]).toEqual([true, false])
  begun[0]?.end(0)
  await closing
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(begun.length).toBe(1)
})

test('close ends the timer before its first look', async () => {
  const { begun, look } = heldLooks()
  await periodicTask(() => 5, look).close()
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(begun.length).toBe(0)
})
