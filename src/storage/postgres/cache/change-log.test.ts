import { expect, test } from 'vitest'
import { openChangeTracking } from './change-log.ts'

/** What was noted, and a way to want one thing a number of times. */
function fixture(answers: (() => Promise<boolean>)[]) {
  let passed = 0
  const recorded: string[] = []
  const errors: unknown[] = []
  const want = openChangeTracking({
    note(storage) {
      recorded.push(storage)
      return (answers.shift() ?? (async () => true))()
    },
    clocks: { monotonic: () => passed, wall: () => passed },
    report: (error) => errors.push(error),
  })
  return {
    noted: recorded,
    errors,
    pass(milliseconds: number) {
      passed += milliseconds
    },
    async want(storage: string, times: number, milliseconds?: number) {
      for (let time = 0; time < times; time++) want(storage, milliseconds)
      await new Promise(setImmediate)
    },
  }
}

test('nine times is not often, ten is', async () => {
  const { want, noted: recorded } = fixture([])
  await want('a', 9)
  await want('b', 9)
  expect(recorded).toEqual([])
  await want('b', 1)
  expect(recorded).toEqual(['b'])
})

test.each([
  [9, 10, []],
  [10, 9, ['a']],
  [1, 99, []],
  [1, 100, ['a']],
  [2, 50, ['a']],
])('%i times %i ms: %j are noted', async (times, milliseconds, expected) => {
  const { want, noted: recorded } = fixture([])
  await want('a', times, milliseconds)
  expect(recorded).toEqual(expected)
})

test.each([
  ['a long transaction was in the way', 10_000, async () => false, 0],
  [
    'the database refuses it',
    3_600_000,
    async () => {
      throw new Error('gone')
    },
    1,
  ],
])('where %s, it is tried again %i ms later and not before', async (_, pause, answer, errors) => {
  const all = fixture([answer])
  await all.want('a', 100)
  expect(all.noted).toEqual(['a'])
  expect(all.errors).toHaveLength(errors)
  all.pass(pause - 1)
  await all.want('a', 1)
  await all.want('b', 10)
  expect(all.noted).toEqual(['a'])
  all.pass(1)
  await all.want('a', 1)
  expect(all.noted).toEqual(['a', 'a'])
})

test('one storage at a time', async () => {
  let done: (isDone: boolean) => void = () => undefined
  const { want, noted: recorded } = fixture([() => new Promise((resolve) => (done = resolve))])
  await want('a', 10)
  await want('b', 20)
  expect(recorded).toEqual(['a'])
  done(true)
  await new Promise(setImmediate)
  await want('b', 1)
  expect(recorded).toEqual(['a', 'b'])
})
