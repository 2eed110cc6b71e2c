import fc from 'fast-check'
import { expect, test } from 'vitest'
import { recentMemory } from './recent-memory.ts'

test('what is too large is not kept, and takes what had its key with it', () => {
  const memory = recentMemory<string>(100)
  memory.set('a', 'small', 10)
  memory.set('a', 'large', 51)
  expect(memory.get('a')).toBeUndefined()
})

test('what was used lately outlives what was not', () => {
  const memory = recentMemory<number>(20)
  memory.set('used', 0, 1)
  memory.set('unused', 0, 1)
  for (let number = 1; number <= 100; number++) {
    memory.set(`${number}`, number, 1)
    expect(memory.get('used')).toBe(0)
  }
  expect(memory.get('unused')).toBeUndefined()
  expect(memory.get('100')).toBe(100)
})

test('it gives what was set last or nothing, and never holds more than it may', () => {
  const command = fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    size: fc.integer({ min: 0, max: 9 }),
  })
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      const memory = recentMemory<number>(12)
      const reference = new Map<string, { value: number; size: number }>()
      for (const [value, { key, size }] of commands.entries()) {
        memory.set(key, value, size)
        reference.set(key, { value, size })
      }
      let held = 0
      for (const [key, { value, size }] of reference) {
        const found = memory.get(key)
        if (found === undefined) continue
        expect(found).toBe(value)
        held += size
      }
      expect(held).toBeLessThanOrEqual(12)
    }),
  )
})
