import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nextMode } from '../shared/state-machine.ts'
import { type WorkerMode, workerTransitions } from './worker-mode.ts'

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
