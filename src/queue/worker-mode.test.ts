import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nextMode } from '../shared/state-machine.ts'
import { backOff, type WorkerMode, workerTransitions } from './worker-mode.ts'

const modes: readonly WorkerMode[] = [
  'idle',
  'claiming',
  'claiming again',
  'draining',
  'handing back',
  'closed',
]

/** As far as the walk goes; a step that is not allowed is left out. */
function walked(steps: readonly WorkerMode[]): WorkerMode[] {
  const path: WorkerMode[] = ['idle']
  for (const to of steps) {
    try {
      path.push(nextMode('The queue worker', workerTransitions, path.at(-1) ?? 'idle', to))
    } catch {
      // Not allowed from there.
    }
  }
  return path
}

test('no walk claims after the worker began to drain, and each walk to the end hands back before', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...modes), { maxLength: 40 }), (steps) => {
      const path = walked(steps)
      const drains = path.indexOf('draining')
      if (drains >= 0) expect(path.slice(drains).join(' ')).not.toContain('claiming')
      if (path.includes('closed')) expect(path.slice(-2)).toEqual(['handing back', 'closed'])
    }),
  )
})

test('control: a table that lets a draining worker claim is found', () => {
  const wrong = { ...workerTransitions, draining: ['claiming'] } as const
  expect(nextMode('The queue worker', wrong, 'draining', 'claiming')).toBe('claiming')
  expect(() => nextMode('The queue worker', workerTransitions, 'draining', 'claiming')).toThrow(
    'The queue worker cannot go from draining to claiming.',
  )
})

const lowest = (bytes: Uint8Array) => void bytes.fill(0)
const highest = (bytes: Uint8Array) => void bytes.fill(255)

test.each([
  [0, 500, 1_000],
  [1, 500, 1_000],
  [2, 1_000, 2_000],
  [3, 2_000, 4_000],
  [12, 1_024_000, 2_048_000],
  [13, 1_800_000, 3_600_000],
  [100, 1_800_000, 3_600_000],
  [5_000, 1_800_000, 3_600_000],
])('after attempt %i it waits from %i to %i ms', (attempt, least, most) => {
  expect(backOff(attempt, lowest)).toBe(least)
  expect(backOff(attempt, highest)).toBe(most)
})

test.each([
  [1, 60_000, 60_000],
  [2, 60_000, 120_000],
  [7, 60_000, 3_600_000],
  [1, 86_400_000, 86_400_000],
  [9, 86_400_000, 86_400_000],
])(
  'after attempt %i with a back-off of %i ms it waits %i ms at most, and half of it at least',
  (attempt, first, most) => {
    expect(backOff(attempt, lowest, first)).toBe(most / 2)
    expect(backOff(attempt, highest, first)).toBe(most)
  },
)
