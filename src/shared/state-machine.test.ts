import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nextMode, type Transitions } from './state-machine.ts'

type Mode = 'shut' | 'open' | 'gone'
const transitions: Transitions<Mode> = { shut: ['open', 'gone'], open: ['shut'], gone: [] }
const modes: readonly Mode[] = ['shut', 'open', 'gone']

test('a step that the table allows gives the next mode', () => {
  expect(nextMode('The door', transitions, 'shut', 'open')).toBe('open')
})

test('any other is an error of the program that says which step it was', () => {
  expect(() => nextMode('The door', transitions, 'open', 'gone')).toThrow(
    expect.objectContaining({ code: 'INTERNAL', message: 'The door cannot go from open to gone.' }),
  )
})

test('no walk leaves the table, and staying is a step like any other', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...modes)), (walk) => {
      let mode: Mode = 'shut'
      for (const to of walk) {
        const isAllowed = transitions[mode].includes(to)
        const before: Mode = mode
        try {
          mode = nextMode('The door', transitions, mode, to)
        } catch {
          // The mode stays as it was.
        }
        expect(mode).toBe(isAllowed ? to : before)
      }
    }),
  )
})
