import { expect, it } from 'vitest'
import { shareOut } from './postgres-jobs-claim.ts'

it('what a claim may take is shared out to the queue with the fewest running, then to what waits longest', () => {
  const queue = (name: string, fixture: number, running = 0, since = 0) => ({
    name,
    room: fixture,
    running,
    since,
    limited: false,
  })
  expect(shareOut([queue('a', 9), queue('b', 1)], 4)).toEqual(['a', 'b', 'a', 'a'])
  expect(shareOut([queue('a', 9, 2), queue('b', 9)], 5)).toEqual(['b', 'b', 'a', 'b', 'a'])
  expect(shareOut([queue('late', 1, 0, 5), queue('early', 1, 0, 4)], 5)).toEqual(['early', 'late'])
  expect(shareOut([], 5)).toEqual([])
})
