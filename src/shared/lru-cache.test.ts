import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lruCache } from './lru-cache.ts'

test('what is too heavy is not kept, and takes what had its key with it', () => {
  const map = lruCache<string, string>(100)
  map.set('a', 'small', 10)
  map.set('a', 'large', 101)
  expect(map.get('a')).toBeUndefined()
  expect(map.size).toBe(0)
})

test('asking whether a key is there is no use of it', () => {
  const map = lruCache<string, number>(2)
  map.set('a', 1)
  map.set('b', 2)
  expect(map.has('a')).toBe(true)
  map.set('c', 3)
  expect([...map.keys()]).toEqual(['b', 'c'])
})

test('a key that was deleted and set once more is the newest', () => {
  const map = lruCache<string, number>(2)
  map.set('a', 1)
  map.delete('a')
  map.set('b', 2)
  map.set('a', 3)
  map.get('b')
  map.set('c', 4)
  expect([...map.keys()]).toEqual(['b', 'c'])
})

test('a value that makes room is told of, and one that is deleted or replaced is not', () => {
  const evicted: string[] = []
  const map = lruCache<string, string>(10, { evicted: (value) => evicted.push(value) })
  for (const key of ['a', 'b', 'c', 'd']) map.set(key, key, 3)
  expect(evicted).toEqual(['a'])
  map.set('b', 'other', 3)
  map.delete('c')
  map.weigh('d', 11)
  expect([evicted, [...map.entries()]]).toEqual([['a', 'd'], [['b', 'other']]])
})

test('entries that make room while all are walked are walked no more than once, and the others all are', () => {
  const map = lruCache<number, number>(100)
  for (let key = 0; key < 10; key++) map.set(key, key, 10)
  const walked: number[] = []
  for (const [key] of map.entries()) {
    walked.push(key)
    map.weigh(key, 25)
  }
  expect(walked).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect([...map.keys()]).toEqual([6, 7, 8, 9])
})

/** The same in the slowest way: a list, the entry used last at the end. */
class Reference {
  #entries: { key: string; value: number; weight: number }[] = []
  readonly #most: number
  readonly #mostEntries: number

  constructor(most: number, mostEntries: number) {
    this.#most = most
    this.#mostEntries = mostEntries
  }

  get(key: string): number | undefined {
    const found = this.#entries.find((entry) => entry.key === key)
    if (found) this.#entries = [...this.#entries.filter((entry) => entry !== found), found]
    return found?.value
  }

  set(key: string, value: number, weight: number): void {
    this.delete(key)
    if (weight <= this.#most) this.#entries.push({ key, value, weight })
    this.#makeRoom()
  }

  weigh(key: string, weight: number): void {
    if (weight > this.#most) this.delete(key)
    for (const entry of this.#entries) if (entry.key === key) entry.weight = weight
    this.#makeRoom()
  }

  #makeRoom(): void {
    const weight = () => this.#entries.reduce((sum, entry) => sum + entry.weight, 0)
    while (weight() > this.#most || this.#entries.length > this.#mostEntries) this.#entries.shift()
  }

  delete(key: string): void {
    this.#entries = this.#entries.filter((entry) => entry.key !== key)
  }

  keys = () => this.#entries.map(({ key }) => key)
  values = () => this.#entries.map(({ value }) => value)
}

test('it holds what a list in the order of use holds', () => {
  const command = fc.record({
    kind: fc.constantFrom('get', 'set', 'set', 'weigh', 'delete', 'clear'),
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    weight: fc.integer({ min: 0, max: 14 }),
  })
  fc.assert(
    fc.property(
      fc.array(command, { minLength: 20, maxLength: 60 }),
      fc.integer({ min: 1, max: 6 }),
      (commands, entries) => {
        const map = lruCache<string, number>(12, { entries })
        let reference = new Reference(12, entries)
        for (const [value, { kind, key, weight }] of commands.entries()) {
          if (kind === 'get') expect(map.get(key)).toBe(reference.get(key))
          else if (kind === 'set') {
            map.set(key, value, weight)
            reference.set(key, value, weight)
          } else if (kind === 'weigh') {
            map.weigh(key, weight)
            reference.weigh(key, weight)
          } else if (kind === 'delete') {
            map.delete(key)
            reference.delete(key)
          } else {
            map.clear()
            reference = new Reference(12, entries)
          }
          expect([...map.keys()]).toEqual(reference.keys())
          expect([...map.values()]).toEqual(reference.values())
          expect(map.size).toBe(reference.keys().length)
        }
      },
    ),
    { numRuns: 300 },
  )
})
