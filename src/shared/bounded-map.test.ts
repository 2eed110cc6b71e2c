import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boundedMap } from './bounded-map.ts'

test('what is too heavy is not kept, and takes what had its key with it', () => {
  const map = boundedMap<string, string>(100)
  map.set('a', 'small', 10)
  map.set('a', 'large', 101)
  expect(map.get('a')).toBeUndefined()
  expect(map.size).toBe(0)
})

test('asking whether a key is there is no use of it', () => {
  const map = boundedMap<string, number>(2)
  map.set('a', 1)
  map.set('b', 2)
  expect(map.has('a')).toBe(true)
  map.set('c', 3)
  expect([...map.keys()]).toEqual(['b', 'c'])
})

test('a key that was deleted and set once more is the newest', () => {
  const map = boundedMap<string, number>(2)
  map.set('a', 1)
  map.delete('a')
  map.set('b', 2)
  map.set('a', 3)
  map.get('b')
  map.set('c', 4)
  expect([...map.keys()]).toEqual(['b', 'c'])
})

/** The same in the slowest way: a list, the entry used last at the end. */
class Reference {
  #entries: { key: string; value: number; weight: number }[] = []
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  get(key: string): number | undefined {
    const found = this.#entries.find((entry) => entry.key === key)
    if (found) this.#entries = [...this.#entries.filter((entry) => entry !== found), found]
    return found?.value
  }

  set(key: string, value: number, weight: number): void {
    this.delete(key)
    if (weight <= this.#most) this.#entries.push({ key, value, weight })
    while (this.#entries.reduce((sum, entry) => sum + entry.weight, 0) > this.#most) this.#entries.shift()
  }

  delete(key: string): void {
    this.#entries = this.#entries.filter((entry) => entry.key !== key)
  }

  keys = () => this.#entries.map(({ key }) => key)
  values = () => this.#entries.map(({ value }) => value)
}

test('it holds what a list in the order of use holds', () => {
  const command = fc.record({
    kind: fc.constantFrom('get', 'set', 'set', 'delete', 'clear'),
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    weight: fc.integer({ min: 0, max: 14 }),
  })
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      const map = boundedMap<string, number>(12)
      let reference = new Reference(12)
      for (const [value, { kind, key, weight }] of commands.entries()) {
        if (kind === 'get') expect(map.get(key)).toBe(reference.get(key))
        else if (kind === 'set') {
          map.set(key, value, weight)
          reference.set(key, value, weight)
        } else if (kind === 'delete') {
          map.delete(key)
          reference.delete(key)
        } else {
          map.clear()
          reference = new Reference(12)
        }
        expect([...map.keys()]).toEqual(reference.keys())
        expect([...map.values()]).toEqual(reference.values())
        expect(map.size).toBe(reference.keys().length)
      }
    }),
  )
})
